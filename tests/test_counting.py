"""Counting: elementary symmetric polynomials against brute force, listing, uniform draws."""

from __future__ import annotations

import doctest
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from unfooled import counting
from unfooled.counting import Lister, draw, row_keys, suffix_ways, ways

COUNTS = st.lists(st.integers(0, 4), max_size=5).map(tuple)
RADIUS = st.integers(0, 5)

# Shapes of candidate counts: even, uneven, very uneven, with one that has none.
SHAPES = [((2, 3), 1), ((1, 30, 2), 1), ((1, 30, 2), 2), ((1, 1, 5, 4), 2), ((1, 30, 2), 3)]
SHAPES += [((7, 1, 1, 1, 1), 3), ((3, 0, 2), 1), ((40, 1), 1), ((1, 2, 3, 4, 5), 4)]


def rows_within(counts: tuple[int, ...], radius: int) -> list[tuple[int, ...]]:
    return [
        row for row in product(*(range(n + 1) for n in counts)) if sum(k > 0 for k in row) <= radius
    ]


def test_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(counting).failed == 0


@given(COUNTS, RADIUS)
def test_ways_are_sums_over_subsets(counts: tuple[int, ...], radius: int) -> None:
    expected = [sum(map(prod, combinations(counts, k))) for k in range(radius + 1)]
    assert ways(counts, radius) == expected


@given(COUNTS, RADIUS)
def test_every_suffix_has_its_ways(counts: tuple[int, ...], radius: int) -> None:
    table = suffix_ways(counts, radius)
    assert table == [ways(counts[i:], radius) for i in range(len(counts) + 1)]


def test_ways_of_a_long_text_are_exact() -> None:
    found = ways((50,) * 400, 400)
    assert found == [comb(400, k) * 50**k for k in range(401)]
    assert sum(found) == 51**400


@given(COUNTS, RADIUS, st.integers(1, 7))
def test_listing_gives_every_member_once(counts: tuple[int, ...], radius: int, chunk: int) -> None:
    chunks = list(Lister(counts, min(radius, len(counts))).chunks(chunk))
    rows = [tuple(row) for part in chunks for row in part.tolist()]
    assert sorted(rows) == sorted(rows_within(counts, radius))
    swaps = [sum(k > 0 for k in row) for row in rows]
    assert swaps == sorted(swaps)
    assert all(0 < len(part) <= chunk and part.dtype == np.int16 for part in chunks)


@given(COUNTS, st.integers(0, 5), st.data())
def test_any_stretch_of_the_list_can_be_made_alone(
    counts: tuple[int, ...], swaps: int, data: st.DataObject
) -> None:
    swaps = min(swaps, len(counts))
    lister = Lister(counts, swaps)
    total = lister.totals[swaps]
    start = data.draw(st.integers(0, total))
    stop = data.draw(st.integers(start, total))
    whole = lister.choices(swaps, 0, total)
    assert (lister.choices(swaps, start, stop) == whole[start:stop]).all()


def test_listing_starts_at_once_in_a_space_nobody_could_list() -> None:
    chunks = Lister((50,) * 400, 400).chunks(4096)
    first, second = next(chunks), next(chunks)
    assert first.tolist() == [[0] * 400]
    assert (np.count_nonzero(second, axis=1) == 1).all()
    assert len(np.unique(second, axis=0)) == len(second) == 4096


def test_stretches_beyond_the_counting_limit_are_distinct() -> None:
    rows = Lister((50,) * 400, 200).choices(200, 10**18, 10**18 + 500)
    assert (np.count_nonzero(rows, axis=1) == 200).all()
    assert len(np.unique(rows, axis=0)) == 500
    assert rows.max() <= 50


