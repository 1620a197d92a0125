"""Counts where both sides have the same bound, who is tighter, and who is above a value that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.bounds_peer.cases import FAMILIES, Floats

NEAR = 1e-9
"""Of the larger of 1 and the number: closer ones are equal, and a bound less far above a value is none."""

_RELU = frozenset({"mlp", "dan", "convolution"})
SAME_RULE = {"intervals": frozenset(FAMILIES), "crown-ibp": _RELU}
"""The families of which all draw the same lines on the same intervals, so that bounds must be equal.

Lines on other curves and above a maximum, and the intervals that `crown` draws lines on, are chosen in
other ways by each; sound they must be.
"""


@dataclass(frozen=True)
class Tally:
    """How our bounds of a family by a method compare with those of a peer."""

    family: str
    method: str
    peer: str
    cases: int  # that the peer bounded
    refused: int  # that it raised an error for
    equal: int  # bounds, of which a case has one for each ordered pair of classes
    ours: int  # are higher, which is tighter
    theirs: int
    typical: float  # median difference of those that are not equal
    ahead: float  # ours, at most
    behind: float  # theirs, at most
    above_ours: int  # are above a value that was found in the box: unsound
    above_theirs: int

    @property
    def bounds(self) -> int:
        """All that were compared."""
        return self.equal + self.ours + self.theirs

    @property
    def must_equal(self) -> bool:
        """Whether both sides follow the same rules."""
        return self.family in SAME_RULE.get(self.method, ())


def tally(
    named: tuple[str, str, str],
    *,
    ours: Sequence[Floats],
    theirs: Sequence[Floats | None],
    least: Sequence[Floats],
) -> Tally:
    """Compares the bounds of the same cases; None stands for one that the peer refused."""
    both = [(a, b, c) for a, b, c in zip(ours, theirs, least, strict=True) if b is not None]
    one, other, found = (np.array([row[i] for row in both]).ravel() for i in range(3))
    gaps = one - other
    near = np.abs(gaps) <= NEAR * np.maximum(1, np.abs(other))
    apart = np.abs(gaps[~near])
    return Tally(
        *named,
        cases=len(both),
        refused=len(ours) - len(both),
        equal=int(near.sum()),
        ours=int((~near & (gaps > 0)).sum()),
        # Whatever is not a number is no bound and equals nothing.
        theirs=int((~near & ~(gaps > 0)).sum()),
        typical=float(np.median(apart)) if len(apart) else 0.0,
        ahead=float(max(0.0, gaps.max(initial=0.0))),
        behind=float(max(0.0, (-gaps).max(initial=0.0))),
        above_ours=above(one, found),
        above_theirs=above(other, found),
    )


def above(bounds: Floats, least: Floats) -> int:
    """How many bounds are above a value that was found, or no number."""
    return int((~(bounds <= least + NEAR * np.maximum(1, np.abs(least)))).sum())


def best(bounds: dict[str, list[float]], method: str) -> Floats | None:
    """The peer's bounds by a method or by intervals, whichever is higher, as ours are; None: it has none."""
    if method not in bounds:
        return None
    return np.maximum(np.array(bounds[method]), np.array(bounds["intervals"]))


def figures(tallies: Sequence[Tally]) -> dict[str, float]:
    """The keys of the last line."""
    found: dict[str, float] = {}
    for peer in dict.fromkeys(t.peer for t in tallies):
        own = [t for t in tallies if t.peer == peer]
        same = [t for t in own if t.must_equal]
        found |= {
            f"{peer}_bounds": sum(t.bounds for t in own),
            f"{peer}_equal": sum(t.equal for t in own),
            f"{peer}_ours_tighter": sum(t.ours for t in own),
            f"{peer}_theirs_tighter": sum(t.theirs for t in own),
            f"{peer}_same_rule": sum(t.bounds for t in same),
            f"{peer}_same_rule_equal": sum(t.equal for t in same),
            f"{peer}_same_rule_largest": max((max(t.ahead, t.behind) for t in same), default=0.0),
            f"{peer}_largest": max(max(t.ahead, t.behind) for t in own),
            f"{peer}_refused": sum(t.refused for t in own),
            f"{peer}_violations_ours": sum(t.above_ours for t in own),
            f"{peer}_violations_theirs": sum(t.above_theirs for t in own),
        }
    return found
