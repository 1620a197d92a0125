"""TextFooler: worked examples, the authors' rules of choice, similarity, and a plain oracle."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_toys import (
    Alike,
    World,
    attacked,
    by_last_letters,
    first_max,
    flip_importance,
    overlap,
    put,
    row_of,
    window,
    worlds,
)
from unfooled.attacks.textfooler import METHOD, TextFooler
from unfooled.errors import InputError
from unfooled.space import Space
from victim_doubles import Double, attacking, linear, solve

WEIGHTS = {"really": 0.1, "good": 1.0, "fine": 0.6, "poor": -0.5, "film": 0.8, "movie": 0.3}
WEIGHTS |= {"flick": -0.4, "truly": 0.2, "okay": 0.0}


@pytest.fixture
def space() -> Space:
    """Scores 0.1 + 1.0 + 0.8; important are good, film, really."""
    return Space(
        "really good film", {0: ("truly",), 1: ("fine", "poor", "okay"), 2: ("movie", "flick")}
    )


def long(*words: str, length: int = 15) -> str:
    """A text of these words and so many in all, the others without candidates."""
    return " ".join([*words, *["pad0"] * (length - len(words))])


def test_the_file_is_the_attack() -> None:
    assert METHOD is TextFooler


def test_worked_example(space: Space) -> None:
    """good -> poor leaves 0.4; then movie leaves -0.1 and flick -0.8: both fool."""
    victim = Double(linear(WEIGHTS))
    (result,) = solve(victim, [attacking(TextFooler(step_similarity=None), space)]).values()
    assert result.value.tolist() == [0, 2, 2]
    # The original, three probes, three candidates for good, two for film.
    assert (result.queries, result.forwards) == (1 + 3 + 3 + 2, 9)


def test_a_word_whose_loss_changes_the_label_goes_first() -> None:
    """Without a, p falls by 0.15 and the second label gains 0.2; without b, p falls by 0.26."""
    odds = {"a b": (0.6, 0.3, 0.1), "? b": (0.45, 0.5, 0.05), "a ?": (0.34, 0.33, 0.33)}
    space = Space("a b", {0: ("x",), 1: ("y",)})
    run = attacked(
        TextFooler(step_similarity=None),
        space,
        lambda words: odds.get(" ".join(words), (0.55, 0.3, 0.15)),
        label=0,
    )
    assert [q.rows.tolist() for q in run.questions[1:]] == [[[1, 0]], [[1, 1]]]


def test_of_several_that_fool_the_most_similar_is_taken(space: Space) -> None:
    def alike(one: Any, two: Any) -> float:
        return 0.9 if "movie" in one else 0.5

    run = attacked(TextFooler(step_similarity=0.4), space, linear(WEIGHTS), alike=alike)
    assert row_of(run) == [0, 2, 1]
    assert run.queries == 9


def test_a_candidate_need_only_be_better_than_the_original() -> None:
    """good -> poor leaves 1.3 of 3.5; film -> movie goes back to 1.8, and is taken all the same."""
    weights = {"good": 2.0, "poor": -0.2, "film": 1.0, "movie": 1.5, "night": 0.5, "day": -1.4}
    space = Space("good film night", {0: ("poor",), 1: ("movie",), 2: ("day",)})
    assert row_of(attacked(TextFooler(step_similarity=None), space, linear(weights))) == [1, 1, 1]


def test_a_candidate_that_is_no_better_than_the_original_is_not_taken() -> None:
    weights = {"good": 2.0, "great": 3.0, "film": 1.0, "flick": -2.5}
    space = Space("good film", {0: ("great",), 1: ("flick",)})
    assert row_of(attacked(TextFooler(step_similarity=None), space, linear(weights))) == [0, 1]


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, None), (1, None), (2, [0, 2, 2]), (3, [0, 2, 2])]
)
def test_the_limit_of_swaps(space: Space, limit: int, expected: object) -> None:
    assert (
        row_of(attacked(TextFooler(step_similarity=None), space, linear(WEIGHTS), max_swaps=limit))
        == expected
    )


# --- similarity ---------------------------------------------------------------------------------

DRIFT = Space(long("a0", "b0"), {0: ("a1",), 1: ("b1",)})
DRIFTING = linear({"a0": 2.0, "b0": 1.0, "a1": 0.5, "b1": -1.0})  # fooled by both, not by one


def test_drift_is_allowed_only_when_it_is_asked_for() -> None:
    """Each step changes one word in ten; both together are too far from the original."""
    near = {"step_similarity": 0.85}
    assert row_of(attacked(TextFooler(**near), DRIFT, DRIFTING, alike=overlap)) is None
    free = TextFooler(**near, reference="previous")
    assert row_of(attacked(free, DRIFT, DRIFTING, alike=overlap)) == [1, 1]
    loose = TextFooler(step_similarity=0.75)
    assert row_of(attacked(loose, DRIFT, DRIFTING, alike=overlap)) == [1, 1]


def test_a_flip_that_is_too_different_is_no_flip() -> None:
    space = Space(long("a0"), {0: ("a1", "a2")})

    def alike(one: Any, two: Any) -> float:
        return 0.1 if "a1" in one else 0.9

    score = linear({"a0": 1.0, "a1": -2.0, "a2": -1.0})
    run = attacked(TextFooler(step_similarity=0.5), space, score, alike=alike)
    assert row_of(run) == [2]


def test_the_strongest_must_be_similar_too() -> None:
    """a1 lowers the score most and is left out; with a2, b1 does not suffice: nothing is found."""
    space = Space(long("a0", "b0"), {0: ("a1", "a2"), 1: ("b1",)})
    score = linear({"a0": 3.0, "a1": 0.1, "a2": 1.5, "b0": 1.0, "b1": -1.0})

    def alike(one: Any, two: Any) -> float:
        return 0.1 if "a1" in one else 0.9

    assert row_of(attacked(TextFooler(step_similarity=None), space, score)) == [1, 1]
    strict = attacked(TextFooler(step_similarity=0.5), space, score, alike=alike)
    assert row_of(strict) is None
    asked = [q for q in strict.questions if hasattr(q, "reference")]
    assert [q.rows.tolist() for q in asked] == [[[1, 0], [2, 0]], [[2, 1]]]


@pytest.mark.parametrize(("length", "found"), [(14, [1]), (15, None), (16, None)])
def test_texts_shorter_than_the_window_are_not_checked(length: int, found: object) -> None:
    space = Space(long("a0", length=length), {0: ("a1",)})
    score = linear({"a0": 1.0, "a1": -1.0})
    attack = TextFooler(step_similarity=0.95)
    assert row_of(attacked(attack, space, score, alike=overlap)) == found


@pytest.mark.parametrize("length", [1, 14, 15, 40])
def test_without_a_window_whole_texts_are_compared_and_none_is_exempt(length: int) -> None:
    space = Space(long("a0", length=length), {0: ("a1",)})
    score = linear({"a0": 1.0, "a1": -1.0})
    for least, found in ((0.95, None), (0.85, [1])):
        attack = TextFooler(step_similarity=least, step_window=None)
        assert row_of(attacked(attack, space, score, alike=overlap)) == found


def test_a_short_text_leaves_nothing_behind() -> None:
    """In a peer one short text switched the check off for all that followed."""
    attack, score = TextFooler(step_similarity=0.95), linear({"a0": 1.0, "a1": -1.0})
    texts = [Space(long("a0", length=n), {0: ("a1",)}) for n in (15, 14, 15, 3, 15)]
    rows = [row_of(attacked(attack, space, score, alike=overlap)) for space in texts]
    assert rows == [None, [1], None, [1], None]


def test_only_words_in_the_window_are_compared() -> None:
    """a0 and b0 are 14 words apart: neither sees the other in a window of 15."""
    words = ["a0", *["pad0"] * 13, "b0", *["pad0"] * 10]
    space = Space(" ".join(words), {0: ("a1",), 14: ("b1",)})
    attack = TextFooler(step_similarity=0.85)
    assert row_of(attacked(attack, space, DRIFTING, alike=overlap)) == [1, 1]
    wide = TextFooler(step_similarity=0.85, step_window=25)
    assert row_of(attacked(wide, space, DRIFTING, alike=overlap)) is None


def test_without_a_threshold_nobody_is_asked_to_compare(space: Space) -> None:
    assert attacked(TextFooler(step_similarity=None), space, linear(WEIGHTS)).compared == 0


def test_with_a_threshold_only_its_own_result_counts() -> None:
    """A text that fools and was too different may not come back as the best one seen."""
    assert [TextFooler(step_similarity=None).strict, TextFooler(step_similarity=0.0).strict] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"step_similarity": 1.5}, "step_similarity"),
        ({"step_window": 0}, "step_window"),
        ({"reference": "first"}, "reference is original or previous"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        TextFooler(**options)


# --- the plain oracle ---------------------------------------------------------------------------


def oracle(
    world: World, *, alike: Alike | None, least: float, width: int | None, previous: bool
) -> list[str] | None:
    """The authors' loop, one text at a time."""
    text, before, changed = world.text, world.doubt(world.text), 0
    for i in flip_importance(world):
        if changed == world.most:
            return None
        tried = [put(text, i, word) for word in world.options[i]]
        likeness = [1.0] * len(tried)
        if alike is not None:
            part = window(len(text), i, width or len(text))
            base = [(text if previous else world.text)[j] for j in part]
            likeness = [alike([new[j] for j in part], base) for new in tried]
        checked = alike is not None and (width is None or len(text) >= width)
        fits = [k for k, value in enumerate(likeness) if not checked or value >= least]
        flips = [k for k in fits if world.fooled(tried[k])]
        doubts = [math.log(world.doubt(new)) for new in tried]
        if flips:
            by = doubts if alike is None else likeness
            return tried[flips[first_max([by[k] for k in flips])]]
        if fits:
            best = fits[first_max([doubts[k] for k in fits])]
            floor = math.log(before)
            if doubts[best] > floor + 1e-5 * max(1, abs(floor)):
                text, changed = tried[best], changed + 1
    return None


@given(
    worlds(),
    st.booleans(),
    st.sampled_from([None, 0.6, 0.75, 0.9]),
    st.none() | st.integers(1, 5),
)
@settings(max_examples=150, deadline=None)
def test_as_a_plain_loop_does_it(
    world: World, previous: bool, least: float | None, width: int | None
) -> None:
    how = (None,) if least is None else (least, width, "previous" if previous else "original")
    attack = TextFooler(*how)
    alike = None if least is None else by_last_letters
    run = attacked(attack, world.space, world.score, **world.limits, alike=alike)
    expected = oracle(world, alike=alike, least=least or 0, width=width, previous=previous)
    assert row_of(run) == world.row(expected)
