"""Greedy: a worked example, its limits, and what it may not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.attacks.greedy import METHOD, Greedy
from unfooled.program import Goal
from unfooled.space import Space
from victim_doubles import (
    Double,
    attacking,
    constant,
    least_swaps,
    linear,
    rule,
    scores_of,
    solve,
)

WEIGHTS = {"really": 0.1, "good": 1.0, "fine": 0.6, "poor": -0.5, "film": 0.8, "movie": 0.3}
WEIGHTS |= {"flick": -0.4, "truly": 0.2, "okay": 0.0}


@pytest.fixture
def space() -> Space:
    """Scores 0.1 + 1.0 + 0.8; saliency good, film, really."""
    return Space(
        "really good film", {0: ("truly",), 1: ("fine", "poor", "okay"), 2: ("movie", "flick")}
    )


def found(space: Space, victim: Double, **limits: object) -> tuple[int, ...] | None:
    (result,) = solve(victim, [attacking(Greedy(), space, **limits)]).values()
    assert result.error is None, result.traceback
    return None if result.value is None else tuple(result.value.tolist())


def test_the_file_is_the_attack() -> None:
    assert METHOD is Greedy


def test_worked_example(space: Space) -> None:
    """good -> poor leaves 0.4; film -> flick leaves -0.8: fooled after two swaps."""
    victim = Double(linear(WEIGHTS))
    (result,) = solve(victim, [attacking(Greedy(), space)]).values()
    assert result.value.tolist() == [0, 2, 2]
    assert str(space.text(result.value)) == "really poor flick"
    # The original, three probes, three candidates for good, two for film.
    assert result.queries == 1 + 3 + 3 + 2
    assert result.forwards == 9


def test_positions_go_by_saliency_and_not_by_order() -> None:
    space = Space("good film", {0: ("poor",), 1: ("flick",)})
    victim = Double(linear({"good": 0.1, "poor": -5.0, "film": 1.0, "flick": -5.0}))
    assert found(space, victim) == (0, 1)  # either would do; film matters more


def test_a_candidate_that_gains_nothing_is_not_taken() -> None:
    space = Space("dull film", {0: ("great",), 1: ("flick",)})
    victim = Double(linear({"dull": 2.0, "great": 3.0, "film": 1.0, "flick": -2.5}))
    assert found(space, victim) == (0, 1)


def test_a_swap_that_changes_nothing_is_not_taken() -> None:
    space = Space("grey film", {0: ("gray",), 1: ("flick",)})
    victim = Double(linear({"grey": 1.0, "gray": 1.0, "film": 0.5, "flick": -1.5}))
    assert found(space, victim) == (0, 1)


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, None), (1, None), (2, (0, 2, 2)), (3, (0, 2, 2))]
)
def test_the_limit_of_swaps(space: Space, limit: int, expected: object) -> None:
    assert found(space, Double(linear(WEIGHTS)), max_swaps=limit) == expected


def test_targeted() -> None:
    """Three classes: the way to class 2 is not the way to class 1."""
    space = Space("red", {0: ("green", "blue")})
    table = {"red": (1.0, 0.2, 0.0), "green": (0.0, 1.0, 0.3), "blue": (0.5, 0.0, 0.6)}
    victim = Double(lambda words: table.get(words[0], (0.0, 0.0, 0.0)), classes=3)
    assert found(space, victim, label=0) == (1,)
    assert found(space, victim, label=0, target=1) == (1,)
    assert found(space, victim, label=0, target=2) == (2,)
    assert found(Space("red", {0: ("green",)}), victim, label=0, target=2) is None


def test_a_near_tie_is_not_reported() -> None:
    space = Space("good", {0: ("even",)})
    assert found(space, Double(linear({"good": 1.0, "even": -5e-6}))) is None
    assert found(space, Double(linear({"good": 1.0, "even": -5e-5}))) == (1,)


def test_a_victim_that_cannot_be_fooled(space: Space) -> None:
    assert found(space, Double(constant())) is None


def test_a_rule_that_needs_two_words_at_once_stays_hidden() -> None:
    """No single swap gains, so greedy finds nothing: it is no certificate."""
    space = Space("a b", {0: ("x",), 1: ("y",)})
    assert found(space, Double(rule("x", "y"))) is None


@pytest.mark.parametrize("text", ["", "just words"])
def test_without_candidates(text: str) -> None:
    (result,) = solve(Double(constant()), [attacking(Greedy(), Space(text, {}))]).values()
    assert (result.value, result.queries, result.error) == (None, 0, None)


def test_it_asks_for_the_original_once(space: Space) -> None:
    asked = Greedy().search(space, Goal(space, 1), np.random.default_rng(0))
    first = next(asked)
    assert first.rows.tolist() == [[0, 0, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1]]  # type: ignore[union-attr]
    assert type(first) is type(scores_of((0,)))


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.lists(st.integers(-20, 20), min_size=30, max_size=30),
    st.none() | st.integers(0, 4),
)
@settings(max_examples=60, deadline=None)
def test_what_it_reports_is_true_and_no_better_than_the_truth(
    counts: list[int], values: list[int], limit: int | None
) -> None:
    space = Space(
        " ".join(f"w{i}" for i in range(len(counts))),
        {i: [f"c{i}{k}" for k in range(n)] for i, n in enumerate(counts)},
    )
    names = sorted({*space.original.words, *(c for found in space.candidates for c in found)})
    weights = {word: value / 7 for word, value in zip(names, values, strict=False)}
    victim = Double(linear(weights, bias=3.0))
    goal = Goal(space, 1, max_swaps=limit)
    row = found(space, victim, max_swaps=limit)
    least = least_swaps(space, victim, goal)
    if row is not None:
        rows = space.rows(row)
        assert goal.met(victim.scores(space.sources(rows)), rows).all()
        assert least is not None
        assert least <= int(space.swaps(row))  # type: ignore[arg-type]
    assert not (least is None and row is not None)
