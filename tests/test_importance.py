"""Importance: hand-worked values, the flip term, targets, and what is asked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from attack_toys import World, attacked, driven, flip_importance, take, worlds
from unfooled.attacks.deepwordbug import DeepWordBug
from unfooled.belief import Belief
from unfooled.errors import InputError
from unfooled.importance import (
    Importance,
    checked_share,
    importance,
    most_swaps,
    ranked,
    readable,
)
from unfooled.program import Goal
from unfooled.space import DELETED, UNKNOWN, Space

SPACE = Space("a b c", {0: ("x",), 1: ("x",), 2: ("x",)})
ODDS = {
    "abc": (0.5, 0.48, 0.02),
    "?bc": (0.45, 0.5, 0.05),  # falls by 0.05, and the second gains 0.02: 0.07
    "a?c": (0.4, 0.3, 0.3),  # falls by 0.1
    "ab?": (0.3, 0.4, 0.3),  # falls by 0.2, but the second has lost 0.08: 0.12
}


def asked(code: int = UNKNOWN, *, target: int | None = None, flips: bool = True) -> Importance:
    goal = Goal(SPACE, 0, target)
    program = importance(SPACE, goal, code=code, flips=flips)
    return driven(program, SPACE, lambda words: ODDS["".join(words)]).value  # type: ignore[no-any-return]


def test_the_flip_term() -> None:
    found = asked()
    # Values are logarithms of the importance plus 1 - p(x) = 0.5.
    assert np.exp(found.values) - 0.5 == pytest.approx([0.07, 0.1, 0.12])
    assert found.order == [2, 1, 0]
    assert math.exp(found.start) == pytest.approx(0.5)


def test_the_flip_term_can_change_the_order() -> None:
    odds = {"abc": (0.6, 0.3, 0.1), "?bc": (0.45, 0.5, 0.05), "a?c": (0.34, 0.33, 0.33)}
    goal = Goal(SPACE, 0)
    orders = []
    for flips in (True, False):
        program = importance(SPACE, goal, flips=flips, columns=[0, 1])
        orders.append(driven(program, SPACE, lambda words: odds["".join(words)]).value.order)
    assert orders == [[0, 1], [1, 0]]  # 0.15 + 0.2 against 0.26


def test_without_the_flip_term_the_fall_decides() -> None:
    found = asked(flips=False)
    assert np.exp(found.values) - 0.5 == pytest.approx([0.05, 0.1, 0.2])


def test_with_a_target_only_the_target_counts() -> None:
    found = asked(target=1)
    assert np.exp(found.values) == pytest.approx([0.5, 0.3, 0.4])
    assert found.order == [0, 2, 1]


def test_one_question_for_the_original_and_every_probe() -> None:
    run = driven(
        importance(SPACE, Goal(SPACE, 0), code=DELETED), SPACE, lambda words: (len(words), 0.0)
    )
    (question,) = run.questions
    assert question.rows.tolist() == [[0, 0, 0], [-2, 0, 0], [0, -2, 0], [0, 0, -2]]


def test_a_sure_victim_still_tells_words_apart() -> None:
    """1 - p is 1e-15 and less, where p itself is 1 to a float."""
    logits = {"abc": 40.0, "?bc": 38.0, "a?c": 36.0, "ab?": 39.0}
    program = importance(SPACE, Goal(SPACE, 1))
    found = driven(program, SPACE, lambda words: (0.0, logits["".join(words)])).value
    assert found.order == [1, 0, 2]


def test_no_probe_is_an_empty_text() -> None:
    alone = Space("a", {0: ("x",)})
    assert readable(alone, alone.probes(alone.origin, DELETED)).tolist() == [[UNKNOWN]]
    more = Space("a b", {0: ("x",)})  # b stays
    assert readable(more, more.probes(more.origin, DELETED)).tolist() == [[DELETED]]
    two = Space("a b", {0: ("x",), 1: ("x",)})
    assert readable(two, np.full((1, 2), DELETED, np.int16)).tolist() == [[UNKNOWN, DELETED]]
    seen: list[int] = []

    def score(words: object) -> tuple[float, float]:
        seen.append(len(words))  # type: ignore[arg-type]
        return 0.0, 1.0

    attacked(DeepWordBug(), two, score)
    assert 0 not in seen


@pytest.mark.parametrize(
    ("share", "limit", "words", "most"),
    [
        (None, None, 5, 5),
        (None, 2, 5, 2),
        (0.4, None, 5, 2),
        (0.4, None, 4, 1),  # 1.6 down
        (0.4, None, 1, 1),  # never none
        (0.4, 0, 5, 0),
        (0.4, 1, 5, 1),
        (0.6, None, 5, 3),  # 0.6 x 5 is 3.0000000000000004 or 2.9999999999999996
        (0.29, None, 100, 29),
    ],
)
def test_how_many_swaps(share: float | None, limit: int | None, words: int, most: int) -> None:
    space = Space(" ".join(["w"] * words), dict.fromkeys(range(words), ("x",)))
    assert most_swaps(space, Goal(space, 0, max_swaps=limit), share) == most


@pytest.mark.parametrize("share", [0, -0.1, 1.1])
def test_a_share_that_is_none(share: float) -> None:
    with pytest.raises(InputError, match="max_share is a share of the words"):
        checked_share(share, "max_share")


def test_small_differences_of_small_probabilities_are_ranked() -> None:
    of = np.array([1e-9, 3e-9])
    assert ranked(np.array([0.0, 2e-9, 1e-9]), of=of) == [1, 2, 0]
    assert ranked(np.array([0.0, 2e-9, 1e-9]), of=np.array([0.5])) == [0, 1, 2]  # noise


def test_scores_are_read_as_what_they_are() -> None:
    goal = Goal(SPACE, 0)
    odds = np.array([[0.7, 0.2, 0.1]])
    assert Belief.read(goal, odds).odds
    assert not Belief.read(goal, np.log(odds)).odds
    assert not Belief.read(goal, np.array([[0.7, 0.2, 0.1], [2.0, 0.0, 0.0]])).odds
    for scores in (odds, np.log(odds) + 5):
        belief = Belief.read(goal, scores)
        assert np.exp(belief.chance(scores)) == pytest.approx([0.3])
    assert np.exp(Belief.read(Goal(SPACE, 0, target=1), odds).chance(odds)) == pytest.approx([0.2])
    assert np.isfinite(Belief.read(goal, odds).chance(np.array([[1.0, 0.0, 0.0]]))).all()


@given(worlds())
@settings(max_examples=60, deadline=None)
def test_the_order_is_that_of_the_formula(world: World) -> None:
    goal = Goal(world.space, world.label, world.target)
    found = driven(importance(world.space, goal, flips=True), world.space, world.score).value
    assert [world.places[c] for c in found.order] == flip_importance(world)
    deleted = driven(importance(world.space, goal, code=DELETED), world.space, world.score).value
    expected = [world.doubt(take(world.text, i)) for i in world.places]
    assert np.exp(deleted.values) == pytest.approx(expected)
