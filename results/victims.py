"""The victims and data sets of the experiments: models trained on first use, files that a user has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch

import unfooled as uf

FILES: Final = {"ag_news": "UNFOOLED_AG_NEWS", "yelp": "UNFOOLED_YELP"}
"""Data sets that are no assets, and the environment variable with the path of each: a CSV, JSON lines or
Parquet file with columns text, label and split (train, dev, test)."""

ARCHITECTURES: Final = {
    "minilm": "hf",
    "minilm-brief": "hf",
}  # where the name of a model is not that of its architecture
_AT_ONCE = 256


def spec(data: str) -> str | None:
    """What to load the data set by: an asset's name, or the user's file; None: there is no such file."""
    if data not in FILES:
        return data
    path = os.environ.get(FILES[data])
    return None if path is None or not Path(path).is_file() else path


def load(data: str, **how: object) -> uf.data.Dataset:
    """The data set of that name; an error says which variable is to hold the path of its file."""
    found = spec(data)
    if found is None:
        raise SystemExit(
            f"{data} is no asset: set {FILES[data]} to the path of a file with columns "
            "text, label and split, or leave its cells out"
        )
    return uf.data.load(found, **{"split": "test", **how})  # type: ignore[arg-type]


def trained(
    model: str, data: str, *, training: Mapping[str, int] | None = None, device: str = "cpu"
) -> uf.Victim:
    """The model of that name for the data set, trained if it is not there.

    It is kept in `models/`, or in the folder in UNFOOLED_MODELS. `training`: what differs from the
    defaults; `limit` is how many texts it is trained on. It is trained and runs on the `device`.
    """
    given = dict(training or {})
    limit = given.pop("limit", None)
    name = f"{model}-{data}" if limit is None else f"{model}-{data}-{limit}"
    folder = Path(os.environ.get("UNFOOLED_MODELS", "models")) / name
    if not (folder / "config.json").exists():
        uf.models.train(
            ARCHITECTURES.get(model, model),
            load(data, split="train", limit=limit),
            out=folder,
            dev=load(data, split="dev"),
            device=device,
            **given,
        )
    return uf.load(str(folder), device=device)


def correct(victim: uf.Victim, test: uf.data.Dataset) -> np.ndarray:
    """Whether the victim gives each text its label."""
    parts = [test[i : i + _AT_ONCE] for i in range(0, len(test), _AT_ONCE)]
    scores = np.concatenate([victim.scores([e.text.source for e in part]) for part in parts])
    return np.asarray(scores.argmax(axis=1) == [e.label for e in test])


def device_name(device: str) -> str:
    """What figures were made on."""
    return "cpu" if device == "cpu" else torch.cuda.get_device_name(torch.device(device))
