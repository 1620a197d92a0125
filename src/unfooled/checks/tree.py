"""Checks a branch and bound: its cells partition the region, and each bound is computed again."""

from __future__ import annotations

from typing import Any

import numpy as np

from unfooled.bounds.cell_bounds import cell_bounds
from unfooled.bounds.cells import CellBounds, Cells, Ints, Swaps, judged, ordered
from unfooled.bounds.cnn_weights import Stored
from unfooled.bounds.reading import Reading
from unfooled.checks.claim import Claim, Label, Refused, number, whole

_NODES = 512  # whose bounds are computed at once
_CLOSE = 1e-6  # relative: margins that are the same but for the last digits of other machines


def check(claim: Claim) -> Label:
    """`checked`: no text of the region is outside a cell whose bound is clear, none in two."""
    reading = _ordered(claim)
    radius = min(claim.radius, len(reading.choices))
    weights = Stored(claim.certificate["weights"])
    cells = cell_bounds(reading, claim.label, radius=radius, weigh=weights)
    if cells is None:
        raise Refused("there are no bounds for cells of this network")
    levels = _levels(claim.certificate["cells"], radius)
    leaves = _partition(cells.swaps, levels)
    _counted(claim, cells.swaps, levels, leaves, radius=radius)
    sure = cells.sure(radius)
    for depth, level in enumerate(levels):
        _bounds(claim, cells, level, budget=radius - depth, sure=sure)
    if weights.idle:
        raise Refused("it has weights that no bound rests on")
    _leaves(claim, cells, levels, leaves)
    return "checked"


def _ordered(claim: Claim) -> Reading:
    """The reading with its columns in the order of the certificate."""
    reading, order = claim.reading(), claim.certificate["order"]
    if not isinstance(order, list) or not all(map(whole, order)):
        raise Refused("the order of the columns is no list of whole numbers")
    if sorted(order) != sorted(reading.plan.columns):
        raise Refused("the order is not one of the columns whose words the victim tells apart")
    return ordered(reading, [reading.plan.columns.index(column) for column in order])


def _levels(found: Any, radius: int) -> list[Cells]:
    """The cells as arrays, by the number of swaps that are made."""
    if not isinstance(found, list) or len(found) != radius:
        raise Refused(f"there must be cells for each of {radius} numbers of swaps")
    levels = []
    for depth, level in enumerate(found):
        if set(level) != {"fixed", "start", "bound"}:
            raise Refused("cells have fixed swaps, a start and a bound")
        fixed = level["fixed"]
        if not all(isinstance(row, list) and len(row) == depth for row in fixed):
            raise Refused(f"a cell does not have {depth} swaps made")
        if not all(whole(n) for row in (*fixed, level["start"]) for n in row):
            raise Refused("the swaps of a cell or its start are no whole numbers")
        bounds = [number(bound, "a bound") for bound in level["bound"]]
        if not len(fixed) == len(level["start"]) == len(bounds):
            raise Refused("there are not as many starts and bounds as cells")
        rows = np.array(fixed, dtype=np.int64).reshape(len(fixed), depth)
        start = np.array(level["start"], dtype=np.int64)
        levels.append(Cells(rows, start, np.array(bounds, dtype=np.float64)))
    return levels


def _partition(swaps: Swaps, levels: list[Cells]) -> Ints:
    """The leaves, if every node is there exactly once: those that the nodes before branch into."""
    expected = np.zeros((1, 0), dtype=np.int64)
    for depth, (fixed, start, _) in enumerate(levels):
        if fixed.shape != expected.shape or (_sorted(fixed) != _sorted(expected)).any():
            raise Refused(
                f"the cells with {depth} swaps made do not partition the region: "
                f"{len(fixed)} where {len(expected)} are needed, or others"
            )
        begin = swaps.begin(fixed)
        if ((start < begin) | (start > swaps.columns)).any():
            raise Refused("a cell starts before its last swap, or behind the last column")
        expected = swaps.children(fixed, begin, start)
    return expected


