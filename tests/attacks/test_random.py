"""Random search: uniform draws, fewer swaps after each success, its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unfooled.attacks.random import METHOD, Random
from unfooled.errors import InputError
from unfooled.program import Goal, Scores, Spent
from unfooled.space import Space
from victim_doubles import Double, attacking, constant, least_swaps, linear, rule, solve

SPACE = Space("a b c", {0: ("x", "u"), 1: ("y",), 2: ("z",)})


def result_of(victim: Double, attack: Random, space: Space = SPACE, **limits: Any) -> Any:
    (result,) = solve(victim, [attacking(attack, space, **limits)]).values()
    assert result.error is None, result.traceback
    return result


def test_the_file_is_the_attack() -> None:
    assert METHOD is Random
    import random

    assert random.Random().random() < 1  # the standard library is what it was


def test_draws_are_uniform_within_the_limit() -> None:
    program = Random(draws=6400).search(
        SPACE, Goal(SPACE, 1, max_swaps=2), np.random.default_rng(2)
    )
    seen: list[tuple[int, ...]] = []
    unmoved = np.tile([0.0, 1.0], (64, 1))
    question = next(program)
    for _ in range(6400 // 64 - 1):
        assert isinstance(question, Scores)
        seen += map(tuple, question.rows.tolist())
        question = program.send(unmoved)
    seen += map(tuple, question.rows.tolist())  # type: ignore[union-attr]
    with pytest.raises(StopIteration):
        program.send(unmoved)
    assert len(seen) == 6400
    members = [tuple(r) for rows in SPACE.enumerate(2) for r in rows.tolist()]
    assert set(seen) == set(members)
    assert stats.chisquare([seen.count(m) for m in members]).pvalue > 1e-3


def test_after_a_success_fewer_swaps_are_drawn() -> None:
    program = Random().search(SPACE, Goal(SPACE, 1), np.random.default_rng(0))
    rows = next(program).rows  # type: ignore[union-attr]
    scores = np.tile([0.0, 1.0], (len(rows), 1))
    three = np.count_nonzero(rows, axis=1) == 3
    scores[three] = [1.0, 0.0]
    assert three.any()
    assert np.count_nonzero(program.send(scores).rows, axis=1).max() == 2  # type: ignore


def test_a_single_swap_ends_the_search() -> None:
    result = result_of(Double(rule("z")), Random(draws=10**6))
    assert result.value.tolist() == [0, 0, 1]
    assert result.queries < 1000


def test_the_highest_gain_among_the_fewest_swaps() -> None:
    space = Space("good", {0: ("poor", "dire", "bad")})
    victim = Double(linear({"good": 1.0, "poor": -1.0, "dire": -3.0, "bad": -2.0}))
    assert result_of(victim, Random(), space).value.tolist() == [2]


def test_no_more_than_so_many_draws() -> None:
    for draws in (1, 63, 64, 65, 200):
        assert result_of(Double(constant()), Random(draws)).queries == draws


@pytest.mark.parametrize(("limit", "swaps"), [(0, None), (1, None), (2, 2), (3, 2)])
def test_the_limit_of_swaps(limit: int, swaps: int | None) -> None:
    value = result_of(Double(rule("x", "y")), Random(), max_swaps=limit).value
    assert (None if value is None else np.count_nonzero(value)) == swaps


def test_what_was_found_before_the_budget_ended_is_returned() -> None:
    program = Random().search(SPACE, Goal(SPACE, 1), np.random.default_rng(0))
    rows = next(program).rows  # type: ignore[union-attr]
    several = np.count_nonzero(rows, axis=1) > 1
    program.send(np.where(several[:, None], [1.0, 0.0], [0.0, 1.0]))
    with pytest.raises(StopIteration) as stop:
        program.throw(Spent(rows[:0], np.empty((0, 2))))
    assert np.count_nonzero(stop.value.value) == 2


@pytest.mark.parametrize("text", ["", "just words"])
def test_without_candidates(text: str) -> None:
    result = result_of(Double(constant()), Random(), Space(text, {}))
    assert (result.value, result.queries) == (None, 0)


@pytest.mark.parametrize("draws", [0, -2])
def test_at_least_one_draw(draws: int) -> None:
    with pytest.raises(InputError, match=f"1 or more, not {draws}"):
        Random(draws)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.integers(-20, 20), min_size=20, max_size=20),
    st.none() | st.integers(1, 3),
)
@settings(max_examples=30, deadline=None)
def test_enough_draws_find_the_minimum_of_a_small_space(
    counts: list[int], values: list[int], limit: int | None
) -> None:
    space = Space(
        " ".join(f"w{i}" for i in range(len(counts))),
        {i: [f"c{i}{k}" for k in range(n)] for i, n in enumerate(counts)},
    )
    names = sorted({*space.original.words, *(c for found in space.candidates for c in found)})
    weights = {w: v / 7 for w, v in zip(names, values, strict=False)}
    victim = Double(linear(weights, bias=3.0))
    least = least_swaps(space, victim, Goal(space, 1, max_swaps=limit))
    value = result_of(victim, Random(4000), space, max_swaps=limit).value
    if least != 0:  # 64 texts at most: 4,000 draws miss one with probability e^-62
        assert (None if value is None else np.count_nonzero(value)) == least
