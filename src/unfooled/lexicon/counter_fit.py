"""Counter-fitting: word vectors with antonyms pushed apart and synonyms drawn together.

Mrkšić et al. 2016. Distance is one minus the cosine. The objective has three parts: antonyms are
at least `delta` apart, synonyms at most `gamma`, and words that were within `rho` of each other
do not move farther apart.

Differs from the paper: it speaks of stochastic gradient descent; as in the authors' code, an epoch
is one step on all pairs, and a word moves by a mean over its violated pairs rather than their sum.
`batches` divides the pairs of an epoch at random instead.
Differs from the authors: the mean is taken in each of the three parts. In vectors of 50 numbers a
common word has hundreds of neighbours within `rho`, and a mean over all pairs lets none of its few
antonyms count (`good` and `bad` stayed at a cosine of 0.76). Both words of a preserved pair are
held, where a slip in their code leaves out the second. Words that none of this concerns stay in
the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unfooled.assets.progress import Told
from unfooled.errors import InputError
from unfooled.lexicon.constraints import Constraints, Pair
from unfooled.lexicon.vectors import Vectors

Reals = npt.NDArray[np.floating[Any]]
Rows = npt.NDArray[np.int64]

_CHUNK = 1 << 18  # pairs at once: 2^18 x 50 float32 are 50 MB
_BLOCK = 512  # rows of one product when looking for neighbours


@dataclass(frozen=True)
class CounterFit:
    """How strongly vectors are fitted; the paper's values."""

    repel: float = 0.1  # weight of antonyms, k1
    attract: float = 0.1  # weight of synonyms, k2
    preserve: float = 0.1  # weight of the original neighbours, k3
    delta: float = 1.0  # least distance of antonyms
    gamma: float = 0.0  # greatest distance of synonyms
    rho: float = 0.2  # how near an original neighbour is
    epochs: int = 20
    batches: int = 1  # parts of an epoch, each a step
    vocabulary: int = 50_000  # most frequent words that take part, besides those in constraints
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batches"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is at least 1, not {getattr(self, name)}")
        if not 0 <= self.rho < 1:
            raise InputError(f"rho is at least 0 and less than 1, not {self.rho:g}")


@dataclass(frozen=True, eq=False)
class Terms:
    """Pairs of rows and what is asked of each: sign x (distance - limit) should not exceed 0."""

    first: Rows
    second: Rows
    sign: npt.NDArray[np.float32]  # 1: no farther than the limit; -1: no nearer
    limit: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, which: Rows) -> Terms:
        """Some of the pairs."""
        return Terms(
            self.first[which],
            self.second[which],
            self.sign[which],
            self.limit[which],
            self.weight[which],
        )


class Slope(NamedTuple):
    """The objective, its gradient at unit rows, and how many violated pairs each row is in."""

    loss: float
    gradient: Reals  # (row, dimension)
    violated: npt.NDArray[np.int64]  # (row,)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The new vectors, all of length one, and the objective before each epoch and at the end."""

    vectors: Vectors
    losses: tuple[float, ...]
    pairs: dict[str, int]  # antonyms, synonyms, preserved


def fit(
    vectors: Vectors,
    constraints: Constraints,
    *,
    options: CounterFit | None = None,
    told: Told = lambda _stage, _share: None,
) -> Fitted:
    """The vectors fitted to the constraints; `told` hears what is being done and how far it is.

    Words outside the most frequent ones and the constraints keep their direction.
    """
    options = options or CounterFit()
    whole = normalised(np.asarray(vectors.matrix, dtype=np.float32))
    usable = constraints.within(vectors.index)
    rows = _taking_part(vectors, usable, options.vocabulary)
    matrix = whole[rows]
    index = {vectors.words[row]: number for number, row in enumerate(rows)}
    parts = _parts(matrix, usable, options=options, index=index, told=told)
    rng = np.random.default_rng(options.seed)
    losses = []
    for epoch in range(options.epochs):
        loss = 0.0
        for batch in _batches(parts, options.batches, rng=rng):
            slopes = [objective(matrix, terms) for terms in batch]
            loss += sum(slope.loss for slope in slopes)
            matrix = stepped(matrix, slopes)
        losses.append(loss)
        told("epochs", (epoch + 1) / options.epochs)
    whole[rows] = matrix
    final = sum(objective(matrix, terms).loss for terms in parts)
    counts = dict(zip(("antonyms", "synonyms", "preserved"), map(len, parts), strict=True))
    return Fitted(Vectors(vectors.words, whole), (*losses, final), counts)


