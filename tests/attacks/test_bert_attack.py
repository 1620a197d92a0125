"""BERT-Attack: the first candidate that fools, the share of the words, and a plain oracle."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_toys import World, attacked, first_max, flip_importance, put, row_of, worlds
from unfooled.attacks.bert_attack import METHOD, BertAttack
from unfooled.errors import InputError
from unfooled.space import Space
from victim_doubles import Double, attacking, linear, solve

WEIGHTS = {"really": 0.1, "good": 1.0, "fine": 0.6, "poor": -0.5, "film": 0.8, "movie": 0.3}
WEIGHTS |= {"flick": -0.4, "truly": 0.2, "okay": 0.0}


@pytest.fixture
def space() -> Space:
    return Space(
        "really good film", {0: ("truly",), 1: ("fine", "poor", "okay"), 2: ("movie", "flick")}
    )


def test_the_file_is_the_attack() -> None:
    assert METHOD is BertAttack


def test_worked_example(space: Space) -> None:
    """good -> poor leaves 0.4; then movie leaves -0.1 and flick -0.8: movie comes first."""
    victim = Double(linear(WEIGHTS))
    (result,) = solve(victim, [attacking(BertAttack(max_share=None), space)]).values()
    assert result.value.tolist() == [0, 2, 1]
    assert (result.queries, result.forwards) == (1 + 3 + 3 + 2, 9)


def test_a_swap_must_improve_the_current_text() -> None:
    """Unlike TextFooler, whose film -> movie is better than the original and taken."""
    weights = {"good": 2.0, "poor": -0.2, "film": 1.0, "movie": 1.5, "night": 0.5, "day": -1.4}
    space = Space("good film night", {0: ("poor",), 1: ("movie",), 2: ("day",)})
    assert row_of(attacked(BertAttack(max_share=None), space, linear(weights))) == [1, 0, 1]


def test_a_word_whose_loss_changes_the_label_goes_first() -> None:
    """Without a, p falls by 0.15 and the second label gains 0.2; without b, p falls by 0.26."""
    odds = {"a b": (0.6, 0.3, 0.1), "? b": (0.45, 0.5, 0.05), "a ?": (0.34, 0.33, 0.33)}
    space = Space("a b", {0: ("x",), 1: ("y",)})
    run = attacked(
        BertAttack(), space, lambda words: odds.get(" ".join(words), (0.6, 0.3, 0.1)), label=0
    )
    assert [q.rows.tolist() for q in run.questions[1:]] == [[[1, 0]], [[0, 1]]]


@pytest.mark.parametrize(
    ("words", "needed", "found"),
    [
        *[(5, 2, True), (5, 3, False), (7, 2, True), (7, 3, False), (10, 4, True), (10, 5, False)],
        *[(1, 1, True), (2, 1, True), (2, 2, False)],
    ],
)
def test_at_the_border_of_the_share(words: int, needed: int, found: bool) -> None:
    """floor(0.4 n), one at least; the authors' code lets one more through."""
    space = Space(" ".join(["a"] * words), dict.fromkeys(range(words), ("x",)))
    score = linear({"a": 0.0, "x": -1.0}, bias=needed - 0.5)
    row = row_of(attacked(BertAttack(), space, score))
    assert (row is not None) == found
    assert row is None or sum(row) == needed
    assert row_of(attacked(BertAttack(max_share=None), space, score)) is not None


def test_the_limit_of_the_goal_counts_too() -> None:
    space = Space("a a a a a", dict.fromkeys(range(5), ("x",)))
    score = linear({"x": -1.0}, bias=1.5)
    assert row_of(attacked(BertAttack(), space, score, max_swaps=1)) is None
    assert row_of(attacked(BertAttack(), space, score, max_swaps=2)) is not None


def test_the_last_word_is_ranked_too() -> None:
    space = Space("good film", {1: ("flick",)})
    score = linear({"good": 0.1, "film": 1.0, "flick": -2.0})
    assert row_of(attacked(BertAttack(), space, score)) == [1]


def test_a_share_that_makes_no_sense() -> None:
    with pytest.raises(InputError, match="max_share is a share of the words above 0"):
        BertAttack(max_share=1.5)


def oracle(world: World, share: float | None) -> list[str] | None:
    """The authors' loop, one text at a time."""
    text, now, changed = world.text, world.doubt(world.text), 0
    most = world.most if share is None else min(world.most, max(1, int(share * len(text))))
    for i in flip_importance(world):
        if changed == most:
            return None
        tried = [put(text, i, word) for word in world.options[i]]
        for new in tried:
            if world.fooled(new):
                return new
        doubts = [math.log(world.doubt(new)) for new in tried]
        best, floor = first_max(doubts), math.log(now)
        if doubts[best] > floor + 1e-5 * max(1, abs(floor)):
            text, now, changed = tried[best], world.doubt(tried[best]), changed + 1
    return None


@given(worlds(), st.sampled_from([None, 0.4, 0.5]))
@settings(max_examples=150, deadline=None)
def test_as_a_plain_loop_does_it(world: World, share: float | None) -> None:
    run = attacked(BertAttack(max_share=share), world.space, world.score, **world.limits)
    assert row_of(run) == world.row(oracle(world, share))
