"""Bounds over cells are below every margin in the cell, whatever shares their batch."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sweep_toys import ARCHITECTURES, space, victim
from unfooled.bounds.cell_bounds import cell_bounds
from unfooled.bounds.cells import CellBounds, Cells, Ints, judged, ordered
from unfooled.branching import Branching, seconds_of
from unfooled.descent import weigh


def bounds(arch: str, seed: int, *, radius: int, pair: bool = False) -> CellBounds:
    model = victim(arch, seed=seed, pair=pair)
    members = space(seed=seed, words=7, columns=4, candidates=3, pair=pair)
    reading = model.layers(model.prepare(members))
    assert reading is not None
    order = np.random.default_rng(seed).permutation(len(reading.choices)).tolist()
    label = int(reading.logits([[]])[0].argmax())
    found = cell_bounds(ordered(reading, order), label, radius=radius, weigh=weigh)
    assert found is not None
    return found


def texts(cells: CellBounds, fixed: Ints, start: int, budget: int) -> list[list[int]]:
    """The swaps of every text of a cell, by brute force."""
    starts = cells.swaps.starts
    free = [
        [None, *range(starts[c], starts[c + 1])] if c >= start else [None]
        for c in range(cells.swaps.columns)
    ]
    found = [[n for n in each if n is not None] for each in product(*free)]
    return [[*fixed.tolist(), *each] for each in found if len(each) <= budget]


def random_cells(cells: CellBounds, rng: np.random.Generator, depth: int) -> tuple[Ints, Ints]:
    """Nodes with so many swaps made, and columns at or after their last."""
    fixed = np.zeros((1, 0), dtype=np.int64)
    for _ in range(depth):
        ends = np.full(len(fixed), cells.swaps.columns)
        fixed = cells.swaps.children(fixed, cells.swaps.begin(fixed), ends)
    fixed = fixed[rng.permutation(len(fixed))[:6]]
    begin = cells.swaps.begin(fixed)
    return fixed, rng.integers(begin, cells.swaps.columns + 1)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("pair", [False, True])
def test_no_text_of_a_cell_is_below_its_bound(arch: str, pair: bool) -> None:
    rng = np.random.default_rng(0)
    radius = 3
    for seed in range(1 if "lstm" in arch else 4):
        cells = bounds(arch, seed, radius=radius, pair=pair)
        assert cells.original()[0] == pytest.approx(cells.reading.logits([[]])[0].numpy())
        largest = cells.largest(radius)
        for depth in range(radius):
            fixed, start = random_cells(cells, rng, depth)
            if not len(fixed):
                continue
            lower = cells.lower(fixed, start, budget=radius - depth).lower
            for i, row in enumerate(fixed):
                inside = texts(cells, row, int(start[i]), radius - depth)
                logits = cells.reading.logits([cells.swaps.picks(t) for t in inside]).numpy()
                assert lower[i] <= judged(logits, cells.label).margins.min() + 1e-9
                assert np.abs(logits).max() <= largest + 1e-9
                alone = cells.lower(fixed[i : i + 1], start[i : i + 1], budget=radius - depth)
                assert alone.lower[0] == pytest.approx(lower[i], abs=1e-9)
                nothing = cells.lower(fixed[i : i + 1], start[i : i + 1], budget=0).lower[0]
                own = cells.reading.logits([cells.swaps.picks(row)]).numpy()
                assert nothing == pytest.approx(judged(own, cells.label).margins[0], abs=1e-8)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_scores_of_children_are_those_of_plain_forwards(arch: str) -> None:
    cells = bounds(arch, 3, radius=3)
    rng = np.random.default_rng(1)
    for depth in range(3):
        fixed, first = random_cells(cells, rng, depth)
        last = np.minimum(first + 2, cells.swaps.columns)
        children = cells.swaps.children(fixed, first, last)
        plain = cells.reading.logits([cells.swaps.picks(row) for row in children]).numpy()
        assert np.abs(cells.logits(fixed, first, last) - plain).max(initial=0.0) < 1e-9


def test_members_are_counted_as_often_as_they_stand_for_candidates() -> None:
    for seed in range(10):
        cells = bounds("mlp", seed, radius=2)
        plan = cells.reading.plan
        root = np.zeros((1, 0), dtype=np.int64)
        none = np.empty((0, 1), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        whole = [Cells(root, np.zeros(1, dtype=np.int64), np.zeros(1)), Cells(*none)]
        counted = cells.swaps.members(whole, np.empty((0, 2), dtype=np.int64))
        totals = [sum(w) for w in plan.weights]
        pairs = sum(a * b for i, a in enumerate(totals) for b in totals[i + 1 :])
        assert counted == 1 + sum(totals) + pairs


def test_an_estimate_is_about_what_a_tree_takes() -> None:
    cells = bounds("mlp", 4, radius=3)
    rng = np.random.default_rng(0)
    found = seconds_of(cells, 3, rng, most=1e9, patience=60.0)
    assert 0 < found < 10
    slow = [bounds("cnn", seed, radius=3) for seed in range(8)]
    hasty = [seconds_of(each, 3, rng, most=1e9, patience=1e-9) for each in slow]
    patient = [seconds_of(each, 3, rng, most=1e9, patience=60.0) for each in slow]
    assert np.inf in hasty
    assert all(np.isfinite(patient))


@pytest.mark.parametrize("arch", ["mlp", "cnn"])
def test_the_parts_of_a_tree_have_all_members(arch: str) -> None:
    for seed in range(20):
        cells = bounds(arch, seed, radius=3)
        tree = Branching(cells, 3)
        while tree.step():
            pass
        if not tree.complete:
            continue
        levels = tree.levels()
        fixed, start, _ = levels[-1]
        leaves = cells.swaps.children(fixed, cells.swaps.begin(fixed), start)
        assert len(leaves) == tree.leaves
        plan = cells.reading.plan
        blind = sum(plan.blind(k) for k in range(4))
        members = space(seed=seed, words=7, columns=4, candidates=3)
        assert cells.swaps.members(levels, leaves) + blind == members.size(3)