def objective(matrix: Reals, terms: Terms) -> Slope:
    """The weighted sum of violations and its gradient; the rows of the matrix have length one."""
    from scipy.sparse import coo_array

    size, loss = len(matrix), 0.0
    pulls: list[tuple[Rows, Rows, Reals, Reals]] = []
    for start in range(0, len(terms), _CHUNK):
        part = slice(start, start + _CHUNK)
        one, two = terms.first[part], terms.second[part]
        cosines = np.einsum("pd,pd->p", matrix[one], matrix[two])
        excess = terms.sign[part] * (1 - cosines - terms.limit[part])
        bad = np.flatnonzero(excess > 0)
        pull = (terms.weight[part] * terms.sign[part])[bad].astype(matrix.dtype)
        loss += float((terms.weight[part][bad] * excess[bad]).sum(dtype=np.float64))
        pulls.append((one[bad], two[bad], pull, pull * cosines[bad]))
    if not pulls:
        return Slope(0.0, np.zeros_like(matrix), np.zeros(size, dtype=np.int64))
    one, two, pull, along = (np.concatenate(column) for column in zip(*pulls, strict=True))
    ends, others = np.concatenate([one, two]), np.concatenate([two, one])
    weights = coo_array((np.tile(pull, 2), (ends, others)), shape=(size, size)).tocsr()
    own = np.bincount(ends, weights=np.tile(along, 2), minlength=size).astype(matrix.dtype)
    # d(1 - cos(u, w)) / du = cos(u, w) u - w on the unit sphere, for every pair of u at once
    gradient = own[:, None] * matrix - weights @ matrix
    return Slope(loss, gradient, np.bincount(ends, minlength=size))


def stepped(matrix: Reals, slopes: Sequence[Slope]) -> Reals:
    """The rows after one step, of length one again; a row in no violated pair stays as it is.

    Each part of the objective moves a row by the mean of what the row's violated pairs ask for.
    """
    move = np.zeros_like(matrix)
    for slope in slopes:
        move -= slope.gradient / np.maximum(slope.violated, 1)[:, None].astype(matrix.dtype)
    moved = np.any([slope.violated > 0 for slope in slopes], axis=0)
    new = matrix.copy()
    new[moved] = normalised(matrix[moved] + move[moved])
    return new


def neighbours(
    matrix: Reals, rho: float, *, told: Told = lambda _stage, _share: None
) -> tuple[Rows, Rows, Reals]:
    """All pairs of unit rows within a distance, each once, and their distances."""
    none = np.zeros(0, dtype=np.int64)
    found: list[tuple[Rows, Rows, Reals]] = [(none, none, np.zeros(0, dtype=matrix.dtype))]
    for start in range(0, len(matrix), _BLOCK):
        block = matrix[start : start + _BLOCK]
        # From the block on only: the pairs before it were found there. A little more than asked
        # for, because products round differently by their shape; the exact test follows.
        near = block @ matrix[start:].T >= 1 - rho - 1e-4
        one, two = (ends + start for ends in np.nonzero(near))
        one, two = one[one < two], two[one < two]
        distance = 1 - np.einsum("pd,pd->p", matrix[one], matrix[two])
        kept = distance <= rho
        found.append((one[kept], two[kept], distance[kept]))
        told("neighbours", min(1.0, (start + _BLOCK) / len(matrix)))
    one, two, distance = (np.concatenate(column) for column in zip(*found, strict=True))
    return one, two, distance


def normalised(rows: Reals) -> Reals:
    """The rows with length one; a row of zeros stays."""
    lengths = np.sqrt(np.einsum("rd,rd->r", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, 1)[:, None].astype(rows.dtype))


def _taking_part(vectors: Vectors, constraints: Constraints, frequent: int) -> Rows:
    named = {word for pair in constraints.synonyms | constraints.antonyms for word in pair}
    chosen = np.zeros(len(vectors), dtype=bool)
    chosen[:frequent] = True
    chosen[[vectors.index[word] for word in named]] = True
    return np.flatnonzero(chosen)


def _parts(
    matrix: Reals,
    constraints: Constraints,
    *,
    options: CounterFit,
    index: dict[str, int],
    told: Told,
) -> tuple[Terms, Terms, Terms]:
    """The three parts of the objective: antonyms, synonyms, original neighbours."""
    apart = _pair_rows(constraints.antonyms, index)
    near = _pair_rows(constraints.synonyms, index)
    one, two, distance = neighbours(
        matrix, options.rho if options.preserve > 0 else -1.0, told=told
    )
    # Antonyms are often neighbours: what is to be pushed apart is not held.
    held = ~np.isin(one * len(matrix) + two, apart[:, 0] * len(matrix) + apart[:, 1])
    kept = np.stack([one[held], two[held]], axis=1)
    return (
        _terms(apart, np.full(len(apart), options.delta), sign=-1, weight=options.repel),
        _terms(near, np.full(len(near), options.gamma), sign=1, weight=options.attract),
        _terms(kept, distance[held], sign=1, weight=options.preserve),
    )


def _terms(pairs: Rows, limits: Reals, *, sign: int, weight: float) -> Terms:
    same = np.ones(len(pairs), dtype=np.float32)
    return Terms(
        pairs[:, 0], pairs[:, 1], sign * same, limits.astype(np.float32), np.float32(weight) * same
    )


def _batches(
    parts: Sequence[Terms], count: int, *, rng: np.random.Generator
) -> list[Sequence[Terms]]:
    if count == 1:
        return [parts]
    split = [np.array_split(rng.permutation(len(terms)), count) for terms in parts]
    return [
        [terms.take(which[i]) for terms, which in zip(parts, split, strict=True)]
        for i in range(count)
    ]


def _pair_rows(pairs: frozenset[Pair], index: dict[str, int]) -> Rows:
    rows = sorted(tuple(sorted((index[a], index[b]))) for a, b in pairs)
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
