"""The Universal Sentence Encoder (Cer et al. 2018; Yang et al. 2019, multilingual v3) in numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unfooled.companions import Encodes, Floats
from unfooled.errors import InputError, MissingExtra
from unfooled.fingerprints import path_fingerprint

_BRANCHES = {2: (0, 1), 3: (1, 1), 5: (2, 2)}  # words seen together: how many before and after
_AT_ONCE = 64  # texts of one length in one pass

Array = NDArray[np.float32]


class UniversalEncoder(Encodes):
    """Averaged token vectors with convolutions over 2, 3 and 5 tokens; 512 numbers of length 1.

    Differs from the papers: TextFooler and its followers used the English encoders, large/3 and 4;
    this is the multilingual one, with token vectors of six bits each.
    """

    batch_rows = 256

    def __init__(
        self, weights: Mapping[str, Any], pieces: Any, *, name: str, fingerprint: str
    ) -> None:
        self.name, self._fingerprint, self._pieces = name, fingerprint, pieces
        blocks = [weights[f"q{i + 1}"] for i in range(len(weights["scale"]))]
        self._table = np.empty((len(blocks) * len(blocks[0]), blocks[0].shape[1]), dtype=np.uint8)
        for i, block in enumerate(blocks):  # token t is row t // blocks of block t % blocks
            self._table[i :: len(blocks)] = block
        self._w = {key: weights[key] for key in weights if not key.startswith("q")}
        self._eps = np.float32(self._w["eps"])
        self._first = [
            np.concatenate([self._w[f"{part}{n}"] for n in _BRANCHES], axis=-1)
            for part in ("proj", "proj_b", "ln_g", "ln_b")
        ]

    @classmethod
    def load(cls, folder: Path | str) -> UniversalEncoder:
        """The encoder in the folder of the asset `use`."""
        try:
            from sentencepiece import SentencePieceProcessor
        except ImportError as error:
            raise MissingExtra("the Universal Sentence Encoder", "use") from error
        folder = Path(folder)
        files = folder / "weights.npz", folder / "sp.model"
        if not all(file.is_file() for file in files):
            raise InputError(f"{folder} has no Universal Sentence Encoder: weights.npz, sp.model")
        with np.load(files[0], allow_pickle=False) as archive:
            weights = {key: archive[key] for key in archive.files}
        pieces = SentencePieceProcessor(model_file=str(files[1]))
        return cls(weights, pieces, name="use", fingerprint=path_fingerprint(folder))

    @property
    def fingerprint(self) -> str | None:
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> Floats:
        """By groups of one length, so that nothing is padded."""
        tokens = self._pieces.encode(list(texts), out_type=int, add_bos=True, add_eos=True)
        out = np.empty((len(texts), self._w["p3"].shape[1]), dtype=np.float32)
        by_length: dict[int, list[int]] = {}
        for i, ids in enumerate(tokens):
            by_length.setdefault(len(ids), []).append(i)
        for chosen in by_length.values():
            for start in range(0, len(chosen), _AT_ONCE):
                few = chosen[start : start + _AT_ONCE]
                out[few] = self._forward(np.array([tokens[i] for i in few]))
        return out

    def _forward(self, ids: NDArray[np.int64]) -> Array:
        """(n, 512) vectors of (n, tokens) ids."""
        w, length = self._w, np.float32(ids.shape[1])
        block = ids % len(w["scale"])
        embedded = self._table[ids] * w["scale"][block][..., None] + w["lo"][block][..., None]
        project, bias, gain, shift = self._first
        branches = self._normalised(embedded @ project + bias, gain, shift)
        features = [embedded]
        for n, branch in zip(_BRANCHES, np.split(branches, len(_BRANCHES), axis=2), strict=True):
            once = _convolved(branch, w[f"w1_{n}"], w[f"b1_{n}"], reach=_BRANCHES[n])
            features.append(_convolved(once, w[f"w2_{n}"], w[f"b2_{n}"], reach=_BRANCHES[n]))
        every = self._normalised(np.concatenate(features, axis=2), w["ln_g"], w["ln_b"])
        mean = (every.sum(axis=1) @ w["cnn_W"] + length * w["cnn_b"]) / np.sqrt(length)
        low = _relu(mean @ w["p1"] + _relu(mean @ w["d0"]) @ w["d1"])
        high = np.tanh(low @ w["p3"] + _relu(low @ w["d2"]) @ w["d3"])
        found: Array = high / np.maximum(np.linalg.norm(high, axis=1, keepdims=True), self._eps)
        return found

    def _normalised(self, x: Array, gain: Array, shift: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._eps)
        found: Array = centred / spread * gain + shift
        return found


def _relu(x: Array) -> Array:
    return np.maximum(x, np.float32(0))


def _convolved(x: Array, kernel: Array, bias: Array, *, reach: tuple[int, int]) -> Array:
    """Each token (n, tokens, d) with what its neighbours add; beyond the ends there is nothing."""
    before, after = reach
    wide = np.pad(x, ((0, 0), reach, (0, 0)))
    shifted = [wide[:, i : i + x.shape[1]] for i in range(before + after + 1)]
    found: Array = x + _relu(np.concatenate(shifted, axis=2) @ kernel + bias)
    return found
