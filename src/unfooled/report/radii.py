"""Found, certified and unknown by radius, with times (the PDP paper's table 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unfooled.audited import Audit, Audited
from unfooled.minima import Minimum
from unfooled.report import wording


class Part(NamedTuple):
    """The texts of one kind at one radius: how many, what share, and what they took on average."""

    texts: int
    share: float | None
    queries: float | None
    seconds: float | None


class Radius(NamedTuple):
    """What is known within a number of swaps."""

    radius: int
    found: Part
    certified: Part
    unknown: Part


class Cost(NamedTuple):
    """What a method took over all its texts."""

    method: str
    texts: str
    queries: str
    forwards: str
    seconds: str
    each: str


def by_radius(audit: Audit) -> list[Radius]:
    """For radius 1, 2, ...: the texts an attack broke, those proved, and the rest.

    A text's time is its part of what the method took, by forwards: texts share batches, so none has
    a time of its own. Found texts count all attacks, certified and unknown ones the provers.
    """
    held = [a for a in audit if a.bracket is not None]
    attacks = list(held[0].outcomes) if held else []
    certifiers = list(dict.fromkeys(name for a in held for name in a.verdicts))
    rates = {name: _rate(audit, name) for name in audit.costs}
    table = []
    for radius in range(1, audit.radius + 1):
        found = [a for a in held if a.upper is not None and a.upper <= radius]
        certified = [a for a in held if a.lower is not None and a.lower > radius]
        decided = {id(a) for a in (*found, *certified)}
        unknown = [a for a in held if id(a) not in decided]

        def part(texts: Sequence[Audited], methods: Sequence[str]) -> Part:
            spent = [_spent(a, methods, rates=rates) for a in texts]
            n = len(texts)
            return Part(
                n,
                n / len(held) if held else None,
                sum(queries for queries, _ in spent) / n if n else None,
                sum(seconds for _, seconds in spent) / n if n and audit.costs else None,
            )

        parts = (part(found, attacks), part(certified, certifiers), part(unknown, certifiers))
        table.append(Radius(radius, *parts))
    return table


def costs(audit: Audit) -> list[Cost]:
    """What each method took."""
    rows = []
    for method, cost in audit.costs.items():
        texts, seconds = cost.get("texts", 0), cost.get("seconds", 0.0)
        each = seconds / texts if texts else None
        numbers = (texts, cost.get("queries"), cost.get("forwards"), seconds, each)
        rows.append(Cost(method, *map(wording.number, numbers)))
    return rows


def _rate(audit: Audit, method: str) -> float:
    """Seconds per forward."""
    cost = audit.costs[method]
    return cost["seconds"] / cost["forwards"] if cost.get("forwards") else 0.0


def _spent(
    item: Audited, methods: Sequence[str], *, rates: dict[str, float]
) -> tuple[float, float]:
    """Queries and seconds of one text under these methods."""
    queries, seconds = 0.0, 0.0
    for method in methods:
        result = item.outcomes.get(method) or item.verdicts.get(method)
        if result is None:
            continue
        queries += result.queries
        if isinstance(result, Minimum):  # it computes for one text at a time, and knows how long
            seconds += result.seconds
        else:
            seconds += result.forwards * rates.get(method, 0.0)
    return queries, seconds
