"""Tightening: the ledger's memory, its budget, and results that only ever get better."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled import tightening
from unfooled.errors import InputError
from unfooled.program import Goal, Gradients, Program, Scores, Spent
from unfooled.space import Space
from unfooled.tightening import Enough, Ledger, opening, restart, tighten, within
from victim_doubles import Double, job, least_swaps, linear, rule, solve

WEIGHTS = {"a": 1.0, "x": -0.5, "b": 1.0, "y": -1.5, "c": 1.0, "z": -4.0}


@pytest.fixture
def space() -> Space:
    return Space("a b c", {0: ("x",), 1: ("y",), 2: ("z",)})


def ledger_of(space: Space, **goal: Any) -> Ledger:
    return Ledger(space, Goal(space, 1, **goal))


def rows(*chosen: tuple[int, ...]) -> np.ndarray:
    return np.array(chosen, dtype=np.int16)


def run(ledger: Ledger, program: Program[Any], victim: Double, **options: Any) -> Any:
    """Runs a program on the text of a ledger."""
    (result,) = solve(victim, [job(ledger.space, program, goal=ledger.goal, **options)]).values()
    assert result.error is None, result.traceback
    return result


def answer(ledger: Ledger, asked: np.ndarray, scores: list[list[float]]) -> Any:
    """Asks a ledger by hand: (what became a question, what was answered)."""
    program = ledger.ask(asked)
    try:
        question = next(program)
    except StopIteration as stop:
        return None, stop.value
    try:
        program.send(np.array(scores))
    except StopIteration as stop:
        return question.rows.tolist(), stop.value  # type: ignore[union-attr]
    raise AssertionError("one question is enough")


# --- memory -------------------------------------------------------------------------------------


def test_nothing_is_asked_for_twice(space: Space) -> None:
    ledger = ledger_of(space)
    asked, found = answer(ledger, rows((1, 0, 0), (0, 1, 0), (1, 0, 0)), [[0.0, 1.5], [0.0, 0.5]])
    assert asked == [[1, 0, 0], [0, 1, 0]]
    assert found.tolist() == [[0.0, 1.5], [0.0, 0.5], [0.0, 1.5]]
    asked, found = answer(ledger, rows((0, 0, 1), (0, 1, 0)), [[0.0, -2.0]])
    assert asked == [[0, 0, 1]]
    assert found.tolist() == [[0.0, -2.0], [0.0, 0.5]]
    assert answer(ledger, rows((0, 0, 1)), [])[0] is None


def test_a_ledger_grows() -> None:
    space = Space("w", {0: [f"c{i}" for i in range(2000)]})
    ledger = ledger_of(space)
    for start in range(0, 2000, 400):
        part = np.arange(start, start + 400, dtype=np.int16)[:, None]
        answer(ledger, part, [[0.0, float(i)] for i in part[:, 0]])
    found = answer(ledger, rows((1999,), (0,), (257,)), [])
    assert found[0] is None
    assert found[1][:, 1].tolist() == [1999.0, 0.0, 257.0]


def test_the_best_has_fewest_swaps_then_the_highest_gain(space: Space) -> None:
    ledger = ledger_of(space)
    assert ledger.swaps is None
    answer(ledger, rows((1, 1, 1), (1, 1, 0), (0, 1, 1)), [[0, -9.0], [0, -1.0], [0, -2.0]])
    assert (ledger.best.tolist(), ledger.swaps) == ([0, 1, 1], 2)  # type: ignore[union-attr]
    answer(ledger, rows((1, 0, 1)), [[0.0, -2.0]])  # no better
    assert ledger.best.tolist() == [0, 1, 1]  # type: ignore[union-attr]
    answer(ledger, rows((1, 0, 0)), [[0.0, -0.1]])
    assert ledger.best.tolist() == [1, 0, 0]  # type: ignore[union-attr]


def test_probes_and_texts_over_the_limit_are_no_results(space: Space) -> None:
    ledger = ledger_of(space, max_swaps=1)
    answer(ledger, rows((-1, 0, 0), (1, 1, 0)), [[0.0, -5.0], [0.0, -5.0]])
    assert ledger.best is None
    assert ledger.leading(1, 9).tolist() == []


def test_leading_texts_of_a_number_of_swaps(space: Space) -> None:
    ledger = ledger_of(space)
    asked = rows((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0))
    answer(ledger, asked, [[0, 1.0], [0, 0.5], [0, 2.0], [0, 0.1]])
    assert ledger.leading(1, 2).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert ledger.leading(2, 2).tolist() == [[1, 1, 0]]
    assert ledger.leading(3, 2).tolist() == []


# --- scores -------------------------------------------------------------------------------------


def test_log_odds_of_logits_by_hand() -> None:
    space = Space("w", {0: ("v", "u")})
    scores = np.array([[1.0, 2.0, 0.5], [3.0, 0.0, 1.0]])
    ledger = ledger_of(space)
    answer(ledger, rows((0,), (1,)), scores.tolist())
    for row, odds in zip(scores, ledger.log_odds(scores), strict=True):
        share = math.exp(row[1]) / sum(map(math.exp, row))  # F of the label
        assert 1 / (1 + math.exp(-odds)) == pytest.approx(1 - share)
    targeted = Ledger(space, Goal(space, 1, target=2))
    answer(targeted, rows((0,), (1,)), scores.tolist())
    for row, odds in zip(scores, targeted.log_odds(scores), strict=True):
        share = math.exp(row[2]) / sum(map(math.exp, row))
        assert 1 / (1 + math.exp(-odds)) == pytest.approx(share)


def test_log_odds_of_probabilities_by_hand() -> None:
    ledger = ledger_of(Space("w", {0: ("v",)}))
    scores = np.array([[0.2, 0.8], [0.5, 0.5]])
    answer(ledger, rows((0,), (1,)), scores.tolist())
    assert ledger.log_odds(scores) == pytest.approx([math.log(0.25), 0.0])


def test_one_row_that_is_no_distribution_makes_all_of_them_logits() -> None:
    ledger = ledger_of(Space("w", {0: ("v",)}))
    scores = np.array([[0.2, 0.8], [0.5, 0.6]])
    answer(ledger, rows((0,), (1,)), scores.tolist())
    assert ledger.log_odds(scores) == pytest.approx([-0.6, -0.1])


@pytest.mark.parametrize("scale", [1.0, 40.0, 1e4])
def test_order_survives_where_probabilities_do_not(scale: float) -> None:
    """At a margin of 40 a float64 probability is exactly 1; the order of texts must not be lost."""
    ledger = ledger_of(Space("w", {0: ("v", "u")}))
    scores = np.array([[0.0, scale + 1], [0.0, scale], [0.0, scale + 0.5]])
    answer(ledger, rows((0,), (1,), (2,)), scores.tolist())
    assert np.argsort(-ledger.log_odds(scores)).tolist() == [1, 2, 0]


def test_certain_probabilities_have_finite_odds() -> None:
    ledger = ledger_of(Space("w", {0: ("v",)}))
    scores = np.array([[0.0, 1.0], [1.0, 0.0]])
    answer(ledger, rows((0,), (1,)), scores.tolist())
    odds = ledger.log_odds(scores)
    assert np.isfinite(odds).all()
    assert odds[0] < -700 < 700 < odds[1]


# --- budgets ------------------------------------------------------------------------------------


def test_an_allowance_is_used_to_the_last_query(space: Space) -> None:
    ledger = ledger_of(space)

    def work() -> Program[None]:
        yield from ledger.ask(rows((1, 0, 0), (0, 1, 0)))
        yield from ledger.ask(rows((0, 1, 0), (0, 0, 1), (1, 1, 0)))

    victim = Double(linear(WEIGHTS))
    assert run(ledger, within(ledger, work(), queries=3), victim).value == 0
    assert victim.forwards >= 3
    assert ledger.allowance is None
    assert ledger.best.tolist() == [0, 0, 1]  # type: ignore[union-attr]  # the last it could pay
    again = ledger_of(space)
    ledger = again
    result = run(again, within(again, work(), queries=9), victim)
    assert (result.value, result.queries) == (9 - 4, 4)


def test_known_rows_cost_no_allowance(space: Space) -> None:
    ledger = ledger_of(space)
    answer(ledger, rows((1, 0, 0)), [[0.0, 1.0]])
    ledger.allowance = 0
    assert answer(ledger, rows((1, 0, 0)), [])[0] is None
    with pytest.raises(Enough):
        answer(ledger, rows((0, 1, 0)), [])


def test_what_the_last_queries_found_is_kept(space: Space) -> None:
    ledger = ledger_of(space)
    program = ledger.ask(rows((1, 0, 0), (0, 0, 1), (0, 1, 0)))
    next(program)
    with pytest.raises(Spent):
        program.throw(Spent(rows((1, 0, 0), (0, 0, 1)), np.array([[0.0, 1.5], [0.0, -2.0]])))
    assert ledger.best.tolist() == [0, 0, 1]  # type: ignore[union-attr]


# --- other attacks ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["greedy", "beam"])
def test_another_attack_runs_on_what_is_known(space: Space, name: str) -> None:
    victim = Double(linear(WEIGHTS))
    ledger = ledger_of(space)
    first = run(ledger, restart(ledger, name), victim).queries
    assert first > 0
    assert ledger.best is not None
    assert run(ledger, restart(ledger, name), victim).queries == 0  # all remembered


def test_another_attack_keeps_to_fewer_swaps(space: Space) -> None:
    ledger = ledger_of(space)
    run(ledger, restart(ledger, "beam", most=1), Double(rule("x", "y")))
    assert ledger.best is None
    assert int(max(np.count_nonzero(ledger._rows, axis=1))) == 1


def test_only_scores_are_remembered(space: Space) -> None:
    def white() -> Program[None]:
        yield Gradients(space.rows(space.origin), 1)

    with pytest.raises(InputError, match="only scores are remembered, not Gradients"):
        next(ledger_of(space).follow(white()))


def test_an_opening_puts_back_what_greedy_does_not_need() -> None:
    """Greedy takes good first, for its saliency; film alone would do."""
    space = Space("good film", {0: ("fine",), 1: ("flick",)})
    victim = Double(linear({"good": 2.0, "fine": 1.0, "film": 1.0, "flick": -3.0}))
    ledger = ledger_of(space)
    run(ledger, opening(ledger), victim)
    assert ledger.best.tolist() == [0, 1]  # type: ignore[union-attr]


def test_an_opening_without_success_ends() -> None:
    space = Space("a b", {0: ("x",), 1: ("y",)})
    ledger = ledger_of(space)
    run(ledger, opening(ledger), Double(rule("x", "y")))
    assert ledger.best is None


# --- the ways -----------------------------------------------------------------------------------

TABLE = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}


def spread(lows: dict[str, float]) -> tuple[Space, Double]:
    """Five words of weight 1; each has one candidate (a1, ...), some have a second one (a2, ...)."""
    found = {i: [w + "1", w + "2"] if w + "2" in lows else [w + "1"] for i, w in enumerate(TABLE)}
    return Space(" ".join(TABLE), found), Double(linear(TABLE | lows))


def after(way: Any, space: Space, victim: Double, *, start: tuple[int, ...], aim: int) -> Any:
    ledger = ledger_of(space)
    run(ledger, ledger.ask(rows(start)), victim)
    assert ledger.swaps == aim + 1
    run(ledger, way(ledger, aim), victim)
    return ledger.best.tolist()  # type: ignore[union-attr]


def test_restoring_one_swap() -> None:
    space, victim = spread({w + "1": -2.0 for w in TABLE})  # two swaps leave 5 - 6
    assert (
        np.count_nonzero(after(tightening._restore, space, victim, start=(1, 1, 1, 0, 0), aim=2))
        == 2
    )


def test_restoring_two_swaps_that_only_work_together() -> None:
    """Neither of two swaps can be put back alone, both together can."""
    space = Space("a b c", {0: ("x",), 1: ("y",), 2: ("z",)})
    fooling = {("x", "y", "z"), ("a", "b", "z")}
    victim = Double(lambda words: (1.0, 0.0) if tuple(words) in fooling else (0.0, 1.0))
    assert after(tightening._restore, space, victim, start=(1, 1, 1), aim=2) == [0, 0, 1]


def test_restoring_one_while_another_changes() -> None:
    space, victim = spread({"a1": -1.5, "b1": -1.5, "c1": -1.5, "d1": 1, "e1": 1, "a2": -4.0})
    found = after(tightening._restore, space, victim, start=(1, 1, 1, 0, 0), aim=2)
    assert np.count_nonzero(found) == 2
    assert found[0] == 2


def test_teams_of_the_best_single_swaps() -> None:
    space, victim = spread({"a1": 0.5, "b1": 0.5, "c1": -2.0, "d1": -2.0, "e1": 0.4, "a2": 0.0})
    ledger = ledger_of(space)
    run(ledger, ledger.ask(space.neighbours(space.origin)), victim)
    run(ledger, tightening._team_up(ledger, 2), victim)
    assert ledger.best.tolist() == [0, 0, 1, 1, 0]  # type: ignore[union-attr]


def test_teams_are_limited_in_number() -> None:
    space = Space(" ".join(f"w{i}" for i in range(60)), {i: (f"c{i}",) for i in range(60)})
    victim = Double(linear({f"w{i}": 1.0 for i in range(60)}))
    for aim in (2, 3, 7, 60):
        ledger = ledger_of(space)
        run(ledger, ledger.ask(space.neighbours(space.origin)), victim)
        queries = run(ledger, tightening._team_up(ledger, aim), victim).queries
        assert 1 <= queries <= tightening._TEAMS


def test_an_exchange_moves_a_swap_to_another_position() -> None:
    space, victim = spread({"a1": -1.0, "b1": -1.0, "c1": -0.9, "d1": -1.1, "e1": -3.5})
    ledger = ledger_of(space)
    singles = space.neighbours(space.origin)
    start = rows((1, 1, 0, 0, 0))[0]
    run(ledger, tightening._exchange(ledger, start, singles=singles), victim)
    found = ledger.best.tolist()  # type: ignore[union-attr]
    assert found[4] == 1
    assert sum(found) == 2


def test_a_narrow_climb_tries_the_best_single_swaps_only() -> None:
    many = [f"p{k}" for k in range(100)]
    space = Space("a b c", {0: many, 1: ("y",), 2: ("z",)})
    weights = {w: 0.9 - k / 1000 for k, w in enumerate(many)}
    victim = Double(linear({"a": 1.0, "b": 1.0, "c": 9.0, "y": 0.9, "z": 8.0} | weights))
    asked = {}
    for way in (tightening._climb_narrowly, tightening._climb):
        ledger = ledger_of(space)
        run(ledger, ledger.ask(space.neighbours(space.origin)), victim)
        run(ledger, ledger.ask(rows((1, 1, 0))), victim)
        asked[way] = run(ledger, way(ledger, 2), victim).queries
    assert asked[tightening._climb_narrowly] <= 3 * tightening._STARS < asked[tightening._climb]


# --- the whole ----------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 2), min_size=1, max_size=5),
    st.lists(st.integers(-20, 20), min_size=40, max_size=40),
    st.none() | st.integers(1, 5),
    st.booleans(),
    st.integers(0, 10**6),
)
@settings(max_examples=80, deadline=None)
def test_tightening_never_worsens_and_is_never_below_the_truth(
    counts: list[int], values: list[int], limit: int | None, tangled: bool, pick: int
) -> None:
    space = Space(
        " ".join(f"w{i}" for i in range(len(counts))),
        {i: [f"c{i}{k}" for k in range(n)] for i, n in enumerate(counts)},
    )
    names = sorted({*space.original.words, *(c for found in space.candidates for c in found)})
    score = linear({w: v / 7 for w, v in zip(names, values, strict=False)}, bias=3.0)
    # Tangled: single swaps say nothing about several of them.
    victim = Double((lambda words: (0.0, score(words)[1] * 7 % 5 - 1.5)) if tangled else score)
    goal = Goal(space, 1, max_swaps=limit)
    every = np.concatenate(list(space.enumerate(None)))
    fooling = every[goal.met(victim.scores(space.sources(every)), every)]
    ledger = Ledger(space, goal)
    if len(fooling):
        run(ledger, ledger.ask(fooling[pick % len(fooling)][None]), victim)
    before = ledger.swaps
    run(ledger, tighten(ledger), victim)
    least = least_swaps(space, victim, goal)
    assert (ledger.swaps is None) == (least is None)
    if least is None or least == 0 or before is None or ledger.best is None:
        return  # cannot be fooled, or was not of its class from the start
    assert least <= np.count_nonzero(ledger.best) <= before
    row = ledger.best[None]
    assert goal.met(victim.scores(space.sources(row)), row).all()
    if not tangled:  # the best swap is best whatever else is swapped, so a beam misses nothing
        assert ledger.swaps == least


def test_no_query_is_spent_on_what_is_proved_minimal(space: Space) -> None:
    """Two swaps, and no single one fools: nothing is left to ask."""
    ledger = ledger_of(space)
    victim = Double(rule("x", "z"))
    run(ledger, ledger.ask(rows((1, 0, 1))), victim)
    assert run(ledger, tighten(ledger), victim).queries == 3  # the single swaps


def test_one_swap_ends_it(space: Space) -> None:
    ledger = ledger_of(space)
    victim = Double(rule("z"))
    run(ledger, ledger.ask(space.neighbours(space.origin)), victim)
    assert run(ledger, tighten(ledger), victim).queries == 0


def test_scores_are_asked_in_the_engines_own_words(space: Space) -> None:
    question = next(ledger_of(space).ask(rows((1, 0, 0))))
    assert isinstance(question, Scores)
    assert question.cache
