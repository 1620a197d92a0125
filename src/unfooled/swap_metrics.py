"""Accuracy under attack and mean minimum word swaps, as intervals where texts are undecided.

AUA divides by all texts, misclassified ones counting as broken; limited to r swaps, a text counts as
broken only if at most r swaps fool. MMWS averages the least fooling swaps of the correctly classified
texts that have an adversarial example; the share that has none stands beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol


class Bounded(Protocol):
    """A text with bounds of its least fooling swaps."""

    @property
    def status(self) -> str: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float | None: ...
    @property
    def seconds(self) -> float: ...


class Interval(NamedTuple):
    """From the least to the most that a figure can be."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the figure is known."""
        return self.low == self.high


def accuracy_under_attack(results: Sequence[Bounded], radius: float = math.inf) -> Interval | None:
    """The share of all texts that no attack with at most `radius` swaps can break; None: no texts."""
    if not results:
        return None
    held = [r for r in results if r.status not in ("skipped", "error")]
    sure = sum(r.lower > radius or r.lower == math.inf for r in held)
    broken = sum(r.upper is not None and r.upper <= radius and r.upper != math.inf for r in held)
    errors = sum(r.status == "error" for r in results)
    return Interval(sure / len(results), (len(held) - broken + errors) / len(results))


def mean_minimum_swaps(results: Iterable[Bounded]) -> Interval | None:
    """The mean of the least fooling swaps over texts that can be broken; None: none is known to be.

    A text that may turn out robust would leave the mean, and one that is not broken may need any
    number: then the upper end is infinite. The lower end takes those texts in that lower the mean.
    """
    held = [r for r in results if r.status in ("optimal", "bracketed")]
    sure = [r for r in held if r.upper is not None]
    maybe = sorted(max(r.lower, 1) for r in held if r.upper is None)
    if not sure:
        return None
    total, count = sum(max(r.lower, 1) for r in sure), len(sure)
    for low in maybe:
        if low * count < total:
            total, count = total + low, count + 1
    high = math.inf if maybe else sum(r.upper or 0 for r in sure) / len(sure)
    return Interval(total / count, high)


def robust_share(results: Iterable[Bounded]) -> Interval | None:
    """The share of correctly classified texts that have no adversarial example; None: no such text."""
    held = [r for r in results if r.status in ("optimal", "robust", "bracketed")]
    if not held:
        return None
    robust = sum(r.status == "robust" for r in held)
    unbroken = sum(r.upper is None for r in held)
    return Interval(robust / len(held), (robust + unbroken) / len(held))


def summary(results: Sequence[Bounded], *, radii: Sequence[int] = (1, 2, 3, 4)) -> dict[str, Any]:
    """All figures of a run: statuses, AUA whole and limited, MMWS, robust share, times."""
    counts = Counter(r.status for r in results)
    solved = sorted(r.seconds for r in results if r.status not in ("skipped", "error"))
    swaps = Counter(int(r.upper or 0) for r in results if r.status == "optimal")
    return {
        "texts": len(results),
        **{name: counts[name] for name in ("optimal", "robust", "bracketed", "skipped", "error")},
        "aua": accuracy_under_attack(results),
        "aua_within": {r: accuracy_under_attack(results, r) for r in radii},
        "mmws": mean_minimum_swaps(results),
        "robust_share": robust_share(results),
        "swaps": dict(sorted(swaps.items())),
        "median_s": _quantile(solved, 0.5),
        "p90_s": _quantile(solved, 0.9),
        "max_s": _quantile(solved, 1.0),
    }


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share does not exceed."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
