"""Bounds over cells of convolutional networks: never above what all texts of a cell say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep_toys import space, victim
from unfooled.bounds import cell_bounds as kinds
from unfooled.bounds import cnn_clusters, cnn_windows
from unfooled.bounds.cells import Bounded, Doubles, Ints
from unfooled.bounds.cnn_cells import CNNCells
from unfooled.bounds.linear_cells import LinearCells
from unfooled.bounds.reading import Reading
from unfooled.branching import Branching
from unfooled.descent import weigh
from unfooled.evidence import margins
from unfooled.models import ModelConfig, build
from unfooled.sweeps.plan import Plan

SEEDS = st.integers(0, 10**6)


def reading(seed: int, arch: str = "cnn", *, ties: bool = True) -> Reading:
    """A small network and text: places side by side or not, words that come again."""
    rng = np.random.default_rng(seed)
    words, classes, dimensions = int(rng.integers(1, 9)), int(rng.integers(2, 4)), 4
    config = ModelConfig(
        arch, 30, classes, dimensions=dimensions, units=int(rng.integers(1, 6)), max_words=12
    )
    network = build(config).eval().requires_grad_(False).double()
    for weight in network.parameters():
        scale = rng.choice([0.5, 1.0, 2.0])
        weight.copy_(torch.from_numpy(rng.normal(size=tuple(weight.shape)) * scale))
    vectors = torch.from_numpy(rng.normal(size=(6, dimensions)))
    if rng.random() < 0.3 and ties:
        vectors = vectors.round()  # ties
    places = rng.permutation(words)[: int(rng.integers(0, 6))].tolist()
    choices = tuple(vectors[rng.permutation(6)[: int(rng.integers(1, 4))]] for _ in places)
    counts = tuple(len(c) for c in choices)
    plan = Plan(
        counts,
        tuple(range(len(places))),
        tuple(places),
        tuple(np.arange(1, n + 1) for n in counts),
        tuple((1,) * n for n in counts),
    )
    return Reading(network, plan, vectors[rng.integers(0, 6, words)], choices)


class Brute(NamedTuple):
    """Every text within a radius, forwarded."""

    cells: CNNCells
    texts: list[tuple[int, ...]]  # their swaps
    logits: Doubles
    margins: Doubles
    radius: int

    def least(self, fixed: Ints, start: int, budget: int) -> float:
        """The least margin in a cell."""
        depth, column = len(fixed), self.cells.swaps.column
        return min(
            float(margin)
            for text, margin in zip(self.texts, self.margins, strict=True)
            if text[:depth] == tuple(fixed.tolist())
            and len(text) <= depth + budget
            and all(column[number] >= start for number in text[depth:])
        )

    def nodes(self) -> Iterator[Ints]:
        """The texts that have equally many swaps, as nodes."""
        for depth in range(self.radius + 1):
            found = [text for text in self.texts if len(text) == depth]
            if found:
                yield np.array(found, dtype=np.int64).reshape(len(found), depth)


def brute(seed: int, arch: str = "cnn", *, shift: float | None = None) -> Brute:
    """With a shift, the bias is moved until the worst of all texts has that margin."""
    rng, found = np.random.default_rng([seed, 1]), reading(seed, arch)
    radius, label = int(rng.integers(1, 5)), int(rng.integers(found.network.config.classes))
    cells = CNNCells(found, label, radius=radius, weigh=weigh)
    starts, texts = cells.swaps.starts, []
    for swaps in range(min(radius, cells.swaps.columns) + 1):
        for columns in combinations(range(cells.swaps.columns), swaps):
            texts += list(product(*(range(starts[c], starts[c + 1]) for c in columns)))
    picks = [cells.swaps.picks(text) for text in texts]
    if shift is not None:
        least = float(margins(found.logits(picks).numpy(), label).min())
        found.network.output.bias[label] += shift - least
        cells = CNNCells(found, label, radius=radius, weigh=weigh)
    logits = found.logits(picks).numpy()
    return Brute(cells, texts, logits, margins(logits, label), radius)


def asked(found: Brute) -> Iterator[tuple[Ints, int, int, Bounded]]:
    """Nodes that have a cell from a column on, that column, a budget, and their bounds."""
    for fixed in found.nodes():
        begin = found.cells.swaps.begin(fixed)
        for budget in range(found.radius - fixed.shape[1] + 1):
            for start in range(found.cells.swaps.columns + 1):
                nodes = fixed[begin <= start]
                starts = np.full(len(nodes), start)
                yield nodes, start, budget, found.cells.lower(nodes, starts, budget=budget)


def assert_below(found: Brute) -> int:
    """No bound is above the least margin of its cell, and without a budget it is the margin."""
    many = 0
    for nodes, start, budget, bounded in asked(found):
        for row, lower in zip(nodes, bounded.lower, strict=True):
            least = found.least(row, start, budget)
            assert lower <= least + 1e-9
            if not budget or start == found.cells.swaps.columns:
                assert lower == pytest.approx(least, abs=1e-9)
            many += 1
    return many


@settings(max_examples=120, deadline=None)
@given(SEEDS)
def test_no_text_of_a_cell_is_below_its_bound(seed: int) -> None:
    found = brute(seed)
    assert_below(found)
    assert np.abs(found.logits).max() <= found.cells.largest(found.radius) + 1e-9


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_nor_with_windows_over_words_and_dimensions(seed: int) -> None:
    assert_below(brute(seed, "cnn-msr"))


@pytest.mark.parametrize("numbers", [0, 60])
def test_nor_with_clusters_of_columns_in_place_of_swaps(
    numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = sum(assert_below(brute(seed)) for seed in range(40))
    monkeypatch.setattr(cnn_clusters, "_NUMBERS", numbers)
    assert sum(assert_below(brute(seed)) for seed in range(40)) == exact > 1000


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([-1e-3, -1e-9, 0.0, 1e-9]))
def test_one_text_that_fools_or_nearly_is_in_no_clear_cell(seed: int, shift: float) -> None:
    found = brute(seed, shift=shift)
    worst = found.texts[int(found.margins.argmin())]
    column = found.cells.swaps.column
    for nodes, start, budget, bounded in asked(found):
        depth = nodes.shape[1]
        if len(worst) > depth + budget or any(column[n] < start for n in worst[depth:]):
            continue
        for row, lower in zip(nodes, bounded.lower, strict=True):
            if tuple(row.tolist()) == worst[:depth]:
                assert lower <= found.cells.sure(found.radius)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_bounds_rise_with_the_start_and_split_is_the_first_that_is_clear(seed: int) -> None:
    found = brute(seed)
    columns, before = found.cells.swaps.columns, {}
    for nodes, start, budget, bounded in asked(found):
        depth = nodes.shape[1]
        sure = found.cells.sure(depth + budget)
        assert bounded.at is not None
        for row, lower, split, at in zip(nodes, *bounded, strict=True):
            key = (*row.tolist(), -1, budget)
            assert lower >= before.get(key, -np.inf) - 1e-9
            before[key] = lower
            assert (split == start) == (lower > sure or start == columns)
            again = found.cells.lower(row[None], np.array([split]), budget=budget)
            assert again.lower[0] == pytest.approx(at, abs=1e-9)
            assert at > sure or split == columns
            if start < split:
                nearly = found.cells.lower(row[None], np.array([split - 1]), budget=budget)
                assert nearly.lower[0] <= sure + 1e-9


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_neither_the_batch_nor_the_radius_they_were_made_for_changes_bounds(seed: int) -> None:
    found = brute(seed)
    cells = found.cells
    wide = CNNCells(cells.reading, cells.label, radius=found.radius + 1, weigh=weigh)
    for nodes, start, budget, bounded in asked(found):
        starts = np.full(len(nodes), start)
        again = wide.lower(nodes, starts, budget=budget).lower
        assert again == pytest.approx(bounded.lower, abs=1e-9)
        for i in range(0, len(nodes), 7):
            alone = cells.lower(nodes[i : i + 1], starts[i : i + 1], budget=budget)
            assert alone.lower[0] == pytest.approx(bounded.lower[i], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_the_scores_of_children_are_those_of_plain_forwards(seed: int) -> None:
    found, rng = brute(seed), np.random.default_rng(seed)
    cells = found.cells
    for fixed in found.nodes():
        if fixed.shape[1] == found.radius:
            break
        first = rng.integers(cells.swaps.begin(fixed), cells.swaps.columns + 1)
        last = rng.integers(first, cells.swaps.columns + 1)
        children = cells.swaps.children(fixed, first, last)
        scores = cells.logits(fixed, first, last)
        assert scores.shape == (len(children), found.logits.shape[1])
        for row, score in zip(children.tolist(), scores, strict=True):
            assert score == pytest.approx(found.logits[found.texts.index(tuple(row))], abs=1e-9)


def test_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cnn_windows, "_NUMBERS", 8)
    monkeypatch.setattr(cnn_windows, "_CACHED", 8)
    for seed in range(12):
        found = brute(seed)
        assert_below(found)
        root = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        scores = found.cells.logits(*root, np.array([found.cells.swaps.columns]))
        alone = [i for i, text in enumerate(found.texts) if len(text) == 1]
        assert scores == pytest.approx(found.logits[alone], abs=1e-9)


def test_a_tree_decides_what_brute_force_decides() -> None:
    kinds = set()
    for seed in range(150):
        found = brute(seed, shift=0.05 if seed % 3 else None)
        tree = Branching(found.cells, found.radius)
        while tree.step():
            pass
        if tree.doubts or found.margins[0] <= 0:  # a tree is about texts with swaps
            continue
        assert tree.complete == bool((found.margins > 0).all())
        if tree.witness is not None:
            text = tuple(tree.witness.tolist())
            assert found.margins[found.texts.index(text)] < 0
        kinds.add(tree.complete)
    assert kinds == {True, False}


def test_windows_far_apart_cost_what_each_costs_alone() -> None:
    """One filter that sums a window, against the label: the worst of two places counts, no sum."""
    config = ModelConfig("cnn", 30, 2, dimensions=1, units=1, max_words=12)
    network = build(config).eval().requires_grad_(False).double()
    network.filters.weight.fill_(1.0)
    network.filters.bias.zero_()
    network.output.weight.copy_(torch.tensor([[0.0], [1.0]]))
    network.output.bias.copy_(torch.tensor([10.0, 0.0]))
    choices = (torch.tensor([[3.0]]).double(), torch.tensor([[4.0]]).double())
    plan = Plan((1, 1), (0, 1), (1, 6), (np.array([1]), np.array([1])), ((1,), (1,)))
    found = Reading(network, plan, torch.zeros(8, 1).double(), choices)
    cells = kinds.cell_bounds(found, 0, radius=2, weigh=weigh)
    assert isinstance(cells, CNNCells)
    root = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
    assert cells.lower(*root, budget=1).lower[0] == pytest.approx(6.0, abs=0.1)
    assert cells.lower(*root, budget=2).lower[0] == pytest.approx(6.0, abs=0.3)
    assert cells.largest(2) == pytest.approx(10.0)


def test_pairs_and_what_would_be_too_large_have_linear_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = space(seed=2, words=7, columns=4, candidates=3)
    model = victim("cnn", seed=2)
    single = model.layers(model.prepare(members))
    assert single is not None
    assert isinstance(kinds.cell_bounds(single, 0, radius=2, weigh=weigh), CNNCells)
    monkeypatch.setattr(kinds, "_NUMBERS", 1)
    assert isinstance(kinds.cell_bounds(single, 0, radius=2, weigh=weigh), LinearCells)
    monkeypatch.undo()
    model = victim("cnn", seed=2, pair=True)
    pair = model.layers(model.prepare(space(seed=2, words=7, columns=4, candidates=3, pair=True)))
    assert pair is not None
    assert isinstance(kinds.cell_bounds(pair, 0, radius=2, weigh=weigh), LinearCells)


@pytest.mark.parametrize("seed", range(100))
def test_the_last_digits_of_another_machine_hardly_change_a_bound(seed: int) -> None:
    """A checker adds up in another order, and still has to find the bound of the certificate, nearly."""
    found = reading(seed, ties=False)
    rng = torch.Generator().manual_seed(seed)

    def shaken(vectors: torch.Tensor) -> torch.Tensor:
        return vectors * (1 + 2e-15 * torch.randn(vectors.shape, generator=rng).double())

    other = replace(found, text=shaken(found.text), choices=tuple(map(shaken, found.choices)))
    radius = min(3, len(found.choices))
    one, two = (CNNCells(r, 0, radius=radius, weigh=weigh) for r in (found, other))
    rows = np.arange(len(one.swaps.column), dtype=np.int64)[:, None]
    for fixed in (rows[:1, :0], rows):
        begin = one.swaps.begin(fixed)
        for budget in range(radius + 1 - fixed.shape[1]):
            bounds = [cells.lower(fixed, begin, budget=budget).lower for cells in (one, two)]
            assert bounds[0] == pytest.approx(bounds[1], rel=5e-4, abs=5e-4)


def dense(columns: int, *, gap: int = 1) -> Reading:
    """A text with a choice at every so many words, and a filter for each of two classes."""
    config = ModelConfig("cnn", 30, 2, dimensions=1, units=2, max_words=200)
    network = build(config).eval().requires_grad_(False).double()
    place = tuple(range(0, columns * gap, gap))
    ones = tuple(np.array([1]) for _ in place)
    plan = Plan((1,) * columns, tuple(range(columns)), place, ones, ((1,),) * columns)
    text, choice = torch.zeros(columns * gap, 1).double(), torch.ones(1, 1).double()
    return Reading(network, plan, text, (choice,) * columns)


@pytest.mark.parametrize(("columns", "gap"), [(9, 1), (9, 2), (9, 3), (1, 1), (0, 1)])
def test_the_reach_counts_the_clusters_that_there_are(
    columns: int, gap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = dense(columns, gap=gap)
    features = found.network.output.weight.shape[1]
    chains = cnn_clusters.chains
    total = sum(size * len(chains(np.array(found.plan.places), size)) for size in range(1, 6))
    monkeypatch.setattr(kinds, "_CLUSTERS", total * features)
    assert kinds.reach(found, 5) == 5
    monkeypatch.setattr(kinds, "_CLUSTERS", total * features - 1)
    assert kinds.reach(found, 5) < 5 or not columns


def test_bounds_end_where_clusters_would_be_too_many() -> None:
    for found, most in ((dense(40), 20), (dense(60, gap=3), 42)):
        far = kinds.reach(found, 50)
        assert 4 <= far <= most
        assert isinstance(kinds.cell_bounds(found, 0, radius=far, weigh=weigh), CNNCells)
        assert kinds.cell_bounds(found, 0, radius=far + 1, weigh=weigh) is None