@pytest.mark.parametrize(("counts", "radius"), SHAPES)
def test_draws_are_uniform(counts: tuple[int, ...], radius: int) -> None:
    expected = rows_within(counts, radius)
    n = 200 * len(expected)
    rows = draw(counts, radius, n=n, rng=np.random.default_rng(7))
    seen = Counter(map(tuple, rows.tolist()))
    assert set(seen) <= set(expected)
    assert chisquare([seen[row] for row in expected]).pvalue > 1e-4


@pytest.mark.parametrize(("counts", "radius"), [((1, 30, 2), 1), ((1, 30, 2), 2), ((40, 1), 1)])
def test_choosing_positions_uniformly_would_not_be(counts: tuple[int, ...], radius: int) -> None:
    rng = np.random.default_rng(7)
    expected = rows_within(counts, radius)
    n = 200 * len(expected)
    weights = np.array(ways(counts, radius), dtype=float)
    rows = np.zeros((n, len(counts)), dtype=int)
    for row, swaps in zip(rows, rng.choice(radius + 1, n, p=weights / weights.sum()), strict=True):
        for position in rng.choice(len(counts), swaps, replace=False):
            row[position] = rng.integers(1, counts[position] + 1)
    seen = Counter(map(tuple, rows.tolist()))
    assert chisquare([seen[row] for row in expected]).pvalue < 1e-12


def test_draws_in_a_long_text_have_the_exact_marginals() -> None:
    """Each position is swapped as often as counting the members that swap it says."""
    counts = tuple(1 + (7 * i) % 50 for i in range(400))
    radius, n = 40, 4000
    rows = draw(counts, radius, n=n, rng=np.random.default_rng(3))
    total = sum(ways(counts, radius))
    for i in (0, 1, 7, 50, 199, 398, 399):
        others = counts[:i] + counts[i + 1 :]
        share = float(Fraction(counts[i] * sum(ways(others, radius - 1)), total))
        spread = (share * (1 - share) / n) ** 0.5
        assert abs((rows[:, i] > 0).mean() - share) < 4.5 * spread
    swaps = np.count_nonzero(rows, axis=1)
    assert swaps.max() <= radius
    assert (rows <= np.array(counts)).all()
    # Nearly all members of such a space have exactly as many swaps as the radius allows.
    at_radius = float(Fraction(ways(counts, radius)[radius], total))
    assert abs((swaps == radius).mean() - at_radius) < 0.03


def test_draws_of_a_long_text_hold_for_every_radius() -> None:
    for radius in (0, 1, 399, 400):
        rows = draw((50,) * 400, radius, n=20, rng=np.random.default_rng(0))
        assert np.count_nonzero(rows, axis=1).max(initial=0) <= radius
        assert rows.min() >= 0
        assert rows.max() <= 50


@given(COUNTS, RADIUS, st.integers(0, 3))
@settings(max_examples=40)
def test_draws_are_members(counts: tuple[int, ...], radius: int, seed: int) -> None:
    rows = draw(counts, radius, n=30, rng=np.random.default_rng(seed))
    assert rows.shape == (30, len(counts))
    assert set(map(tuple, rows.tolist())) <= set(rows_within(counts, radius))


def test_the_same_seed_draws_the_same() -> None:
    one, two = (draw((3, 4, 5), 2, n=50, rng=np.random.default_rng(5)) for _ in range(2))
    assert (one == two).all()


@given(st.lists(st.tuples(st.integers(-2, 300), st.integers(-2, 300)), max_size=8))
def test_rows_have_equal_keys_only_when_equal(pairs: list[tuple[int, int]]) -> None:
    rows = np.array(pairs, dtype=np.int16).reshape(-1, 2)
    keys = row_keys(rows)
    assert len(keys) == len(pairs)
    assert all(
        (keys[i] == keys[j]) == (a == b) for i, a in enumerate(pairs) for j, b in enumerate(pairs)
    )
    assert row_keys(np.asfortranarray(rows)) == keys


def test_rows_without_entries_are_all_one() -> None:
    assert row_keys(np.empty((3, 0), dtype=np.int16)) == [b"", b"", b""]
