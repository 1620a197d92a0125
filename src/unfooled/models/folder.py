"""Model folders: which ones are ours, and writing one whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from unfooled.errors import InputError

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
MARKER = "unfooled.json"  # beside the files of a Hugging Face folder that we trained
FORMAT = 1

_PICKLES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}


def kind(folder: Path | str) -> Literal["word", "hf"] | None:
    """`word` for a folder written by `save`, `hf` for any Hugging Face folder, else None."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        return None
    try:
        config = read_json(folder / CONFIG)
    except InputError:
        return None
    if "unfooled" in config:
        return "word"
    return "hf" if "model_type" in config or "architectures" in config else None


def check_target(folder: Path) -> None:
    """Refuses a place that holds something else than a model trained by us."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; a model is saved as a folder: give another name")
    ours = kind(folder) == "word" or (folder / MARKER).is_file()
    if not ours and any(folder.iterdir()):
        raise InputError(
            f"{folder} holds other files and is not a model trained by unfooled, so it is not "
            "overwritten: give another folder or remove it first"
        )


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `folder` if nothing fails.

    Written beside its target and renamed, so a reader sees the old model, the new one or, for
    a moment, none, never a mixture.
    """
    check_target(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        new, old = scratch / "new", scratch / "old"
        new.mkdir()
        yield new
        check_target(folder)  # it may have been filled meanwhile
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        shutil.rmtree(scratch)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        values = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} should hold a JSON object, not {type(values).__name__}")
    return values


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Writes an object as readable JSON."""
    text = json.dumps(values, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def refuse_pickle(path: Path) -> None:
    """Refuses a pickled model, or a folder that has one in place of safetensors weights."""
    pickles = [path] if path.is_file() else sorted(path.iterdir())
    pickles = [file for file in pickles if file.suffix.lower() in _PICKLES]
    if pickles and not (path / WEIGHTS).is_file():
        raise InputError(
            f"{pickles[0]} is a pickle, which can run code when it is loaded, so it is refused: "
            "load it where you trust it and save the weights with safetensors.torch.save_file"
        )
