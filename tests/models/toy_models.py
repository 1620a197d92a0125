"""Tiny data sets and networks that the tests of this folder are made of."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from unfooled.data import Dataset
from unfooled.models import Vocabulary, WordModel, build
from unfooled.models.config import ModelConfig
from unfooled.text import Example, Text

GOOD = ("good", "fine", "lovely", "great")
BAD = ("bad", "poor", "awful", "dull")
FILLER = ("a", "the", "film", "plot", "story", "quite", "very", "indeed")


def toy_set(
    examples: Iterable[Example], labels: tuple[str, ...] = ("negative", "positive")
) -> Dataset:
    return Dataset("toy", tuple(examples), labels)


def sentences(count: int, seed: int) -> Dataset:
    """Filler with one telling word: a model that reads words gets all of them right."""
    rng = np.random.default_rng(seed)
    examples = []
    for number in range(count):
        label = number % 2
        words = list(rng.choice(FILLER, size=rng.integers(1, 7)))
        words.insert(int(rng.integers(len(words) + 1)), str(rng.choice((BAD, GOOD)[label])))
        examples.append(Example(Text.parse(" ".join(words)), label, f"toy-{number}"))
    return toy_set(examples)


def pairs(count: int, seed: int) -> Dataset:
    """Two telling words, one a side: the label says whether they agree."""
    rng = np.random.default_rng(seed)
    examples = []
    for number in range(count):
        label, first = number % 2, int(rng.integers(2))
        second = first if label else 1 - first
        texts = [f"the film is {rng.choice((BAD, GOOD)[side])}" for side in (first, second)]
        examples.append(Example(Text.pair(*texts), label, f"pair-{number}"))
    return toy_set(examples, ("differ", "agree"))


def tiny_config(arch: str, *, pair: bool = False, entries: int = 12) -> ModelConfig:
    return ModelConfig(arch, entries, 3, dimensions=5, units=4, pair=pair, max_words=9, dropout=0.5)


def tiny_model(arch: str, *, pair: bool = False) -> WordModel:
    """A small network with random weights that are the same in every test."""
    vocabulary = Vocabulary([*GOOD, *BAD, "film", "plot"])
    config = tiny_config(arch, pair=pair, entries=len(vocabulary))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        network = build(config).eval()
    return WordModel(network, vocabulary, ("a", "b", "c"), config)
