"""Report: one HTML page that says what a run proved, attacked and estimated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unfooled import manifest
from unfooled.errors import InputError

if TYPE_CHECKING:
    from unfooled.companions import Encodes
    from unfooled.data import Dataset
    from unfooled.lexicon.vectors import Vectors

__all__ = ["NAME", "write"]

NAME = "report.html"


def write(
    runs: Sequence[Path | str],
    out: Path | str | None = None,
    *,
    train: Dataset | None = None,
    vectors: str | Vectors = "glove-50",
    encoder: Encodes | None = None,
) -> Path:
    """The path of a self-contained page about these audits, or these attacks; several are compared.

    Without `out` the page goes into the folder of a single run, and into the current folder when
    there are several. A folder as `out` receives `report.html`. The same runs give the same bytes.
    Of attacks: with the data the victim was trained on, the page compares the words that were
    swapped, by these word vectors too; with a sentence encoder, the texts.
    """
    if isinstance(runs, str | os.PathLike) or not runs:
        raise InputError(f"runs is a list of run folders, such as ['runs/audit'], not {runs!r}")
    folders = [Path(folder) for folder in runs]
    loaded = {folder: manifest.load(folder) for folder in folders}
    for folder, found in loaded.items():
        if "certifier" in found["options"]:
            name = found["method"]
            raise InputError(
                f"{folder} is a run of the certifier {name}, and a report is about audits or attacks: "
                f"unfooled audit ... --certifiers {name} makes the same proofs and a report"
            )
    kinds = {found["method"] == "audit" for found in loaded.values()}
    if len(kinds) > 1:
        raise InputError("a page is about audits or about attacks: give one kind of run at a time")
    # jinja2 and matplotlib take half a second, which a caller with a wrong argument need not wait.
    if kinds == {True}:
        if train is not None or encoder is not None:
            raise InputError("training data and an encoder are for runs of attacks, not for audits")
        from unfooled import auditing
        from unfooled.report import audits

        html = audits.page([audits.Run(f.resolve(), *auditing.read(f)) for f in folders])
    else:
        from unfooled.report import attacks

        more: dict[str, Any] = {"train": train, "vectors": vectors, "encoder": encoder}
        html = attacks.page([attacks.read(folder, **more) for folder in folders])
    path = _target(folders, out)
    # A lone surrogate, which JSON can spell, has no UTF-8: it is shown as the escape it came from.
    content = html.encode("utf-8", "backslashreplace")
    temporary = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write the report to {path}: {error.strerror}") from error
    return path


def _target(runs: Sequence[Path], out: Path | str | None) -> Path:
    if out is None:
        return (runs[0] if len(runs) == 1 else Path()) / NAME
    path = Path(out)
    return path / NAME if path.is_dir() else path
