"""The Universal Sentence Encoder (Cer et al. 2018; Yang et al. 2019, multilingual v3).

Its arithmetic is written once, for numpy and, on another device than the CPU, for torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.companions import Encodes, Floats
from unfooled.errors import InputError, MissingExtra
from unfooled.fingerprints import path_fingerprint

_BRANCHES = {2: (0, 1), 3: (1, 1), 5: (2, 2)}  # words seen together: how many before and after
_AT_ONCE, _FAR = 64, 4096  # texts of one length in one pass: with numpy, with torch

Array = Any  # of numpy or of torch, whose arrays know the same operators


class _Calls(NamedTuple):
    """What numpy and torch call by other names or in other ways."""

    array: Callable[[Any], Array]
    join: Callable[[Sequence[Array]], Array]  # along the last axis
    pad: Callable[[Array, tuple[int, int]], Array]  # zeros before and after the middle axis
    sqrt: Callable[[Array], Array]
    tanh: Callable[[Array], Array]
    relu: Callable[[Array], Array]
    numpy: Callable[[Array], NDArray[np.float32]]


def _with_numpy() -> _Calls:
    return _Calls(
        np.asarray,
        lambda parts: np.concatenate(parts, axis=-1),
        lambda x, reach: np.pad(x, ((0, 0), reach, (0, 0))),
        np.sqrt,
        np.tanh,
        lambda x: np.maximum(x, np.float32(0)),
        np.asarray,
    )


def _with_torch(device: str) -> _Calls:
    try:
        import torch
    except ImportError as error:
        raise MissingExtra(f"the Universal Sentence Encoder on {device}", "torch") from error
    from unfooled.devices import usable

    place = usable(device)
    return _Calls(
        lambda values: torch.as_tensor(values, device=place),
        lambda parts: torch.cat(list(parts), dim=-1),
        lambda x, reach: torch.nn.functional.pad(x, (0, 0, *reach)),
        torch.sqrt,
        torch.tanh,
        torch.relu,
        lambda x: x.cpu().numpy(),
    )


class UniversalEncoder(Encodes):
    """Averaged token vectors with convolutions over 2, 3 and 5 tokens; 512 numbers of length 1.

    Differs from the papers: TextFooler and its followers used the English encoders, large/3 and 4;
    this is the multilingual one, with token vectors of six bits each.
    """

    def __init__(
        self,
        weights: Mapping[str, Any],
        pieces: Any,
        *,
        name: str,
        fingerprint: str,
        device: str | None = None,
    ) -> None:
        self.name, self._fingerprint, self._pieces = name, fingerprint, pieces
        near = device in (None, "cpu")
        self._calls = _with_numpy() if near or device is None else _with_torch(device)
        self._at_once, self.batch_rows = (_AT_ONCE, 256) if near else (_FAR, _FAR)
        blocks = [weights[f"q{i + 1}"] for i in range(len(weights["scale"]))]
        table = np.empty((len(blocks) * len(blocks[0]), blocks[0].shape[1]), dtype=np.uint8)
        for i, block in enumerate(blocks):  # token t is row t // blocks of block t % blocks
            table[i :: len(blocks)] = block
        array, join = self._calls.array, self._calls.join
        self._table = array(table)
        self._w = {key: array(weights[key]) for key in weights if not key.startswith("q")}
        self._eps = float(weights["eps"])
        self._first = [
            join([self._w[f"{part}{n}"] for n in _BRANCHES])
            for part in ("proj", "proj_b", "ln_g", "ln_b")
        ]

    @classmethod
    def load(cls, folder: Path | str, *, device: str | None = None) -> UniversalEncoder:
        """The encoder in the folder of the asset `use`; on another device than the CPU it needs torch."""
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
        found = path_fingerprint(folder)
        return cls(weights, pieces, name="use", fingerprint=found, device=device)

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
            for start in range(0, len(chosen), self._at_once):
                few = chosen[start : start + self._at_once]
                ids = self._calls.array(np.array([tokens[i] for i in few]))
                out[few] = self._calls.numpy(self._forward(ids))
        return out

    def _forward(self, ids: Array) -> Array:
        """(n, 512) vectors of (n, tokens) ids."""
        w, calls, length = self._w, self._calls, float(ids.shape[1])
        block = ids % len(w["scale"])
        embedded = self._table[ids] * w["scale"][block][..., None] + w["lo"][block][..., None]
        project, bias, gain, shift = self._first
        branches = self._normalised(embedded @ project + bias, gain, shift)
        features = [embedded]
        width = branches.shape[2] // len(_BRANCHES)
        for i, n in enumerate(_BRANCHES):
            branch = branches[..., i * width : (i + 1) * width]
            once = self._convolved(branch, w[f"w1_{n}"], w[f"b1_{n}"], reach=_BRANCHES[n])
            features.append(self._convolved(once, w[f"w2_{n}"], w[f"b2_{n}"], reach=_BRANCHES[n]))
        every = self._normalised(calls.join(features), w["ln_g"], w["ln_b"])
        mean = (every.sum(axis=1) @ w["cnn_W"] + length * w["cnn_b"]) / length**0.5
        low = calls.relu(mean @ w["p1"] + calls.relu(mean @ w["d0"]) @ w["d1"])
        high = calls.tanh(low @ w["p3"] + calls.relu(low @ w["d2"]) @ w["d3"])
        norm = calls.sqrt((high * high).sum(axis=1, keepdims=True))
        return high / norm.clip(self._eps, None)

    def _normalised(self, x: Array, gain: Array, shift: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = self._calls.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._eps)
        return centred / spread * gain + shift

    def _convolved(self, x: Array, kernel: Array, bias: Array, *, reach: tuple[int, int]) -> Array:
        """Each token (n, tokens, d) with what its neighbours add; beyond the ends there is nothing."""
        wide = self._calls.pad(x, reach)
        shifted = [wide[:, i : i + x.shape[1]] for i in range(sum(reach) + 1)]
        return x + self._calls.relu(self._calls.join(shifted) @ kernel + bias)
