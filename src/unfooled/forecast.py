"""How large a proof is and how long it takes, said before it starts."""

from __future__ import annotations

import math
from collections.abc import Sequence


def forecast(sizes: Sequence[int], *, speed: float, max_queries: int | None) -> str:
    """What proofs over regions of these sizes come to at `speed` texts a second, at most.

    >>> forecast([5_000, 8_000_000], speed=1000, max_queries=20_000)
    '2 proofs, at most 25,000 texts, about 25 s at 1,000 texts/s; 1 is beyond --max-queries 20,000, \
the largest has 8.0e6 texts, about 2 h at this speed: raise --max-queries or lower --radius'
    """
    within = [size if max_queries is None else min(size, max_queries) for size in sizes]
    said = (
        f"{len(sizes):,} proofs, at most {_number(sum(within))} texts, "
        f"about {_duration(sum(within), speed)} at {speed:,.0f} texts/s"
    )
    beyond = [size for size in sizes if max_queries is not None and size > max_queries]
    if not beyond:
        return said
    are = f"{len(beyond):,} {'is' if len(beyond) == 1 else 'are'} beyond --max-queries {max_queries:,}"
    return f"{said}; {are}, the largest has {feasibility(max(beyond), speed=speed)}"


def feasibility(size: int, *, speed: float | None = None) -> str:
    """How large a proof is, how long it takes at `speed` texts a second, and what to do about it.

    >>> feasibility(4_600_000_000, speed=142_000)
    '4.6e9 texts, about 9 h at this speed: raise --max-queries or lower --radius'
    """
    time = f", about {_duration(size, speed)} at this speed" if speed else ""
    return f"{_number(size)} texts{time}: raise --max-queries or lower --radius"


def _number(size: int) -> str:
    if size < 1_000_000:
        return f"{size:,}"
    digits = str(size)
    exponent = len(digits) - 1
    lead = round(int(digits[:3]) / 100, 1)
    if lead == 10:
        lead, exponent = 1.0, exponent + 1
    return f"{lead:.1f}e{exponent}"


def _duration(size: int, speed: float) -> str:
    return duration(size / max(speed, 1e-9) if size < 10**300 else math.inf)


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them.

    >>> duration(90), duration(7300)
    ('90 s', '2 h')
    """
    for unit, length in (("years", 365 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            many = seconds / length
            return f"{many:.0f} {unit}" if many < 10_000 else f"more than 10,000 {unit}"
    return f"{max(1, round(seconds))} s"
