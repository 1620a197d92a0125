"""Random small word models and spaces, and what naive forwards say about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from unfooled.evidence import margins
from unfooled.models import ModelConfig, Vocabulary, WordModel, build
from unfooled.space import Space
from unfooled.text import Source, Text
from unfooled.victims.base import Part
from unfooled.victims.words import WordVictim

ARCHITECTURES = ("mlp", "dan", "cnn", "cnn-msr", "lstm", "bilstm")
BOUNDED = (*ARCHITECTURES, "transformer", "transformer-gelu")
KNOWN = [f"w{chr(97 + i)}" for i in range(24)]
STRANGE = ["xq", "xr", "xs"]  # in no vocabulary: one and the same to the model


def victim(
    arch: str,
    *,
    seed: int = 0,
    pair: bool = False,
    classes: int = 3,
    max_words: int = 12,
    layers: int = 1,
) -> WordVictim:
    """A small network with random weights, large enough that swaps matter."""
    vocabulary = Vocabulary(KNOWN)
    config = ModelConfig(
        arch.removesuffix("-gelu"),
        len(vocabulary),
        classes,
        dimensions=4,
        units=5,
        pair=pair,
        max_words=max_words,
        heads=2 if arch.startswith("transformer") else 1,
        activation="gelu" if arch.endswith("-gelu") else "relu",
        layers=layers,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build(config).eval().requires_grad_(False)
        for weight in network.parameters():
            weight.mul_(2.0)
    model = WordModel(network, vocabulary, tuple(f"c{i}" for i in range(classes)), config)
    return WordVictim(model, name=arch, fingerprint=f"{arch}-{seed}")


def space(*, seed: int, words: int, columns: int, candidates: int, pair: bool = False) -> Space:
    """A text of words known and unknown, some with candidates that the model takes for one."""
    rng = np.random.default_rng(seed)
    pool = KNOWN + STRANGE
    body = " ".join(rng.choice(pool, words).tolist())
    source: Source = (" ".join(rng.choice(pool, 5).tolist()), body) if pair else body
    places = rng.permutation(words)[:columns]
    found = {
        int(p): rng.choice(pool, int(rng.integers(1, candidates + 1))).tolist() for p in places
    }
    return Space(Text.parse(source), found)


@dataclass
class Naive:
    """All members with exactly so many swaps, forwarded one by one."""

    rows: np.ndarray
    scores: np.ndarray

    def margins(self, label: int) -> np.ndarray:
        return margins(self.scores, label)

    def at(self, row: np.ndarray, label: int) -> float:
        (index,) = np.flatnonzero((self.rows == row).all(axis=1))
        return float(self.margins(label)[index])


def naive(model: WordVictim, members: Space, swaps: int) -> Naive:
    """What the engine's own way to the network says."""
    rows = np.concatenate(list(members.enumerate(swaps)))
    rows = rows[np.count_nonzero(rows, axis=1) == swaps]
    if not len(rows):
        return Naive(rows, np.empty((0, len(model.labels))))
    return Naive(rows, model.submit([Part(model.prepare(members), rows)])())
