"""AUA and MMWS: the paper's figures where all is decided, intervals that hold where it is not."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.evidence import Bracket
from unfooled.least import NOTHING, accuracy_under_attack, mean_minimum_swaps, proved_whole


def bracket(lower: float, upper: float | None) -> Bracket:
    found = Bracket.original()
    if lower > 1:
        found = found.proved(lower - 1, "a proof")
    return found if upper in (None, math.inf) else found.attacked(int(upper or 0), "an attack")


def test_the_figures_by_hand() -> None:
    known = [bracket(2, 2), bracket(4, 4), bracket(math.inf, math.inf), None]
    assert accuracy_under_attack(known) == (0.25, 0.25)
    assert accuracy_under_attack(known, 1) == (0.75, 0.75)
    assert accuracy_under_attack(known, 2) == (0.5, 0.5)
    held = [b for b in known if b is not None]
    assert mean_minimum_swaps(held, [9, 9, 9]) == (3, 3)
    assert proved_whole(held) == pytest.approx((1 / 3, 1 / 3))


def test_undecided_texts_widen_the_interval() -> None:
    held = [bracket(2, 4), bracket(2, None)]  # the second: robust, or m from 2 to 5
    assert accuracy_under_attack(held) == (0, 0.5)
    assert mean_minimum_swaps(held, [5, 5]) == (2, 4.5)
    assert mean_minimum_swaps(held, [5, math.inf]) == (2, math.inf)
    assert proved_whole(held) == (0, 0.5)


def test_a_text_that_failed_may_be_anything() -> None:
    assert accuracy_under_attack([bracket(1, 1), NOTHING], 3) == (0, 0.5)
    assert mean_minimum_swaps([bracket(2, 2), NOTHING], [9, math.inf]) == (1.5, math.inf)


def test_nothing_to_average() -> None:
    assert accuracy_under_attack([]) is None
    assert mean_minimum_swaps([bracket(math.inf, math.inf), bracket(2, None)], [3, 3]) is None
    assert proved_whole([]) is None


def truths(lower: float, upper: float | None, most: int) -> list[float]:
    """All that m may be."""
    if lower == math.inf:
        return [math.inf]
    if upper is None:
        return [*range(int(lower), most + 1), math.inf]
    return [float(m) for m in range(int(lower), int(upper) + 1)]


pieces = st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3))


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, min_size=1, max_size=4))
def test_intervals_are_the_extremes_over_all_truths(given: list[tuple[int, int, int, int]]) -> None:
    brackets, most, possible = [], [], []
    for lower, more, beyond, kind in given:
        low, high = {
            0: (math.inf, math.inf),
            1: (lower, None),
            2: (lower, lower),
            3: (lower, lower + more),
        }[kind]
        brackets.append(bracket(low, high))
        most.append(lower + more + beyond)
        possible.append(truths(low, high, most[-1]))
    means, shares = [], []
    for truth in itertools.product(*possible):
        finite = [m for m in truth if m != math.inf]
        if finite:
            means.append(sum(finite) / len(finite))
        shares.append(sum(m > 2 for m in truth) / len(truth))
    assert accuracy_under_attack(brackets, 2) == pytest.approx((min(shares), max(shares)))
    found = mean_minimum_swaps(brackets, most)
    if found is not None:
        assert found == pytest.approx((min(means), max(means)))
