"""Batches: every row in exactly one, none too large, lengths mixed only where that is cheaper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.planner import Cost, halves, plan

SIZES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 500)), max_size=20)


@given(SIZES, st.integers(1, 50), st.floats(0, 1e4), st.floats(0, 100), st.floats(0, 10))
def test_every_row_is_in_exactly_one_batch(
    sizes: list[tuple[int, int]], most: int, batch: float, step: float, token: float
) -> None:
    batches = plan(sizes, Cost(batch, step, token), most=lambda tokens: most)
    rows = [(item, i) for b in batches for item, start, stop in b for i in range(start, stop)]
    assert sorted(rows) == [(item, i) for item, (n, _) in enumerate(sizes) for i in range(n)]
    assert all(0 < sum(stop - start for _, start, stop in b) <= most for b in batches)
    assert all(start < stop for b in batches for _, start, stop in b)


@given(SIZES, st.integers(1, 50))
def test_the_longest_come_first(sizes: list[tuple[int, int]], most: int) -> None:
    lengths = [
        sizes[item][1] for b in plan(sizes, Cost(), most=lambda tokens: most) for item, _, _ in b
    ]
    assert lengths == sorted(lengths, reverse=True)


@given(SIZES, st.integers(1, 50))
def test_equal_lengths_fill_all_batches_but_one(sizes: list[tuple[int, int]], most: int) -> None:
    batches = plan([(n, 7) for n, _ in sizes], Cost(), most=lambda tokens: most)
    full = [sum(stop - start for _, start, stop in b) for b in batches]
    assert all(n == most for n in full[:-1])


def test_padding_that_costs_more_than_a_batch_is_refused() -> None:
    sizes = [(8, 100), (8, 10)]
    dear = Cost(batch=100, step=0, token=1)  # 8 rows x 90 tokens of padding against 100
    cheap = Cost(batch=1000, step=0, token=1)
    walker = Cost(batch=0, step=1000, token=1)  # a recurrent network pays for the longest anyway
    assert plan(sizes, dear, most=lambda tokens: 32) == [[(0, 0, 8)], [(1, 0, 8)]]
    assert plan(sizes, cheap, most=lambda tokens: 32) == [[(0, 0, 8), (1, 0, 8)]]
    assert plan(sizes, walker, most=lambda tokens: 32) == [[(0, 0, 8), (1, 0, 8)]]


def test_long_items_are_cut_where_a_batch_is_full() -> None:
    assert plan([(5, 9), (4, 9)], Cost(), most=lambda tokens: 3) == [
        [(0, 0, 3)],
        [(0, 3, 5), (1, 0, 1)],
        [(1, 1, 4)],
    ]


@pytest.mark.parametrize(
    "true", [(2e-3, 1e-5, 3e-6), (5e-3, 0.0, 1e-5), (1e-4, 2e-4, 1e-7), (0.0, 0.0, 1e-6)]
)
def test_the_cost_is_learned_from_the_first_batches(true: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(0)
    cost = Cost()
    for i in range(32):
        n, tokens = int(rng.integers(1, 129)), int(rng.integers(5, 300))
        seconds = true[0] + true[1] * tokens + true[2] * n * tokens
        cost.see(n, tokens, seconds if i else 10.0)  # the first batch warms up
    assert (cost.batch, cost.step, cost.token) == pytest.approx(true, rel=1e-3, abs=1e-9)


def test_batches_that_teach_nothing_change_nothing() -> None:
    cost = Cost()
    for _ in range(200):
        cost.see(1, 1, 0.0)
    assert all(np.isfinite([cost.batch, cost.step, cost.token]))
    assert cost.token > 0
    assert len(cost._seen) <= 128  # what is remembered is bounded


def test_before_eight_batches_the_defaults_hold() -> None:
    cost = Cost()
    for _ in range(7):
        cost.see(3, 3, 1.0)
    assert (cost.batch, cost.step, cost.token) == (100.0, 0.0, 1.0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.integers(1, 9))), st.data())
def test_halves_are_the_first_rows_and_the_rest(
    given_batch: list[tuple[str, int, int]], data: st.DataObject
) -> None:
    batch = [(item, start, start + n) for item, start, n in given_batch]
    rows = [(item, i) for item, start, stop in batch for i in range(start, stop)]
    cut = data.draw(st.integers(0, len(rows)))
    first, rest = halves(batch, cut)
    assert [(item, i) for item, a, b in first for i in range(a, b)] == rows[:cut]
    assert [(item, i) for item, a, b in rest for i in range(a, b)] == rows[cut:]
    assert all(a < b for _, a, b in first + rest)


def test_a_batch_has_as_many_rows_as_its_longest_allow() -> None:
    """Twelve tokens fill a batch: four rows of three, two of six."""
    batches = plan([(5, 3), (5, 6)], Cost(batch=1e9), most=lambda tokens: 12 // tokens)
    assert [sum(stop - start for _, start, stop in b) for b in batches] == [2, 2, 2, 4]