def _sorted(rows: Ints) -> Ints:
    return rows[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows


def _counted(claim: Claim, swaps: Swaps, levels: list[Cells], leaves: Ints, *, radius: int) -> None:
    """Recounts by the size polynomial: cells, leaves, and members that look like one of them."""
    plan = swaps.reading.plan
    blind = sum(plan.blind(k) for k in range(min(claim.radius, len(plan.counts)) + 1))
    total, size = swaps.members(levels, leaves) + blind, claim.space.size(claim.radius)
    if total != size:
        raise Refused(f"the cells have {total} texts, and within {claim.radius} there are {size}")
    said = claim.certificate["leaves"]
    if not whole(said) or said != len(leaves):
        raise Refused(f"{len(leaves)} leaves are left over, not {said!r:.40}")


def _bounds(claim: Claim, cells: CellBounds, level: Cells, *, budget: int, sure: float) -> None:
    """Computes every bound again; behind the last column it is the margin of one text."""
    for begin in range(0, len(level.fixed), _NODES):
        part = slice(begin, begin + _NODES)
        fixed, start, bound = level.fixed[part], level.start[part], level.bound[part]
        found = cells.lower(fixed, start, budget=budget).lower
        apart = np.abs(found - bound) > _CLOSE * np.maximum(1.0, np.abs(found))
        if apart.any():
            at = int(apart.argmax())
            raise Refused(f"a bound is said to be {bound[at]:.6g}, and is {found[at]:.6g}")
        alone = start == cells.swaps.columns
        if (found[~alone] <= sure).any():
            least = found[~alone].min()
            raise Refused(f"a cell has a bound of {least:.6g}, which is not above {sure:.6g}")
        _clear(claim, cells, fixed[alone & (found <= sure)])


def _clear(claim: Claim, cells: CellBounds, texts: Ints) -> None:
    """Has the victim itself score texts that are too close for a bound to decide."""
    if not len(texts):
        return
    rows = np.stack([cells.swaps.row(fixed) for fixed in texts])
    found, noise = claim.margins(rows)
    if (found <= noise).any():
        shown = claim.space.text(rows[int((found - noise).argmin())])
        raise Refused(f"{str(shown)!r} is in the region and fools, or nearly")


def _leaves(claim: Claim, cells: CellBounds, levels: list[Cells], leaves: Ints) -> None:
    """Evaluates every leaf; the least margin must be that of the certificate."""
    least, where = np.inf, None
    if not levels:  # the text itself
        scores, texts = [cells.original()], [leaves]
    else:
        fixed, start, _ = levels[-1]
        begin, scores, texts = cells.swaps.begin(fixed), [], []
        for at in range(0, len(fixed), _NODES):
            part = slice(at, at + _NODES)
            texts.append(cells.swaps.children(fixed[part], begin[part], start[part]))
            scores.append(cells.logits(fixed[part], begin[part], start[part]))
    for logits, rows in zip(scores, texts, strict=True):
        if not len(rows):
            continue
        margin, fooled, doubtful = judged(logits, claim.label)
        _clear(claim, cells, rows[fooled | doubtful])
        lowest = int(margin.argmin())
        if margin[lowest] < least:
            least, where = float(margin[lowest]), cells.swaps.row(rows[lowest])
    said = claim.certificate["least_margin"]
    if where is None:
        if said is not None or claim.certificate["least_row"] is not None:
            raise Refused("it has a least margin of leaves, and no leaf")
        return
    if abs(number(said, "the least margin") - least) > _CLOSE * max(1.0, abs(least)):
        raise Refused(f"the least margin of a leaf is said to be {said:.6g}, and is {least:.6g}")
    row = claim.row("least_row")[None]
    if not claim.space.contains(row, claim.radius)[0]:
        raise Refused("the text with the least margin is not in the region")
    found, noise = claim.margins(row)
    if abs(found[0] - least) > 10 * noise[0]:
        raise Refused(f"the text with the least margin has {found[0]:.6g}, not {least:.6g}")
