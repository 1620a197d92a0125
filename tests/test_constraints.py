"""A search held to a least similarity: never below it, unchanged without it, whatever the batches."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_doubles import RowEncoder, WordEncoder, similarity_of
from unfooled import registry
from unfooled.constraints import Closeness, Constrained
from unfooled.errors import CompanionError
from unfooled.program import (
    Attack,
    Goal,
    Gradients,
    Program,
    Scores,
    Sensitivity,
    Similarities,
    Spent,
    Sweep,
)
from unfooled.space import UNKNOWN, Space
from unfooled.subspaces import window
from victim_doubles import Double, Sloped, attacking, ends, job, linear, scores_of, solve

WEIGHTS = {"good": 2.0, "fine": 1.0, "poor": -1.5, "film": 0.5, "flick": -0.75, "dire": -3.0}
TEXTS = [
    ("good", {0: ("fine", "poor", "dire")}),
    ("a good film", {1: ("poor", "fine", "dire"), 2: ("flick", "plot")}),
    ("good good plot", {0: ("poor",), 1: ("fine", "poor"), 2: ("flick", "film")}),
    (
        "just a fine plot of a good and fine film",
        {2: ("poor", "dire"), 6: ("dire",), 9: ("flick",)},
    ),
    ("just a plot", {}),
]
ATTACKS = ["greedy", "beam", "random", "pdp"]


def spaces() -> list[Space]:
    return [Space(text, candidates) for text, candidates in TEXTS]


def constrained(
    attack: Attack, space: Space, closeness: Closeness, **limits: Any
) -> tuple[Any, Constrained[Any]]:
    """A job of the attack under the constraint, and the constraint."""
    plain = attacking(attack, space, **limits)
    assert plain.goal is not None
    kept: Constrained[Any] = Constrained(plain.goal, closeness)
    program = kept.follow(plain.program)
    return job(space, program, goal=plain.goal, max_queries=plain.max_queries), kept


def run(name: str, closeness: Closeness, encoder: Any = None, **options: Any) -> Any:
    """The results by text under the constraint, the refusals, and the victim."""
    engine = {key: options.pop(key) for key in ("batch", "in_flight") if key in options}
    victim = Double(linear(WEIGHTS, 0.25))
    made = [
        constrained(registry.build("attacks", name, {}), s, closeness, **options) for s in spaces()
    ]
    results = solve(victim, [j for j, _ in made], encoder=encoder or WordEncoder(), **engine)
    return results, {j.key: kept.refused for j, kept in made}, victim


def least_similarity(space: Space, row: Any, width: int | None) -> float:
    """By the definition: the least cosine over the windows around the swapped words."""
    length, text = len(space.original), space.text(row)
    found = [1.0]
    for column in np.flatnonzero(row):
        words = window(length, space.positions[column], width=width)
        cut = [" ".join(t.words[words.start : words.stop]) for t in (text, space.original)]
        found.append(similarity_of(*cut))
    return min(found)


@pytest.mark.parametrize("name", ATTACKS)
@given(least=st.floats(-1, 1), width=st.none() | st.integers(1, 6), budget=st.none() | st.just(20))
@settings(max_examples=20, deadline=None)
def test_no_outcome_is_ever_below_the_threshold(
    name: str, least: float, width: int | None, budget: int | None
) -> None:
    results, refused, victim = run(name, Closeness(least, width), max_queries=budget)
    for space in spaces():
        result = results[str(space.original)]
        assert result.error is None, result.traceback
        for row in (result.value, result.best):
            if row is not None:
                assert least_similarity(space, row, width) >= least - 1.1e-6
                goal = Goal(space, 1)
                assert goal.met(victim.scores(space.sources(row)), space.rows(row)).all()
        if len(space.positions):  # every member that can be refused is refused when it is asked for
            rows = np.concatenate(list(space.enumerate()))
            far = [r for r in rows if least_similarity(space, r, width) < least - 1e-6]
            assert far or not refused[str(space.original)]


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("budget", [None, 1, 3, 8])
@pytest.mark.parametrize("width", [None, 2])
def test_without_a_real_threshold_nothing_changes(
    name: str, budget: int | None, width: int | None
) -> None:
    victim = Double(linear(WEIGHTS, 0.25))
    attack = registry.build("attacks", name, {})
    plain = solve(victim, [attacking(attack, s, max_queries=budget) for s in spaces()])
    results, refused, _ = run(name, Closeness(-1.0, width), max_queries=budget)
    assert ends(results) == ends(plain)
    assert {key: r.forwards for key, r in results.items()} == {
        key: r.forwards for key, r in plain.items()
    }
    assert set(refused.values()) == {0}


@pytest.mark.parametrize("name", ATTACKS)
def test_above_one_nothing_is_found_and_no_member_is_scored(name: str) -> None:
    results, refused, _ = run(name, Closeness(1.5))
    assert {r.value is None for r in results.values()} == {True}
    for space in spaces():
        result = results[str(space.original)]
        probes = len(space.positions)  # greedy asks for one with each word unknown
        assert result.forwards <= 1 + probes
        assert (refused[str(space.original)] > 0) == (probes > 0)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("width", [None, 3])
def test_verdicts_depend_on_neither_batches_nor_their_noise(name: str, width: int | None) -> None:
    """Thresholds that lie exactly on the edge of a row, and batches that blur the last digits."""
    values = {
        least_similarity(s, row, width)
        for s in spaces()
        for row in np.concatenate([s.origin[None], *s.enumerate()])
    }
    for least in sorted(values)[:: max(1, len(values) // 4)]:
        closeness = Closeness(least + 1e-6, width)
        expected, refused, _ = run(name, closeness)
        for batch, in_flight, rows in [(1, 1, 1), (3, 2, 4), (64, 64, 256)]:
            encoder = RowEncoder(batch_rows=rows, noise=1e-6)
            again, twice, _ = run(name, closeness, encoder, batch=batch, in_flight=in_flight)
            assert ends(again) == ends(expected)
            assert twice == refused


def test_the_search_goes_on_among_the_texts_that_are_left() -> None:
    """Greedy would take the strongest word; held to a threshold it takes the one that may be."""
    space = Space("a good film", {1: ("dire", "poor")})
    near, far = (similarity_of(f"a {w} film", "a good film") for w in ("poor", "dire"))
    if near < far:  # the double's vectors decide which of the two is nearer
        space = Space("a good film", {1: ("poor", "dire")})
        near, far = far, near
    between = Closeness((near + far) / 2)
    attack = registry.build("attacks", "greedy", {})
    made, kept = constrained(attack, space, between)
    (result,) = solve(Double(linear(WEIGHTS)), [made], encoder=WordEncoder()).values()
    assert result.value.tolist() == [2]
    assert kept.refused == 1


# --- what passes through --------------------------------------------------------------------------


def follow(space: Space, program: Program[Any], least: float, **more: Any) -> Any:
    goal = Goal(space, 1)
    victim = more.pop("victim", None) or Double(linear(WEIGHTS, 0.25))
    budget = more.pop("max_queries", None)
    kept: Constrained[Any] = Constrained(goal, Closeness(least))
    made = job(space, kept.follow(program), goal=goal, max_queries=budget)
    (result,) = solve(victim, [made], encoder=WordEncoder(), **more).values()
    assert result.error is None, result.traceback or result.error
    return result


@pytest.fixture
def space() -> Space:
    return Space("a good film", {1: ("poor", "fine"), 2: ("flick",)})


def test_refused_rows_are_worse_than_any_other(space: Space) -> None:
    def ask() -> Program[Any]:
        scores = yield scores_of((0, 0), (1, 0), (UNKNOWN, 0), (2, 1))
        return scores

    scores = follow(space, ask(), 1.5).value
    gains = Goal(space, 1).gain(scores)
    assert scores[:, 1].tolist() == [2.75, 1e6, 0.75, 1e6]
    assert gains[1] < gains[0]
    assert (
        not Goal(space, 1).met(scores, space.rows([(0, 0), (1, 0), (1, 1), (2, 1)]))[[1, 3]].any()
    )


def test_refused_probabilities_are_probabilities(space: Space) -> None:
    def ask() -> Program[Any]:
        yield scores_of((0, 0))
        scores = yield scores_of((1, 0), (2, 1))
        return scores

    victim = Double(lambda words: (0.25, 0.75))
    assert follow(space, ask(), 1.5, victim=victim).value.tolist() == [[0.0, 1.0]] * 2


def test_tuples_keep_their_order_and_gradients_pass(space: Space) -> None:
    rows = space.rows([(1, 0), (0, 0)])

    def ask() -> Program[Any]:
        first, slopes, second, close = yield (
            Scores(rows),
            Gradients(rows, 1),
            scores_of((0, 0)),
            Similarities(rows, space.origin),
        )
        empty = yield ()
        return first, slopes, second, close, empty

    result = follow(space, ask(), 1.5, victim=Sloped(WEIGHTS))
    first, slopes, second, close, empty = result.value
    assert first[:, 1].tolist() == [1e6, 2.5]
    assert slopes.shape == (2, 2, 3)
    assert slopes[1, 0, 1] == pytest.approx(-3.5)
    assert second.tolist() == [[0.0, 2.5]]
    assert close[1] == 1.0
    assert empty == ()
    assert result.queries == 4  # one row was refused; gradients of both rows are queries


def test_sensitivity_passes_and_sweeps_are_declined(space: Space) -> None:
    def ask() -> Program[Any]:
        swept = yield Sweep(1, 1, (0, 1))
        slopes = yield Sensitivity(1)
        return swept, slopes

    assert follow(space, ask(), 0.5).value == (None, None)


def test_the_end_of_a_budget_tells_what_was_afforded(space: Space) -> None:
    """Refused rows cost nothing; the rows up to the first that was not afforded are told."""
    least = similarity_of("a fine film", "a good film")
    other = similarity_of("a poor film", "a good film")
    asked = [(0, 0), (1, 0), (2, 0), (0, UNKNOWN), (UNKNOWN, 0)]
    if other >= least:
        asked[1], asked[2], least = (2, 0), (1, 0), other

    def ask() -> Program[Any]:
        try:
            yield scores_of(*asked)
        except Spent as end:
            return end.rows.tolist(), end.scores[:, 1].tolist(), end.which
        return None

    result = follow(space, ask(), least, max_queries=3)
    rows, scores, which = result.value
    assert result.exhausted
    assert result.queries == 3
    assert rows == [list(row) for row in asked[:4]]
    assert scores[1] == 1e6
    assert which == 0


@pytest.mark.parametrize(("budget", "which", "told"), [(1, 0, 1), (3, 1, 1), (5, 2, 2)])
def test_the_end_of_a_budget_within_a_tuple(
    space: Space, budget: int, which: int, told: int
) -> None:
    def ask() -> Program[Any]:
        rows = space.rows([(UNKNOWN, 0), (0, UNKNOWN)])
        try:
            yield (
                scores_of((0, 0), (0, UNKNOWN)),
                Gradients(rows, 1),
                scores_of((1, 0), (UNKNOWN, 0), (0, UNKNOWN)),
            )
        except Spent as end:
            return end.rows.tolist(), end.which
        return None

    rows, cut = follow(space, ask(), 1.5, max_queries=budget, victim=Sloped(WEIGHTS)).value
    assert cut == which
    assert len(rows) == told


def test_a_spent_program_that_asks_again_is_ended(space: Space) -> None:
    closed: list[bool] = []

    def ask() -> Program[Any]:
        try:
            while True:
                with suppress(Spent):
                    yield scores_of((1, 0), (2, 0), (0, UNKNOWN))
        finally:
            closed.append(True)

    result = follow(space, ask(), -1.0, max_queries=2)
    assert result.exhausted
    assert result.value is None
    assert closed == [True]


def test_errors_of_the_search_are_its_own(space: Space) -> None:
    def ask() -> Program[Any]:
        yield scores_of((0, 0))
        raise ZeroDivisionError("mine")

    goal = Goal(space, 1)
    kept: Constrained[Any] = Constrained(goal, Closeness(0.5))
    made = job(space, kept.follow(ask()), goal=goal)
    (result,) = solve(Double(linear(WEIGHTS)), [made], encoder=WordEncoder()).values()
    assert result.error == "ZeroDivisionError: mine"


# --- the verdict for what is reported -------------------------------------------------------------


@given(least=st.floats(-1, 1), width=st.none() | st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_the_verdict_is_the_definition(least: float, width: int | None) -> None:
    closeness, encoder = Closeness(least, width), WordEncoder()
    for space in spaces():
        for row in np.concatenate([space.origin[None], *space.enumerate()]):
            value = least_similarity(space, row, width)
            if abs(value - least + 1e-6) > 1e-9:
                assert closeness.holds(space, row, encoder=encoder) == (value >= least - 1e-6)
    assert {len(call) for call in encoder.calls} <= {1}


def test_an_encoder_that_fails_at_the_verdict_is_named(space: Space) -> None:
    row = np.array([1, 0], dtype=np.int16)
    for fault, said in [
        ("raise", "RuntimeError: a word"),
        ("nan", "no vector"),
        ("shape", "no vector"),
    ]:
        encoder = WordEncoder(faults={"poor": fault})
        with pytest.raises(
            CompanionError, match=f"'a poor film'.*{said}|no vector for 'a poor film'"
        ):
            Closeness(0.5).holds(space, row, encoder=encoder)
