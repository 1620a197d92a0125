"""TextBugger: worked examples, sentences, the end at too little similarity, and a plain oracle."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_toys import (
    World,
    attacked,
    by_last_letters,
    first_max,
    in_order,
    logs,
    overlap,
    put,
    row_of,
    take,
    worlds,
)
from unfooled.attacks.textbugger import METHOD, TextBugger, sentences
from unfooled.errors import InputError
from unfooled.space import Space
from unfooled.text import Text
from victim_doubles import Double, attacking, linear, solve


def test_the_file_is_the_attack() -> None:
    assert METHOD is TextBugger


def test_worked_example() -> None:
    """goood leaves 0.8 of 1.9, flim then -0.1."""
    weights = {"good": 1.0, "g00d": 0.4, "goood": -0.1, "film": 0.8, "flim": -0.1, "very": 0.1}
    space = Space("very good film", {0: ("vry",), 1: ("g00d", "goood"), 2: ("flim",)})
    victim = Double(linear(weights))
    (result,) = solve(victim, [attacking(TextBugger(step_similarity=None), space)]).values()
    assert result.value.tolist() == [0, 2, 1]
    assert (result.queries, result.forwards) == (1 + 3 + 2 + 1, 7)


def test_the_best_bug_is_taken_even_if_it_does_not_help() -> None:
    space = Space("good film", {0: ("goood",), 1: ("flim",)})
    score = linear({"good": 2.0, "goood": 2.5, "film": 1.0, "flim": -3.0})
    assert row_of(attacked(TextBugger(step_similarity=None), space, score)) == [1, 1]
    assert row_of(attacked(TextBugger(step_similarity=None), space, score, max_swaps=1)) is None


# --- sentences ----------------------------------------------------------------------------------

TWO = Space("a b . c d !", {0: ("x",), 1: ("x",), 3: ("x",), 4: ("x",)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b. c d!", [[0, 1], [2, 3]]),
        ("a b c d", [[0, 1, 2, 3]]),
        ('"a b?" c... d', [[0, 1], [2], [3]]),
        ("a, b; c: d.", [[0, 1, 2, 3]]),
        ("3.5 b. c d", [[0, 1], [2, 3]]),
    ],
)
def test_where_sentences_end(text: str, expected: list[list[int]]) -> None:
    words = Text.parse(text).words
    letters = [i for i, w in enumerate(words) if w[0].isalnum()]
    assert sentences(Space(text, dict.fromkeys(letters, ("x",)))) == expected


def test_sentences_without_candidates_are_not_counted_and_pairs_are_two() -> None:
    assert sentences(Space("a b. c d.", {0: ("x",)})) == [[0]]
    pair = Text.pair("a b", "c", editable="both")
    assert sentences(Space(pair, dict.fromkeys(range(3), ("x",)))) == [[0, 1], [2]]


def test_the_sentence_that_speaks_most_for_the_label_goes_first() -> None:
    """a b has 1.1 and c d 1.5 alone; the most important word of all is a."""
    weights = {"a": 1.0, "b": 0.1, "c": 0.8, "d": 0.7, "x": -0.4}
    run = attacked(TextBugger(step_similarity=None), TWO, linear(weights))
    # 2.6; c -> 1.4, d -> 0.3, a -> -1.1
    assert row_of(run) == [1, 0, 1, 1]
    assert run.questions[0].rows.tolist() == [[0, 0, -2, -2], [-2, -2, 0, 0]]
    # Two sentences; the original and two words each; the three swaps.
    assert run.queries == 2 + 3 + 3 + 3
    whole = attacked(TextBugger(sentences=False, step_similarity=None), TWO, linear(weights))
    # a -> 1.2, c -> 0.0 (a near-tie), d -> -1.1
    assert row_of(whole) == [1, 0, 1, 1]
    assert [q.rows.tolist() for q in whole.questions[1:2]] == [[[1, 0, 0, 0]]]
    assert whole.queries == 5 + 3


def test_a_sentence_that_alone_has_another_label_is_left_out() -> None:
    """c d is negative by itself, so that x, which would fool there, is never tried."""
    weights = {"a": 3.0, "b": 0.5, "c": -0.1, "d": -0.2, "x": 2.0, "y": -9.0}
    space = Space("a b . c d !", {0: ("x",), 1: ("x",), 3: ("y",), 4: ("y",)})
    assert row_of(attacked(TextBugger(step_similarity=None), space, linear(weights))) is None
    assert row_of(
        attacked(TextBugger(sentences=False, step_similarity=None), space, linear(weights))
    ) == [1, 1, 1, 0]


# --- similarity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "found"), [(None, [1, 1]), (0.75, [1, 1]), (0.8, None), (0.85, None)]
)
def test_the_search_ends_when_the_text_is_no_longer_similar(
    least: float | None, found: object
) -> None:
    """Both words must change: similarity 0.9, then 0.8, which must be above the threshold."""
    space = Space("a0 b0", {0: ("a1",), 1: ("b1",)})
    score = linear({"a0": 2.0, "b0": 1.0, "a1": 0.5, "b1": -1.0})
    run = attacked(TextBugger(step_similarity=least), space, score, alike=overlap)
    assert row_of(run) == found
    if least == 0.8:
        asked = [q for q in run.questions if hasattr(q, "reference")]
        assert [(q.rows.tolist(), q.reference.tolist(), q.window) for q in asked] == [
            ([[1, 0]], [0, 0], None),
            ([[1, 1]], [0, 0], None),
        ]


def test_with_a_threshold_only_its_own_result_counts() -> None:
    assert [TextBugger(step_similarity=None).strict, TextBugger(step_similarity=0.0).strict] == [
        False,
        True,
    ]


DRIFT = Space("a0 b0", {0: ("a1",), 1: ("b1",)})
DRIFTING = linear({"a0": 2.0, "b0": 1.0, "a1": 0.5, "b1": -1.0})


def test_drift_is_allowed_only_when_it_is_asked_for() -> None:
    """Each step changes a tenth; both together are too far from the original."""
    assert (
        row_of(attacked(TextBugger(step_similarity=0.85), DRIFT, DRIFTING, alike=overlap)) is None
    )
    free = TextBugger(step_similarity=0.85, reference="previous")
    assert row_of(attacked(free, DRIFT, DRIFTING, alike=overlap)) == [1, 1]


def test_a_window_compares_the_words_around_the_swap() -> None:
    space = Space("a0 pad0 pad0 b0", {0: ("a1",), 3: ("b1",)})
    for window, found in (
        (None, None),
        (4, None),
        (3, [1, 1]),
        (5, [1, 1]),
    ):  # 5: it has fewer words
        attack = TextBugger(step_similarity=0.85, step_window=window)
        assert row_of(attacked(attack, space, DRIFTING, alike=overlap)) == found


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"step_similarity": 2.0}, "step_similarity is from -1 to 1"),
        ({"step_window": 0}, "step_window is 1 or more words, not 0"),
        ({"reference": "first"}, "reference is original or previous"),
        ({"step_similarity": None, "reference": "previous"}, "step_similarity .* not given"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        TextBugger(**options)


# --- the plain oracle ---------------------------------------------------------------------------


def oracle(world: World, least: float | None, previous: bool) -> list[str] | None:
    """Algorithm 3 of the paper, one text at a time."""
    parts: list[list[int]] = [[]]
    for i, word in enumerate(world.text):
        if i in world.places:
            parts[-1].append(i)
        if word == ".":
            parts.append([])
    parts = [part for part in parts if part]
    if len(parts) > 1:
        weight = {}
        for k, part in enumerate(parts):
            alone = take(world.text, *(i for i in world.places if i not in part))
            odds = world.odds(alone)
            if first_max(odds) == world.label:
                rest = sum(o for j, o in enumerate(odds) if j != world.label)
                weight[k] = -math.log(rest)
        parts = [parts[k] for k in in_order(weight)]
    text, changed = world.text, 0
    for part in parts:
        loss = {i: world.doubt(take(world.text, i)) for i in part}
        for i in in_order(logs(loss)):
            if changed == world.most:
                return None
            tried = [put(text, i, word) for word in world.options[i]]
            before, changed = text if previous else world.text, changed + 1
            text = tried[first_max([math.log(world.doubt(new)) for new in tried])]
            if least is not None and by_last_letters(text, before) <= least:
                return None
            if world.fooled(text):
                return text
    return None


@given(worlds(words=5, stops=True), st.sampled_from([None, 0.5, 0.7, 0.85]), st.booleans())
@settings(max_examples=250, deadline=None)
def test_as_a_plain_loop_does_it(world: World, least: float | None, previous: bool) -> None:
    answers: dict[str, Any] = {"alike": None if least is None else by_last_letters}
    previous &= least is not None
    attack = TextBugger(step_similarity=least, reference="previous" if previous else "original")
    run = attacked(attack, world.space, world.score, **world.limits, **answers)
    assert row_of(run) == world.row(oracle(world, least, previous))
