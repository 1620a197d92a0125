"""Regions: together every member once, no more than allowed, in the order of the sweep."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.sweeps.regions import Pick, Region, Regions, Span

weights = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), max_size=6)


def brute_force(found: list[list[int]], swaps: int) -> dict[frozenset[Pick], int]:
    """Every text with so many swaps, and how many members it stands for."""
    texts = {}
    for columns in combinations(range(len(found)), swaps):
        for choice in product(*(range(len(found[c])) for c in columns)):
            picks = frozenset(map(Pick, columns, choice))
            texts[picks] = prod(found[c][k] for c, k in picks)
    return texts


def texts_of(regions: Regions, region: Region) -> list[frozenset[Pick]]:
    """The texts of a region with any number of free swaps, by definition."""
    forced = [[Pick(c, k) for k in range(a, b)] for c, a, b in region.forced]
    found = []
    for columns in combinations(range(region.first, region.last), region.free):
        free = [[Pick(c, k) for k in range(regions.counts[c])] for c in columns]
        found += [frozenset(picks) for picks in product(*forced, *free)]
    return found


@settings(max_examples=150, deadline=None)
@given(weights, st.integers(0, 4), st.integers(1, 40), st.integers(1, 4))
def test_every_member_is_in_one_region(
    found: list[list[int]], swaps: int, most: int, most_free: int
) -> None:
    regions, wanted = Regions(found, swaps), brute_force(found, swaps)
    seen: list[frozenset[Pick]] = []
    for region in regions.walk(most=most, most_free=most_free, limit=None):
        texts = texts_of(regions, region)
        assert regions.texts(region) == len(texts) <= most
        assert region.free <= most_free
        assert regions.members(region) == sum(wanted[t] for t in texts)
        if region.free <= 1:
            listed = [frozenset(regions.picks(region, i)) for i in range(len(texts))]
            assert sorted(map(sorted, listed)) == sorted(map(sorted, texts))
        seen += texts
    assert len(seen) == len(set(seen))
    assert set(seen) == set(wanted)


@settings(max_examples=100, deadline=None)
@given(weights, st.integers(0, 3), st.integers(0, 30))
def test_a_limit_keeps_a_prefix(found: list[list[int]], swaps: int, limit: int) -> None:
    regions = Regions(found, swaps)
    whole = list(regions.walk(most=1, most_free=1, limit=None))
    kept = [
        text
        for region in regions.walk(most=8, most_free=1, limit=limit)
        for text in texts_of(regions, region)
    ]
    wanted = brute_force(found, swaps)
    cost = sum(wanted[t] for t in kept)
    assert cost <= limit
    if len(kept) < len(wanted):  # only a text that stands for several members can be too dear
        heaviest = max(wanted.values())
        assert limit - cost < heaviest
    else:
        assert len(kept) == len(whole)


def test_sensitive_columns_come_first() -> None:
    regions = Regions([[1, 1]] * 5, 2)
    firsts = [
        min(p.column for p in texts_of(regions, r)[0])
        for r in regions.walk(most=4, most_free=1, limit=None)
    ]
    assert firsts == sorted(firsts)
    assert regions.root == Region((), 2, 0, 5)


def test_halves_of_forced_spans() -> None:
    regions = Regions([[1] * 4, [1] * 3], 2)
    whole = Region((Span(0, 0, 4), Span(1, 0, 3)), 0, 2, 2)
    assert [r.forced[0] for r in regions.halves(whole)] == [Span(0, 0, 2), Span(0, 2, 4)]
    one = Region((Span(0, 1, 2), Span(1, 2, 3)), 0, 2, 2)
    assert regions.halves(one) == []
    assert regions.picks(one, 0) == [Pick(0, 1), Pick(1, 2)]
