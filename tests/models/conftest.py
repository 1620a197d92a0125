"""Tiny data sets and vectors that every test of this folder may use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from toy_models import BAD, FILLER, GOOD, pairs, sentences

from unfooled.data import Dataset


@pytest.fixture(scope="session")
def toy() -> Dataset:
    return sentences(240, seed=1)


@pytest.fixture(scope="session")
def toy_test() -> Dataset:
    return sentences(60, seed=2)


@pytest.fixture(scope="session")
def toy_pairs() -> Dataset:
    return pairs(200, seed=3)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of word vectors: the toy words, and `superb`, which no toy text contains."""
    folder = tmp_path_factory.mktemp("vectors")
    words = (*FILLER, *GOOD, *BAD, "superb")
    array = np.random.default_rng(0).normal(size=(len(words), 6)).astype(np.float32)
    array[words.index("superb")] = array[words.index("great")] + 0.01
    np.save(folder / "vectors.npy", array)
    (folder / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return folder
