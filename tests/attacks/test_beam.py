"""Beam: worked examples, the exact minimum when it is wide enough, its limits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.attacks.beam import METHOD, Beam
from unfooled.attacks.greedy import Greedy
from unfooled.errors import InputError
from unfooled.program import Goal
from unfooled.space import Space
from victim_doubles import Double, attacking, constant, least_swaps, linear, rule, solve


def found(
    space: Space, victim: Double, *, width: int = 4, **limits: object
) -> tuple[int, ...] | None:
    (result,) = solve(victim, [attacking(Beam(width), space, **limits)]).values()
    assert result.error is None, result.traceback
    return None if result.value is None else tuple(result.value.tolist())


def test_the_file_is_the_attack() -> None:
    assert METHOD is Beam
    assert Beam().width == 4


def test_worked_example() -> None:
    """The best first swap leads nowhere; the second best leads to the flip."""
    table = {
        ("a", "b"): 3.0,
        ("x", "b"): 1.0,  # the best single swap
        ("a", "y"): 2.0,
        ("a", "z"): 2.5,
        ("x", "y"): 1.0,  # nothing more to gain behind it
        ("x", "z"): 1.0,
        ("u", "y"): -1.0,  # behind the second and third best
        ("u", "z"): 0.5,
        ("u", "b"): 2.8,
    }
    space = Space("a b", {0: ("x", "u"), 1: ("y", "z")})
    victim = Double(lambda words: (0.0, table[tuple(words)]))  # type: ignore[index]
    assert found(space, victim, width=1) is None  # x, then x with y or z
    assert found(space, victim, width=2) == (2, 1)


def test_questions_of_the_worked_example() -> None:
    space = Space("a b", {0: ("x", "u"), 1: ("y", "z")})
    (result,) = solve(Double(constant()), [attacking(Beam(2), space)]).values()
    # Four single swaps; the two kept (both at the first word, by index) have two more each.
    assert (result.value, result.queries, result.forwards) == (None, 4 + 4, 8)


def test_rows_reached_in_two_ways_are_asked_for_once() -> None:
    space = Space("a b", {0: ("x",), 1: ("y",)})
    (result,) = solve(Double(constant()), [attacking(Beam(9), space)]).values()
    assert result.queries == 2 + 1


def test_the_highest_gain_among_the_fooling_ones() -> None:
    space = Space("good", {0: ("poor", "dire", "bad")})
    victim = Double(linear({"good": 1.0, "poor": -1.0, "dire": -3.0, "bad": -2.0}))
    assert found(space, victim) == (2,)


def test_words_that_only_work_together() -> None:
    space = Space("a b c", {0: ("x",), 1: ("y",), 2: ("z",)})
    assert found(space, Double(rule("x", "z")), width=8) == (1, 0, 1)


@pytest.mark.parametrize(("limit", "expected"), [(0, None), (1, None), (2, (1, 1)), (9, (1, 1))])
def test_the_limit_of_swaps(limit: int, expected: object) -> None:
    space = Space("a b", {0: ("x",), 1: ("y",)})
    assert found(space, Double(rule("x", "y")), max_swaps=limit) == expected


def test_targeted() -> None:
    space = Space("red", {0: ("green", "blue")})
    table = {"red": (1.0, 0.2, 0.0), "green": (0.0, 1.0, 0.3), "blue": (0.5, 0.0, 0.6)}
    victim = Double(lambda words: table[words[0]], classes=3)
    assert found(space, victim, label=0, target=1) == (1,)
    assert found(space, victim, label=0, target=2) == (2,)
    assert found(Space("red", {0: ("green",)}), victim, label=0, target=2) is None


@pytest.mark.parametrize("text", ["", "just words"])
def test_without_candidates(text: str) -> None:
    (result,) = solve(Double(constant()), [attacking(Beam(), Space(text, {}))]).values()
    assert (result.value, result.queries, result.error) == (None, 0, None)


@pytest.mark.parametrize("width", [0, -3])
def test_a_beam_has_a_width(width: int) -> None:
    with pytest.raises(InputError, match=f"at least 1, not {width}"):
        Beam(width)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.lists(st.integers(-20, 20), min_size=30, max_size=30),
    st.none() | st.integers(0, 4),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_a_beam_as_wide_as_the_space_finds_the_minimum(
    counts: list[int], values: list[int], limit: int | None, product: bool
) -> None:
    space = Space(
        " ".join(f"w{i}" for i in range(len(counts))),
        {i: [f"c{i}{k}" for k in range(n)] for i, n in enumerate(counts)},
    )
    names = sorted({*space.original.words, *(c for found in space.candidates for c in found)})
    weights = {word: value / 7 for word, value in zip(names, values, strict=False)}
    score = linear(weights, bias=3.0)
    # A score in which single swaps say nothing about several of them.
    tangled = Double(lambda words: (0.0, score(words)[1] * 7 % 5 - 1.5))
    victim = tangled if product else Double(score)
    goal = Goal(space, 1, max_swaps=limit)
    least = least_swaps(space, victim, goal)
    row = found(space, victim, width=10**6, max_swaps=limit)
    if least == 0:
        return  # the original is not of the class it should be: nothing to attack
    assert (None if row is None else space.swaps(row)) == least
    (greedy,) = solve(victim, [attacking(Greedy(), space, max_swaps=limit)]).values()
    if greedy.value is not None:
        assert least is not None
        assert least <= space.swaps(greedy.value)
