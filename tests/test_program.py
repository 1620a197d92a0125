"""Goals and the choices that float noise must not change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unfooled.evidence import NOISE, margins, tolerance
from unfooled.program import Goal, are_distributions, better, first_best, leaders
from unfooled.space import UNKNOWN, Space

GAINS = st.lists(st.integers(-5, 5), min_size=1, max_size=12)
"""Gains a whole unit apart, or equal: what noise must neither order nor confuse."""


@pytest.fixture
def space() -> Space:
    return Space("a b c", {0: ("x", "y"), 1: ("x",), 2: ("x",)})


def noisy(values: list[int], seed: int) -> np.ndarray:
    shake = np.random.default_rng(seed).uniform(-1e-7, 1e-7, len(values))
    return np.array(values, dtype=float) + shake


# --- margins ------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.floats(-50, 50), min_size=3, max_size=3), min_size=1), st.integers(0, 2)
)
def test_a_margin_is_the_lead_over_the_best_other(rows: list[list[float]], label: int) -> None:
    scores = np.array(rows)
    expected = [r[label] - max(r[i] for i in range(3) if i != label) for r in rows]
    assert np.allclose(margins(scores, label), expected)
    assert (scores == rows).all()  # the argument is left alone


def test_the_width_of_a_near_tie_grows_with_the_scores() -> None:
    assert tolerance(np.array([[0.1, 0.9], [-300.0, 2.0]])).tolist() == [NOISE, 300 * NOISE]


# --- goals --------------------------------------------------------------------------------------


def test_another_label_meets_the_goal(space: Space) -> None:
    goal = Goal(space, label=1)
    scores = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    rows = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0)], np.int16)
    assert goal.gain(scores).tolist() == pytest.approx([-0.6, 0.2, 0.0])
    assert goal.met(scores, rows).tolist() == [False, True, False]


def test_only_the_target_meets_a_targeted_goal(space: Space) -> None:
    goal = Goal(space, label=0, target=2)
    scores = np.array([[0.1, 0.7, 0.2], [0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    rows = np.array([(1, 0, 0)] * 3, np.int16)
    assert goal.met(scores, rows).tolist() == [False, True, False]
    assert goal.gain(scores).tolist() == pytest.approx([-0.5, 0.5, -0.7])


def test_log_odds_are_those_of_the_goal_for_any_kind_of_scores(space: Space) -> None:
    shares = np.array([[0.1, 0.7, 0.2], [0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    assert are_distributions(shares)
    assert not are_distributions(np.log(shares))
    assert not are_distributions(2 * shares)
    for goal, chance in (
        (Goal(space, label=1), 1 - shares[:, 1]),
        (Goal(space, label=0, target=2), shares[:, 2]),
    ):
        expected = pytest.approx(np.log(chance / (1 - chance)))
        assert goal.log_odds(shares, distributions=True) == expected
        assert goal.log_odds(np.log(shares), distributions=False) == expected
        assert goal.log_odds(np.log(shares) + 5.0, distributions=False) == expected  # logits


@pytest.mark.parametrize(("lead", "met"), [(0.5, False), (0.9, False), (1.1, True), (2.0, True)])
def test_a_near_tie_fools_nobody(space: Space, lead: float, met: bool) -> None:
    for scale in (1.0, 100.0):
        scores = np.array([[scale + lead * NOISE * scale, scale]])
        assert Goal(space, label=1).met(scores, space.rows((1, 0, 0))).tolist() == [met]


@pytest.mark.parametrize(
    ("row", "limit", "met"),
    [
        ((1, 1, 0), 2, True),
        ((1, 1, 0), 1, False),
        ((1, 0, 0), 1, True),
        ((1, 0, 0), 0, False),
        ((0, 0, 0), 0, True),
        ((1, 1, 1), None, True),
        ((3, 0, 0), None, False),  # no such candidate
        ((UNKNOWN, 0, 0), None, False),  # a probe
    ],
)
def test_rows_over_the_limit_or_outside_do_not_count(
    space: Space, row: tuple[int, ...], limit: int | None, met: bool
) -> None:
    goal = Goal(space, label=1, max_swaps=limit)
    assert goal.met(np.array([[5.0, 0.0]]), np.array([row], np.int16)).tolist() == [met]


# --- choices that noise must not change ---------------------------------------------------------


@given(GAINS, st.integers(0, 100))
def test_the_first_of_the_best_whatever_the_noise(values: list[int], seed: int) -> None:
    assert first_best(noisy(values, seed)) == values.index(max(values))


@given(GAINS, st.integers(0, 14), st.integers(0, 100))
def test_leaders_go_by_value_and_then_by_index(values: list[int], k: int, seed: int) -> None:
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert leaders(noisy(values, seed), k) == expected


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_better_needs_more_than_noise(one: float, two: float) -> None:
    width = NOISE * max(1.0, abs(two))
    assume(abs(abs(one - two) - width) > 1e-9 * max(1.0, abs(two)))
    assert better(one, two) == (one - two > width)
    assert not better(one, one)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30))
def test_the_first_of_the_best_is_as_good_as_the_best(values: list[float]) -> None:
    chosen = values[first_best(np.array(values))]
    assert not better(max(values), chosen + 1e-9)


@given(st.lists(st.floats(-100, 100), max_size=30))
def test_all_leaders_are_a_permutation(values: list[float]) -> None:
    assert sorted(leaders(np.array(values, dtype=float), len(values))) == list(range(len(values)))
