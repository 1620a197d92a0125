"""The runs behind the MSR paper's tables 7 and 8: Monte Carlo tree search, one swap and several."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

import unfooled as uf
from unfooled import candidates
from unfooled.lexicon import vectors
from unfooled.space import Space
from unfooled.text import Example, Text, is_word

SOURCE: Final = "embedding:k=200,metric=euclidean,min_similarity=-1|pos:noun_to_adjective=true"
VECTORS: Final = "glove-50"
LENGTHS: Final = {"mr": 25, "ag_news": 49, "imdb": 100}  # words considered, the paper's table 1
DEPTHS: Final = (2, 3, 4)
DRAWS: Final = 3  # of several words of each text
_SEED = 0
SIMULATIONS, EXPANSIONS = 50, 6  # of each vertex, and vertices, with several swaps
_SEVERAL: Final = {
    "simulations": SIMULATIONS,
    "expansions": EXPANSIONS,
    "vectors": VECTORS,
    "keep": 0,
}
_SINGLE: Final = {"substitutions": "single", "vectors": VECTORS, "keep": 10_000}


def plans() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The name of each run, how many words it may touch (None: any), and its options."""
    yield "single", {"columns": None, "options": _SINGLE}
    for depth in DEPTHS:
        options = {**_SEVERAL, "depth": depth, "max_swaps": depth}
        yield f"within-{depth}", {"columns": None, "options": options}
        yield f"words-{depth}", {"columns": depth, "options": options}


class Given(NamedTuple):
    """Texts and what may replace their words."""

    examples: list[Example]
    spaces: list[Space]


@dataclass(frozen=True)
class Neighbourhoods:
    """The texts of a cell, cut to the length that the paper considers, with the neighbours of their words."""

    examples: Sequence[Example]
    data: str

    def of(self, columns: int | None) -> Given:
        """Every text; or, for a number of columns, each text several times with only so many random words."""
        source, most = candidates.load(SOURCE), LENGTHS[self.data]
        cut = [Example(shortened(e.text, most), e.label, e.id) for e in self.examples]
        spaces = [Space(e.text, source(e.text)) for e in cut]
        if columns is None:
            return Given(cut, spaces)
        found = Given([], [])
        rng = np.random.default_rng(_SEED + columns)
        for example, space in zip(cut, spaces, strict=True):
            for draw in range(DRAWS):
                found.examples.append(Example(example.text, example.label, f"{example.id}#{draw}"))
                found.spaces.append(restricted(space, columns, rng=rng))
        return found

    def figures(self, outcomes: uf.Outcomes, given: Given) -> dict[str, Any]:
        """What the tables need beside the summary."""
        if any(o.others for o in outcomes) or "#" not in given.examples[0].id:
            return closest(outcomes)
        return {}


def shortened(text: Text, most: int) -> Text:
    """The first words of a text."""
    if len(text) <= most:
        return text
    return Text(text.words[:most], (*text.gaps[:most], ""))


def restricted(space: Space, columns: int, *, rng: np.random.Generator) -> Space:
    """The space in which only so many random words of the text may be swapped."""
    words = [p for p, word in enumerate(space.original.words) if is_word(word)]
    chosen = set(rng.permutation(words)[:columns].tolist())
    pairs = zip(space.positions, space.candidates, strict=True)
    return Space(space.original, {p: found for p, found in pairs if p in chosen})


def closest(outcomes: Sequence[uf.Outcome]) -> dict[str, Any]:
    """The words of which one swap fools the victim, as a share of all, and how far the closest are.

    Distances are Euclidean in word vectors of which every dimension has the range 1, as in the paper.
    """
    known, words = Distances(VECTORS), 0
    nearest: list[float] = []
    for outcome in outcomes:
        words += sum(map(is_word, outcome.original.words))
        first = [outcome.changes] if outcome.status == "success" else []
        single = [c[0] for c in (*first, *outcome.others) if len(c) == 1]
        for _, same in itertools.groupby(sorted(single), key=lambda change: change[0]):
            nearest.append(min(known(old, new) for _, old, new in same))
    apart = [value for value in nearest if math.isfinite(value)]
    return {
        "swappable_words": len(nearest) / words if words else None,
        "distance_mean": float(np.mean(apart)) if apart else None,
        "distance_deviation": float(np.std(apart)) if apart else None,
    }


class Distances:
    """How far two words are from each other, each dimension scaled to the range 1."""

    def __init__(self, name: str) -> None:
        self._known = vectors.load(name)
        self._range = np.ptp(self._known.matrix, axis=0).astype(np.float64)

    def __call__(self, one: str, other: str) -> float:
        """The distance; infinite where a word has no vector."""
        rows = [self._known.index.get(word.lower()) for word in (one, other)]
        if None in rows:
            return math.inf
        a, b = (self._known.matrix[row].astype(np.float64) for row in rows)
        return float(np.linalg.norm((a - b) / self._range))
