"""What both sides are given of a text: its words, the candidates of each, the most swaps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unfooled.space import Space
from unfooled.text import Example, Text, is_word

UNKNOWN_WORD = "ʬʬʬ"
"""Stands for an unknown word in the texts that the peer builds: one word to both, in no vocabulary."""

DIGITS = 9
"""Probabilities are float64, rounded to so many decimals, on both sides.

Words that a model cannot tell apart then have equal scores, whatever shared their batch, and ties
are ties for both.
"""


@dataclass(frozen=True)
class Case:
    """A text that both sides attack.

    `words` leaves punctuation out, as TextAttack does; `candidates` has an entry for every one of them.
    """

    id: str
    source: str
    label: int
    words: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]
    most: int

    @classmethod
    def of(cls, example: Example, space: Space, *, rate: float | None) -> Case:
        """A case with the candidates that are one word to everybody; without a rate no limit."""
        text = example.text
        found = dict(zip(space.positions, space.candidates, strict=True))
        places = word_positions(text)
        most = len(places) if rate is None else max(1, math.floor(rate * len(places) + 1e-9))
        return cls(
            example.id,
            str(text),
            example.label,
            tuple(text.words[p] for p in places),
            tuple(plain(found.get(p, ())) for p in places),
            most,
        )

    def space(self) -> Space:
        """Our space of it: every word has a column, also one without candidates."""
        text = Text.parse(self.source)
        places = word_positions(text)
        given = {p: c for p, c in zip(places, self.candidates, strict=True) if c}
        return Space(text, given).open(places)

    def columns(self, space: Space) -> list[int]:
        """The column of each word."""
        return [space.positions.index(p) for p in word_positions(space.original)]

    def message(self) -> dict[str, Any]:
        """It as JSON values."""
        return asdict(self)


def word_positions(text: Text) -> list[int]:
    """The positions of the words that are not punctuation."""
    return [i for i, word in enumerate(text.words) if is_word(word)]


def plain(candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates of ASCII letters alone, sorted: one word to both sides, in TextAttack's order."""
    return tuple(sorted({c for c in candidates if c.isascii() and c.isalpha()}))


def cases(
    examples: Sequence[Example], spaces: Sequence[Space], *, rate: float | None
) -> list[Case]:
    """The cases of a data set."""
    return [Case.of(e, s, rate=rate) for e, s in zip(examples, spaces, strict=True)]
