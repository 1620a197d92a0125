"""DeepWordBug: the scoring functions worked out by hand, the limit of edits, and a plain oracle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_toys import World, attacked, first_max, in_order, put, row_of, take, worlds
from unfooled.attacks.deepwordbug import METHOD, DeepWordBug, Scoring
from unfooled.errors import InputError
from unfooled.lexicon.edits import distance
from unfooled.space import Space
from victim_doubles import Double, attacking, linear, solve

# p of every text that heads, tails and replace-one ask for.
TABLE = {"a b c": 0.9, "?": 0.5, "a": 0.6, "a b": 0.9, "b c": 0.7, "c": 0.65}
TABLE |= {"? b c": 0.8, "a ? c": 0.85, "a b ?": 0.6}
SPACE = Space("a b c", {0: ("x",), 1: ("x",), 2: ("x",)})


def by_table(words: Any) -> tuple[float, float]:
    p = TABLE.get(" ".join(words), 0.9)
    return 1 - p, p


def order(**options: Any) -> list[int]:
    """Which columns are swapped one after the other, when nothing ever fools."""
    run = attacked(DeepWordBug(**options), SPACE, by_table)
    rows = [q.rows[0].tolist() for q in run.questions[1:]]
    return [
        int(np.flatnonzero(np.subtract(b, a))[0])
        for a, b in zip([[0] * 3, *rows], rows, strict=False)
    ]


def test_the_file_is_the_attack() -> None:
    assert METHOD is DeepWordBug


@pytest.mark.parametrize(
    ("scoring", "weight", "expected", "queries"),
    [
        # 0.6 - 0.5, 0.9 - 0.6, 0.9 - 0.9
        ("head", 1.0, [1, 0, 2], 4),
        # 0.9 - 0.7, 0.7 - 0.65, 0.65 - 0.5
        ("tail", 1.0, [0, 2, 1], 4),
        # 0.3, 0.35, 0.15
        ("combined", 1.0, [1, 0, 2], 6),
        # 0.1 + 0.6, 0.3 + 0.15, 0 + 0.45: a first, then a tie
        ("combined", 3.0, [0, 1, 2], 6),
        ("combined", 0.0, [1, 0, 2], 6),
        # 0.1, 0.05, 0.3
        ("replace-one", 1.0, [2, 0, 1], 4),
    ],
)
def test_the_scoring_functions(
    scoring: Scoring, weight: float, expected: list[int], queries: int
) -> None:
    assert order(scoring=scoring, tail_weight=weight) == expected
    run = attacked(DeepWordBug(scoring, tail_weight=weight), SPACE, by_table)
    assert len(run.questions[0].rows) == queries


def test_worked_example() -> None:
    """The best edit of each word, whether or not it helps, until the label changes."""
    weights = {"good": 1.0, "g00d": 0.4, "goood": -0.1, "film": 0.8, "flim": -0.1, "very": 0.1}
    space = Space("very good film", {0: ("vry",), 1: ("g00d", "goood"), 2: ("flim",)})
    victim = Double(linear(weights))
    (result,) = solve(victim, [attacking(DeepWordBug(scoring="replace-one"), space)]).values()
    assert result.value.tolist() == [0, 2, 1]
    assert (result.queries, result.forwards) == (1 + 3 + 2 + 1, 7)


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, None), (2, None), (3, [0, 2, 1]), (30, [0, 2, 1])]
)
def test_the_limit_of_edits(limit: int, expected: object) -> None:
    """goood costs 1, flim 2; g00d costs 2 and is not affordable with 1."""
    weights = {"good": 1.0, "g00d": 0.4, "goood": -0.1, "film": 0.8, "flim": -0.1, "very": 0.1}
    space = Space("very good film", {0: ("vry",), 1: ("g00d", "goood"), 2: ("flim",)})
    attack = DeepWordBug(scoring="replace-one", max_edits=limit)
    assert row_of(attacked(attack, space, linear(weights))) == expected


def test_only_what_can_be_afforded_is_asked_for() -> None:
    space = Space("good film", {0: ("g00d", "goood"), 1: ("flim",)})
    score = linear({"good": 1.0, "film": 0.5, "g00d": 0.1, "goood": 0.9, "flim": 0.4})
    run = attacked(DeepWordBug(scoring="replace-one", max_edits=1), space, score)
    assert [q.rows.tolist() for q in run.questions[1:]] == [[[2, 0]]]  # flim is too dear then


def test_a_drawn_edit_is_one_query_and_depends_on_the_seed() -> None:
    space = Space("good", {0: ("gd", "go0d", "goood", "g ood")})
    attack = DeepWordBug(candidate="drawn")
    runs = [attacked(attack, space, linear({"good": 1.0}, 1.0), seed=s) for s in range(20)]
    drawn = [q.rows.tolist() for run in runs for q in run.questions[1:]]
    assert all(len(rows) == 1 for rows in drawn)
    assert {rows[0][0] for rows in drawn} == {1, 2, 3, 4}
    again = attacked(attack, space, linear({"good": 1.0}, 1.0), seed=3)
    assert again.questions[1].rows.tolist() == drawn[3]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"scoring": "all"}, "scoring is combined, head, tail or replace-one"),
        ({"candidate": "worst"}, "candidate is best or drawn"),
        ({"max_edits": -1}, "max_edits is 0 or more"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        DeepWordBug(**options)


# --- the plain oracle ---------------------------------------------------------------------------


def oracle(world: World, *, scoring: str, weight: float, edits: int) -> list[str] | None:
    """The paper's loop, one text at a time, with an end at the first text that fools."""
    text, changed, left, values = world.text, 0, edits, {}

    def p(words: list[str]) -> float:
        return 1 - world.doubt(words)

    for i in world.places:
        later = [j for j in world.places if j > i]
        earlier = [j for j in world.places if j < i]
        head = p(take(text, *later)) - p(take(text, *later, i))
        tail = p(take(text, *earlier)) - p(take(text, *earlier, i))
        one = p(text) - p(put(text, i, "?"))
        values[i] = {"head": head, "tail": tail, "combined": head + weight * tail}.get(scoring, one)
    for i in in_order(values):
        cost = {word: distance(world.text[i], word) for word in world.options[i]}
        tried = [put(text, i, word) for word in cost if cost[word] <= left]
        if tried and changed < world.most:
            text = tried[first_max([math.log(world.doubt(new)) for new in tried])]
            left, changed = left - cost[text[i]], changed + 1
            if world.fooled(text):
                return text
    return None


@given(
    worlds(),
    st.sampled_from(["combined", "head", "tail", "replace-one"]),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([1, 2, 3, 4, 30]),
)
@settings(max_examples=200, deadline=None)
def test_as_a_plain_loop_does_it(world: World, scoring: Any, weight: float, edits: int) -> None:
    """Candidates differ from their words in one letter or two."""
    attack = DeepWordBug(scoring, weight, edits)
    run = attacked(attack, world.space, world.score, **world.limits)
    expected = oracle(world, scoring=scoring, weight=weight, edits=edits)
    assert row_of(run) == world.row(expected)
