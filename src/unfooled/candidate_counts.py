"""How many candidates the words of texts have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unfooled.space import Space
from unfooled.text import is_word


@dataclass(frozen=True, slots=True)
class CandidateCounts:
    """The words of some texts (punctuation is none), those that have candidates, and the candidates."""

    words: int = 0
    swappable: int = 0
    candidates: int = 0

    @classmethod
    def of(cls, space: Space) -> CandidateCounts:
        """Those of one space."""
        words = sum(map(is_word, space.original.words))
        return cls(words, sum(count > 0 for count in space.counts), sum(space.counts))

    @classmethod
    def total(cls, counts: Iterable[CandidateCounts]) -> CandidateCounts:
        """Those of several texts together."""
        every = list(counts)
        return cls(
            sum(c.words for c in every),
            sum(c.swappable for c in every),
            sum(c.candidates for c in every),
        )

    @property
    def per_word(self) -> float | None:
        """The mean over all words; None: there are none."""
        return self.candidates / self.words if self.words else None

    @property
    def per_swappable_word(self) -> float | None:
        """The mean over the words that have any; None: there are none."""
        return self.candidates / self.swappable if self.swappable else None
