"""Word vectors: read them from the usual files, compare words, find neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from unfooled.errors import InputError
from unfooled.lexicon.resources import locate
from unfooled.lexicon.vector_files import read_binary, read_text

Floats = npt.NDArray[np.float32]
Metric = Literal["cosine", "euclidean"]

_CHUNK = 256  # rows of one product: 256 x 50,000 float32 are 50 MB


class Neighbour(NamedTuple):
    """A word near another, with its cosine (greater is nearer) or distance (less is nearer)."""

    word: str
    value: float


@dataclass(frozen=True, eq=False)
class Vectors:
    """One row of `matrix` per word, most frequent word first as such files are written."""

    words: tuple[str, ...]
    matrix: Floats  # (word, dimension), may be memory-mapped
    _units: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise InputError(
                f"{len(self.words)} words need a matrix of as many rows, "
                f"not one of shape {self.matrix.shape}"
            )

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word, which is also its rank by frequency."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def unit(self, word: str) -> npt.NDArray[np.float64] | None:
        """The vector of a word with length one; of a phrase the mean of its words; None: unknown."""
        found = self._units.get(word)
        if found is None:
            rows = [self.index.get(part) for part in ([word] if word in self else word.split())]
            known = [row for row in rows if row is not None]
            if not known or len(known) < len(rows):
                return None
            vector = self.matrix[known].astype(np.float64).mean(axis=0)
            length = float(np.sqrt((vector * vector).sum()))
            found = self._units[word] = vector / length if length > 0 else vector
        return found

    def cosine(self, one: str, other: str) -> float | None:
        """The cosine between two words, or None where one has no vector."""
        a, b = self.unit(one), self.unit(other)
        # Not a matrix product: its rounding depends on what it is batched with.
        return None if a is None or b is None else float((a * b).sum())

    def nearest(
        self,
        words: Sequence[str],
        k: int,
        *,
        metric: Metric = "cosine",
        limit: int | None = None,
    ) -> list[tuple[Neighbour, ...]]:
        """For each word its k nearest others, nearest first, ties by word; none for unknown words.

        `limit` looks only among that many most frequent words. A product in float32 makes a
        shortlist; the order comes from float64, so the answer does not depend on the batch.
        """
        if metric not in get_args(Metric):
            raise InputError(f"metric is 'cosine' or 'euclidean', not {metric!r}")
        if k < 1:
            raise InputError(f"k is at least 1, not {k}")
        table = self._table(metric, limit)
        answers: list[tuple[Neighbour, ...]] = [()] * len(words)
        known = [(place, self.index[w]) for place, w in enumerate(words) if w in self.index]
        for start in range(0, len(known), _CHUNK):
            chunk = known[start : start + _CHUNK]
            rows = [row for _, row in chunk]
            scores = self._rows(rows, metric) @ table.rows.T - table.offset
            for (place, row), line in zip(chunk, scores, strict=True):
                answers[place] = self._ranked(row, k, scores=line, metric=metric)
        return answers

    def _ranked(self, row: int, k: int, *, scores: Floats, metric: Metric) -> tuple[Neighbour, ...]:
        want = min(k + 1, len(scores))  # one more: the word itself is its own neighbour
        least = np.partition(scores, -want)[-want]
        # The rounding of the product, generously: its terms are as long as the word's own vector.
        scale = 1.0 if metric == "cosine" else float(np.square(self.matrix[row]).sum())
        slack = 1e-5 * (1 + scale)
        short = [int(i) for i in np.flatnonzero(scores >= least - slack) if i != row]
        measure = _cosines if metric == "cosine" else _distances
        values = measure(self.matrix[row], self.matrix[short])
        sign = -1 if metric == "cosine" else 1
        found = [Neighbour(self.words[i], float(v)) for i, v in zip(short, values, strict=True)]
        # Equal in theory is equal here, whatever the last bits say.
        return tuple(sorted(found, key=lambda n: (round(sign * n.value, 12), n.word))[:k])

    def _rows(self, rows: list[int], metric: Metric) -> Floats:
        chosen = np.asarray(self.matrix[rows], dtype=np.float32)
        return _normalised(chosen) if metric == "cosine" else chosen

    def _table(self, metric: Metric, limit: int | None) -> _Table:
        key = (metric, limit)
        if key not in self._tables:
            rows = np.asarray(self.matrix[:limit], dtype=np.float32)
            if metric == "cosine":
                self._tables[key] = _Table(_normalised(rows), np.zeros(1, dtype=np.float32))
            else:  # |a - b|^2 falls as a.b - |b|^2 / 2 rises
                self._tables[key] = _Table(rows, np.square(rows).sum(axis=1) / 2)
        return self._tables[key]

    @cached_property
    def _tables(self) -> dict[tuple[Metric, int | None], _Table]:
        return {}


class _Table(NamedTuple):
    rows: Floats
    offset: Floats


@lru_cache(maxsize=4)
def load(name: str = "glove-50") -> Vectors:
    """The vectors of that asset name, folder or file; loaded once."""
    return read(locate(name))


def read(path: Path) -> Vectors:
    """Vectors from a folder or `.npy` (`words.txt` beside it), GloVe or word2vec text, or `.bin`."""
    if path.is_dir():
        path = path / "vectors.npy"
    if not path.is_file():
        raise InputError(f"there are no vectors at {path}")
    if path.suffix == ".npy":
        return Vectors(_word_list(path.with_name("words.txt")), _matrix(path))
    words, matrix = read_binary(path) if path.suffix == ".bin" else read_text(path)
    first = {
        word: row for row, word in reversed(tuple(enumerate(words)))
    }  # some files have doubles
    if len(first) == len(words):
        return Vectors(words, matrix)
    rows = sorted(first.values())
    return Vectors(tuple(words[row] for row in rows), matrix[rows])


def _matrix(path: Path) -> Floats:
    try:
        matrix: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a numpy array: {error}") from error
    if matrix.dtype != np.float32:
        raise InputError(
            f"{path} holds {matrix.dtype}, not float32; save it with .astype('float32')"
        )
    return matrix


def _word_list(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise InputError(f"the vectors need their words, one a line, in {path}")
    # Not splitlines(): vocabularies contain characters that it takes for line ends.
    text = path.read_bytes().decode("utf-8")
    return tuple(text.removesuffix("\n").split("\n"))


def _normalised(rows: Floats) -> Floats:
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1)), dtype=np.float32)


def _cosines(vector: Floats, others: Floats) -> npt.NDArray[np.float64]:
    a, b = vector.astype(np.float64), others.astype(np.float64)
    lengths = np.sqrt((a * a).sum()) * np.sqrt((b * b).sum(axis=1))
    return np.asarray((a * b).sum(axis=1) / np.where(lengths > 0, lengths, 1.0))


def _distances(vector: Floats, others: Floats) -> npt.NDArray[np.float64]:
    gap = others.astype(np.float64) - vector.astype(np.float64)
    return np.asarray(np.sqrt((gap * gap).sum(axis=1)))
