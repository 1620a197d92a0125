"""WordModel: a network with its vocabulary and labels, saved as a folder without pickles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as as_bytes
from torch import Tensor

from unfooled.errors import InputError
from unfooled.models import folder as folders
from unfooled.models.config import ModelConfig
from unfooled.models.fit import forked
from unfooled.models.folder import CONFIG, FORMAT, WEIGHTS
from unfooled.models.networks import Network, build
from unfooled.models.vocabulary import Vocabulary

VOCABULARY = "vocabulary.txt"


@dataclass(frozen=True)
class WordModel:
    """A trained word model: everything needed to score a text."""

    network: Network
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    config: ModelConfig

    def __post_init__(self) -> None:
        if len(self.labels) != self.config.classes:
            raise InputError(
                f"the model has {self.config.classes} classes but {len(self.labels)} labels"
            )
        if len(self.vocabulary) != self.config.entries:
            raise InputError(
                f"the vocabulary has {len(self.vocabulary)} entries, the model expects "
                f"{self.config.entries}"
            )


def save(
    model: WordModel, folder: Path | str, *, training: Mapping[str, Any] | None = None
) -> Path:
    """Writes config.json, model.safetensors and vocabulary.txt; returns the folder.

    Whole or not at all; an older model in the same place is replaced, other files are not.
    `training` (seed, options, accuracy) is kept in config.json for people to read.
    """
    folder = Path(folder)
    with folders.replaced(folder) as new:
        weights = {name: part.contiguous() for name, part in model.network.state_dict().items()}
        # Not save_file(): it makes files that only their owner can read.
        (new / WEIGHTS).write_bytes(as_bytes(weights))
        model.vocabulary.save(new / VOCABULARY)
        config = {
            "unfooled": FORMAT,
            "labels": list(model.labels),
            "model": model.config.as_dict(),
            "training": dict(training or {}),
        }
        folders.write_json(new / CONFIG, config)
    return folder


def load(folder: Path | str) -> WordModel:
    """The word model in a folder written by `save`, ready to score (in evaluation mode)."""
    folder = Path(folder)
    if not folder.exists():
        raise InputError(f"no model at {folder}: the folder does not exist")
    folders.refuse_pickle(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; a word model is a folder written by `train`")
    if folders.kind(folder) == "hf":
        raise InputError(f"{folder} is a Hugging Face model: load it with `load_encoder`")
    for name in (CONFIG, WEIGHTS, VOCABULARY):
        if not (folder / name).is_file():
            raise InputError(f"{folder} is not a whole word model: {name} is missing")
    config, labels = _read_config(folder / CONFIG)
    vocabulary = Vocabulary.load(folder / VOCABULARY)
    with forked(0):  # fresh weights are overwritten, but drawing them would move the global state
        network = build(config)
    network.load_state_dict(_read_weights(folder / WEIGHTS, network))
    return WordModel(network.eval().requires_grad_(False), vocabulary, labels, config)


def _read_config(path: Path) -> tuple[ModelConfig, tuple[str, ...]]:
    values = folders.read_json(path)
    if values.get("unfooled") != FORMAT:
        raise InputError(
            f"{path} is not the config of a word model of format {FORMAT} "
            f"(its `unfooled` field is {values.get('unfooled')!r})"
        )
    labels, sizes = values.get("labels"), values.get("model")
    if not (isinstance(labels, list) and all(isinstance(label, str) for label in labels)):
        raise InputError(f"{path}: `labels` should be a list of names, not {labels!r:.60}")
    if not isinstance(sizes, dict):
        raise InputError(f"{path}: `model` should be an object, not {sizes!r:.60}")
    try:
        return ModelConfig.from_dict(sizes), tuple(labels)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _read_weights(path: Path, network: Network) -> dict[str, Tensor]:
    try:
        weights: dict[str, Tensor] = load_file(path)
    except SafetensorError as error:
        raise InputError(f"{path} is not a safetensors file: {error}") from error
    expected = {name: tuple(part.shape) for name, part in network.state_dict().items()}
    found = {name: tuple(part.shape) for name, part in weights.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise InputError(
                f"{path} does not fit config.json: {name} should have the shape "
                f"{expected.get(name, 'none (it is not part of this network)')}, "
                f"the file has {found.get(name, 'no such weights')}"
            )
    return weights
