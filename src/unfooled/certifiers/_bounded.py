"""What certifiers by bounds have in common: the original first, then radii upwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from unfooled.errors import InputError
from unfooled.evidence import margins, tolerance
from unfooled.program import Layers, Program, Scores, Spent
from unfooled.proof import Proof
from unfooled.space import Space

if TYPE_CHECKING:
    from unfooled.bounds.margins import Ascend
    from unfooled.bounds.reading import Reading

_AT_ONCE = 4  # radii bounded in one batch


def checked_radius(radius: int) -> None:
    """Refuses what is no number of swaps."""
    if radius < 0:
        raise InputError(f"radius is a number of swaps, 0 or more, not {radius}")


def proved(
    space: Space, label: int, *, radius: int, method: Any, ascend: Ascend | None = None
) -> Program[Proof]:
    """The proof for one text: certified up to the largest radius whose bound clears the tolerance."""
    size = space.size(radius)
    try:
        scores = yield Scores(space.rows(space.origin))
    except Spent:
        why = "budget: the original itself could not be scored"
        return Proof("unknown", -1, None, why, size)
    lead, width = float(margins(scores, label)[0]), float(tolerance(scores)[0])
    if lead < -width:
        return Proof("falsified", -1, space.origin, "", size)
    if lead <= width:
        why = "near-tie: the original has a margin within float noise of zero"
        return Proof("unknown", -1, None, why, size)
    reading = yield Layers()
    if reading is None:
        why = "a candidate is not one word to the model, or both sides of a pair are editable"
        return Proof("unknown", 0, None, f"unsupported: {why}", size)
    climb = _climb(reading, label, radius=radius, method=method, ascend=ascend)
    if abs(climb.margin - lead) > width:
        why = (
            f"numerics: the original has a margin of {lead:.6g} when it is run and of "
            f"{climb.margin:.6g} in float64"
        )
        return Proof("unknown", 0, None, why, size)
    if climb.reason:
        return Proof("unknown", climb.radius, None, climb.reason, size, climb.argument)
    return Proof("certified", radius, None, "", size, climb.argument)


class _Climb(NamedTuple):
    """How far bounds reach: why no further, and what a checker needs for what is proved."""

    radius: int
    margin: float  # of the original
    reason: str
    argument: dict[str, Any]


def _climb(
    reading: Reading, label: int, *, radius: int, method: Any, ascend: Ascend | None = None
) -> _Climb:
    """Bounds for 0, 1, ... swaps, until one does not clear the tolerance."""
    from unfooled.bounds.margins import margins as bounded
    from unfooled.bounds.region import Region
    from unfooled.bounds.replay import argument

    most = min(radius, len(reading.choices))  # a whole space has any radius
    best, margin, shown = 0, 0.0, dict[str, Any]()
    for start in range(0, most + 1, _AT_ONCE):
        budgets = list(range(start, min(start + _AT_ONCE, most + 1)))
        found = bounded(
            reading.network,
            Region.of([reading] * len(budgets), budgets),
            labels=[label] * len(budgets),
            method=method,
            other=None if reading.other is None else reading.other.expand(len(budgets), -1),
            second=reading.second,
            ascend=ascend,
        )
        margin = float(found.margin[0]) if start == 0 else margin
        for row, (budget, holds) in enumerate(zip(budgets, found.holds.tolist(), strict=True)):
            if not holds:
                value = float(found.margin[row])
                reason = f"loose: the bound at radius {budget} is {value:.3g}"
                return _Climb(best, margin, reason, shown)
            best, shown = budget, argument(method, found, row=row)
    return _Climb(best, margin, "", shown)
