"""Figures of the ILP paper from brackets: accuracy under attack and mean minimum word swaps.

Where a text is undecided, both are intervals that hold whatever the truth about it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unfooled.evidence import Bracket, Claim


class Interval(NamedTuple):
    """The true figure is between these two; equal: it is known."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the figure is known."""
        return self.low == self.high


NOTHING = Bracket(0, None, Claim("unknown", ""), Claim("unknown", ""))
"""What is known of a text on which a method or the victim failed."""


def accuracy_under_attack(
    brackets: Sequence[Bracket | None], radius: float = math.inf
) -> Interval | None:
    """The share of all texts that no text within `radius` swaps fools; None: there are no texts.

    None among the brackets is a text that is misclassified as it is: broken from the start.
    """
    if not brackets:
        return None
    kept = sum(b is not None and (b.lower > radius or b.lower == math.inf) for b in brackets)
    broken = sum(b is None or fooled_within(b, radius) for b in brackets)
    return Interval(kept / len(brackets), (len(brackets) - broken) / len(brackets))


def mean_minimum_swaps(brackets: Sequence[Bracket], most: Sequence[float]) -> Interval | None:
    """MMWS: the mean of m over the texts that have an adversarial example at all.

    `most` is the number of words of each text that can be swapped, infinite if not known. A text that is neither broken
    nor proved as a whole may have an example or none, with m anywhere from its lower bound to
    `most`: the ends of the interval are the least and the greatest mean over all such cases. None:
    no text is broken.
    """
    broken = [b for b in brackets if fooled_within(b, math.inf)]
    if not broken:
        return None
    undecided = [
        (max(b.lower, 1), n) for b, n in zip(brackets, most, strict=True) if b.upper is None
    ]
    uppers = [b.upper for b in broken if b.upper is not None]
    return Interval(
        -_highest([-max(b.lower, 1) for b in broken], (-low for low, _ in undecided)),
        _highest(uppers, (high for _, high in undecided)),
    )


def proved_whole(brackets: Sequence[Bracket]) -> Interval | None:
    """The share of correctly classified texts that no number of swaps fools; None: no such text."""
    if not brackets:
        return None
    proved = sum(b.lower == math.inf for b in brackets)
    undecided = sum(b.upper is None for b in brackets)
    return Interval(proved / len(brackets), (proved + undecided) / len(brackets))


def fooled_within(bracket: Bracket, radius: float) -> bool:
    """Whether a text with at most `radius` swaps is known to fool the victim."""
    upper = bracket.upper
    return upper is not None and upper != math.inf and upper <= radius


def _highest(certain: Sequence[float], optional: Iterable[float]) -> float:
    """The greatest mean of all certain values and any of the optional ones."""
    total, count = sum(certain), len(certain)
    for value in sorted(optional, reverse=True):
        if value * count <= total:
            break
        total, count = total + value, count + 1
    return total / count
