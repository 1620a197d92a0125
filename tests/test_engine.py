"""Engine: answers, counts, caches, budgets, back-pressure, victims that answer later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unfooled.attacks.beam import Beam
from unfooled.attacks.greedy import Greedy
from unfooled.engine import Engine
from unfooled.errors import InputError, Unsupported
from unfooled.program import Goal, Gradients, Program, Proposals, Scores, Similarities, Spent
from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.task import Job
from victim_doubles import (
    Blurred,
    Double,
    Sloped,
    asking,
    attacking,
    coin,
    constant,
    ends,
    job,
    linear,
    scores_of,
    solve,
    within,
)

WEIGHTS = {"good": 2.0, "fine": 1.0, "poor": -1.0, "film": 0.5, "flick": -0.25, "[UNK]": 0.0}


@pytest.fixture
def space() -> Space:
    return Space("good film", {0: ("fine", "poor"), 1: ("flick",)})


@pytest.fixture
def victim() -> Double:
    return Double(linear(WEIGHTS))


def only(results: dict[str, Any]) -> Any:
    """The one result, which must not be an error."""
    (result,) = results.values()
    assert result.error is None, result.traceback or result.error
    return result


def long_space(length: int, name: str = "w") -> Space:
    return Space(
        " ".join(f"{name}{i}" for i in range(length)), dict.fromkeys(range(length), ("x", "y", "z"))
    )


# --- answers ------------------------------------------------------------------------------------


def test_scores_are_those_of_the_texts(space: Space, victim: Double) -> None:
    rows = [(0, 0), (2, 1), (1, 0), (UNKNOWN, 0), (0, DELETED)]
    (scores,) = only(solve(victim, [job(space, asking(scores_of(*rows)))])).value
    assert scores[:, 1].tolist() == [2.5, -1.25, 1.5, 0.5, 2.0]
    assert scores.shape == (5, 2)


def test_one_row_is_a_question_of_one(space: Space, victim: Double) -> None:
    result = only(solve(victim, [job(space, asking(Scores(space.origin)))]))
    assert result.value[0].tolist() == [[0.0, 2.5]]
    assert (result.queries, result.forwards) == (1, 1)


def test_a_question_without_rows_gets_an_answer_without_rows(space: Space, victim: Double) -> None:
    none = Scores(np.empty((0, 2), dtype=np.int16))
    result = only(solve(victim, [job(space, asking(none, (none, scores_of((0, 0)))))]))
    assert result.value[0].shape == (0, 2)
    assert [a.shape for a in result.value[1]] == [(0, 2), (1, 2)]
    assert (result.queries, result.forwards) == (1, 1)


def test_a_tuple_of_questions_gets_a_tuple_of_answers(space: Space, victim: Double) -> None:
    asked = (scores_of((0, 0), (1, 0)), scores_of((1, 0), (1, 1)), scores_of((0, 0), cache=False))
    result = only(solve(victim, [job(space, asking(asked, ()))]))
    first, second, third = result.value[0]
    assert first[:, 1].tolist() == [2.5, 1.5]
    assert second[:, 1].tolist() == [1.5, 0.75]
    assert third[:, 1].tolist() == [2.5]
    assert result.value[1] == ()
    assert (result.queries, result.forwards) == (5, 4)  # (1, 0) is known, the last asked not to be


def test_answers_are_the_programs_own(space: Space, victim: Double) -> None:
    def spoil() -> Program[float]:
        first = yield scores_of((0, 0))
        first[:] = 99.0
        again = yield scores_of((0, 0))
        return float(again[0, 1])

    assert only(solve(victim, [job(space, spoil())])).value == 2.5


def test_a_program_without_questions(space: Space, victim: Double) -> None:
    result = only(solve(victim, [job(space, asking())]))
    assert result.value == []
    assert (result.queries, result.forwards) == (0, 0)


def test_no_jobs(victim: Double) -> None:
    assert solve(victim, []) == {}


def test_a_space_without_positions(victim: Double) -> None:
    space = Space("good film", {})
    result = only(solve(victim, [job(space, asking(Scores(np.zeros((2, 0), np.int16))))]))
    assert result.value[0].tolist() == [[0.0, 2.5]] * 2
    assert (result.queries, result.forwards) == (2, 1)


def test_gradients(space: Space) -> None:
    asked = (Gradients(np.array([(0, 0), (1, 0)], np.int16), of=1), scores_of((0, 0)))
    result = only(solve(Sloped(WEIGHTS), [job(space, asking(asked))]))
    slopes, scores = result.value[0]
    assert slopes[0].tolist() == [[0.0, -1.0, -3.0], [0.0, -0.75, 0.0]] or (
        slopes[0, 0].tolist() == [0.0, -1.0, -3.0] and slopes[0, 1, :2].tolist() == [0.0, -0.75]
    )
    assert slopes[1, 0].tolist() == [1.0, 0.0, -2.0]
    assert scores.tolist() == [[0.0, 2.5]]
    assert (result.queries, result.forwards) == (3, 3)


def test_gradients_of_many_texts_of_many_classes() -> None:
    spaces = [long_space(n, f"t{n}_") for n in range(1, 9)]
    jobs = [job(s, asking(Gradients(s.rows(s.origin), of=i % 2))) for i, s in enumerate(spaces)]
    found = solve(Sloped({"x": 3.0}), jobs, batch=3)
    for i, s in enumerate(spaces):
        slopes = found[str(s.original)].value[0]
        assert slopes.shape == (1, len(s.positions), 4)
        assert (slopes[0, :, 1] == (3.0 if i % 2 else 0.0)).all()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (
            Gradients(np.zeros((1, 2), np.int16), of=0),
            "double cannot answer Gradients.*Hugging Face",
        ),
        (Similarities(np.zeros((1, 2), np.int16), np.zeros(2, np.int16)), "give one as encoder"),
        (Proposals(np.zeros(2, np.int16), 0, 5), "give one as masked"),
    ],
)
def test_what_a_victim_cannot_answer_names_who_can(
    space: Space, victim: Double, question: Any, named: str
) -> None:
    with pytest.raises(Unsupported, match=named):
        solve(victim, [job(space, asking(question))])


# --- open copies --------------------------------------------------------------------------------


def test_an_open_copy_grows_while_its_program_runs(space: Space, victim: Double) -> None:
    mine = space.open()

    def grow() -> Program[list[float]]:
        first = yield scores_of((0, 0), (2, 0))
        (choice,) = mine.extend(0, ["fine film"])
        second = yield scores_of((choice, 0), (2, 0))
        return [*first[:, 1], *second[:, 1]]

    result = only(solve(victim, [job(mine, grow())]))
    assert result.value == [2.5, -0.5, 2.0, -0.5]
    assert (result.queries, result.forwards) == (4, 3)


def test_an_open_copy_grows_with_merged_rows() -> None:
    mine = Space("good film", {0: ("odd", "fine")}).open()

    def grow() -> Program[list[float]]:
        first = yield scores_of((1,), (2,), (UNKNOWN,))
        mine.extend(0, ["weird", "poor"])
        second = yield scores_of((3,), (4,), (UNKNOWN,))
        return [*first[:, 1], *second[:, 1]]

    result = only(solve(Blurred({"good": 2.0, "fine": 1.0, "poor": -1.0}), [job(mine, grow())]))
    assert result.value == [0.0, 1.0, 0.0, 0.0, -1.0, 0.0]
    assert (result.queries, result.forwards) == (6, 3)  # odd, weird and unknown are one to it


# --- counting and caching -----------------------------------------------------------------------


def test_queries_and_forwards(space: Space, victim: Double) -> None:
    questions = [scores_of((0, 0), (1, 0), (0, 0)), scores_of((1, 0), (2, 0)), scores_of((0, 0))]
    result = only(solve(victim, [job(space, asking(*questions))]))
    assert result.queries == 6  # cached answers are queries
    assert result.forwards == 3  # but not forwards
    assert victim.forwards == 3 + 2  # the first look at the victim scores the original twice
    assert [a[:, 1].tolist() for a in result.value] == [[2.5, 1.5, 2.5], [1.5, -0.5], [2.5]]


def test_statistics_add_up(victim: Double) -> None:
    spaces = [long_space(n, f"t{n}_") for n in range(1, 12)]
    seen: list[int] = []
    engine = Engine(victim, batch=8, on_batch=lambda stats: seen.append(stats.batches))
    results = list(engine.run([job(s, asking(Scores(s.neighbours(s.origin)))) for s in spaces]))
    stats = engine.stats
    assert stats.texts == len(spaces) == len(results)
    assert stats.queries == sum(r.queries for r in results) == 3 * sum(range(1, 12))
    assert stats.forwards == sum(r.forwards for r in results)
    assert stats.batches == len(seen) == seen[-1]
    assert stats.seconds > 0


def test_questions_that_ask_not_to_be_cached_are_run_again(space: Space, victim: Double) -> None:
    asked = scores_of((0, 0), (0, 0), cache=False)
    result = only(solve(victim, [job(space, asking(asked, asked))]))
    assert (result.queries, result.forwards) == (4, 4)


@pytest.mark.parametrize("cache_rows", [0, 1, 5, 7, 100])
def test_the_cache_is_bounded_and_answers_stay_right(cache_rows: int) -> None:
    space = long_space(3)
    held: list[int] = []
    victim = Double(linear({"x": 1.0, "y": 2.0, "z": 4.0}))
    weights = np.array([0, 1, 2, 4])

    def walk() -> Program[None]:
        rng = np.random.default_rng(1)
        for size in (1, 3, 4, 2, 6, 1, 30, 5, 5):
            one, two = space.sample(None, size, rng), space.sample(None, 3, rng)
            first, second = yield (Scores(one), Scores(two))
            assert (first[:, 1] == weights[one].sum(axis=1)).all()
            assert (second[:, 1] == weights[two].sum(axis=1)).all()
            held.append(len(engine_task._index))

    program = walk()
    engine = Engine(victim, cache_rows=cache_rows, say=lambda message: None)
    started = engine._enqueue
    engine_task: Any = None

    def watch(task: Any, asks: Any) -> None:
        nonlocal engine_task
        engine_task = task
        started(task, asks)

    engine._enqueue = watch  # type: ignore[method-assign]
    (result,) = within(20, lambda: list(engine.run([job(space, program)])))
    assert result.error is None, result.traceback
    assert max(held) <= cache_rows
    assert result.queries == 57 + 27
    assert result.forwards <= result.queries


def test_rows_a_victim_cannot_tell_apart_are_run_once() -> None:
    space = Space("good film", {0: ("odd", "weird", "fine"), 1: ("strange",)})
    victim = Blurred({"good": 2.0, "fine": 1.0, "film": 0.5})
    rows = [(1, 0), (2, 0), (3, 0), (UNKNOWN, 0), (2, 1), (1, 1), (0, UNKNOWN), (0, 1)]
    result = only(solve(victim, [job(space, asking(scores_of(*rows)))]))
    assert result.value[0][:, 1].tolist() == [0.5, 0.5, 1.5, 0.5, 0.0, 0.0, 2.0, 2.0]
    assert (result.queries, result.forwards) == (8, 4)


def test_a_random_victim_is_found_out(space: Space) -> None:
    said: list[str] = []
    victim = Double(coin())
    engine = Engine(victim, say=said.append)
    asked = scores_of((0, 0), (0, 0))
    (result,) = list(engine.run([job(space, asking(asked, asked))]))
    assert engine.stats.random
    assert "double gives different scores for the same text: caching is off" in said[0]
    assert result.forwards == 4
    assert len(set(np.concatenate(result.value)[:, 1])) == 4


def test_a_random_victim_warns_by_default(space: Space) -> None:
    with pytest.warns(UserWarning, match="caching is off"):
        list(Engine(Double(coin())).run([job(space, asking(scores_of((0, 0))))]))


@pytest.mark.parametrize("score", [linear(WEIGHTS), constant(), lambda words: (0.0, float("inf"))])
def test_other_victims_are_not_called_random(space: Space, score: Any) -> None:
    said: list[str] = []
    engine = Engine(Double(score), say=said.append)
    list(engine.run([job(space, asking())]))
    assert not engine.stats.random
    assert said == []


def test_float_noise_is_not_randomness(space: Space) -> None:
    engine = Engine(Blurred(WEIGHTS, noise=1e-7), say=pytest.fail)
    list(engine.run([job(space, asking(scores_of((0, 0))))]))
    assert not engine.stats.random


# --- budgets ------------------------------------------------------------------------------------


def spending(seen: list[Any], *, after: Callable[[Spent], Any]) -> Program[Any]:
    """Asks for ten rows of the space of three words, then for as many again."""
    space = long_space(3)
    rows = np.concatenate(list(space.enumerate(2)))
    try:
        yield Scores(rows[:10])
        yield Scores(rows[10:20])
    except Spent as end:
        seen.append((end.rows.tolist(), end.scores[:, 1].tolist()))
        return after(end)
    return "all"


@pytest.mark.parametrize("budget", [0, 1, 9, 10, 11, 19])
def test_the_affordable_prefix_is_really_run(budget: int) -> None:
    space = long_space(3)
    victim = Double(linear({"x": 1.0, "y": 2.0, "z": 4.0}))
    seen: list[Any] = []
    program = spending(seen, after=lambda end: "spent")
    result = only(solve(victim, [job(space, program, max_queries=budget)]))
    rows = np.concatenate(list(space.enumerate(2)))
    start = 0 if budget < 10 else 10
    prefix = rows[start:budget]
    assert seen == [(prefix.tolist(), np.array([0, 1, 2, 4])[prefix].sum(axis=1).tolist())]
    assert (result.value, result.queries, result.exhausted) == ("spent", budget, True)
    assert victim.forwards - 2 == budget


def test_a_budget_that_suffices_ends_nothing() -> None:
    result = only(
        solve(Double(constant()), [job(long_space(3), spending([], after=str), max_queries=20)])
    )
    assert (result.value, result.queries, result.exhausted) == ("all", 20, False)


def test_spent_is_thrown_once_and_a_further_question_ends_it(victim: Double) -> None:
    space = long_space(2)
    log: list[str] = []

    def stubborn() -> Program[str]:
        while True:
            try:
                yield Scores(space.neighbours(space.origin))
                log.append("answer")
            except Spent:
                log.append("spent")
            except GeneratorExit:
                log.append("closed")
                raise

    result = only(solve(victim, [job(space, stubborn(), max_queries=8)]))
    assert log == ["answer", "spent", "closed"]
    assert result.exhausted
    assert (result.value, result.queries) == (None, 8)


def test_a_program_that_lets_spent_pass_is_exhausted(space: Space, victim: Double) -> None:
    result = only(solve(victim, [job(space, asking(scores_of((0, 0), (1, 0))), max_queries=1)]))
    assert result.exhausted
    assert (result.value, result.queries, result.forwards) == (None, 1, 1)


def test_cached_answers_spend_the_budget(space: Space, victim: Double) -> None:
    result = only(solve(victim, [job(space, asking(*[scores_of((0, 0))] * 9), max_queries=5)]))
    assert result.exhausted
    assert (result.queries, result.forwards) == (5, 1)


def test_the_best_row_is_kept_when_the_budget_ends() -> None:
    """Fewest swaps first, then the highest gain; rows over the limit or outside never count."""
    space = Space("good good good", dict.fromkeys(range(3), ("poor", "awful", "dire")))
    victim = Double(linear({"good": 1.0, "poor": -2.0, "awful": -5.0, "dire": -9.0}))
    goal = Goal(space, label=1, max_swaps=2)
    rows = [(0, 0, 0), (1, 1, 0), (0, 0, 3), (0, 2, 0), (3, 3, 3), (0, 3, 0), (UNKNOWN, 3, 0)]
    questions = [scores_of(row) for row in rows]
    expected = [None, None, (1, 1, 0), (0, 0, 3), (0, 0, 3), (0, 0, 3), (0, 0, 3)]
    for budget, best in enumerate(expected[1:], start=1):
        program = asking(*questions, scores_of((0, 0, 0)))
        result = only(solve(victim, [job(space, program, goal=goal, max_queries=budget)]))
        assert result.exhausted
        assert result.best is None if best is None else tuple(result.best) == best


def test_the_best_row_comes_from_all_questions_of_a_tuple() -> None:
    space = Space("good", {0: ("poor", "dire")})
    goal = Goal(space, label=1)
    victim = Double(linear({"good": 1.0, "poor": -1.0, "dire": -2.0}))
    program = asking((scores_of((2,)), scores_of((1,), (0,))))
    result = only(solve(victim, [job(space, program, goal=goal, max_queries=2)]))
    assert result.best.tolist() == [2]
    assert result.queries == 2


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_budgets_count_gradients(budget: int) -> None:
    space = Space("good", {0: ("poor", "dire")})
    asked = Gradients(np.array([(0,), (1,)], np.int16), of=1)
    seen: list[Any] = []

    def slope() -> Program[str]:
        try:
            yield asked
            yield asked
        except Spent as end:
            seen.append((end.rows.tolist(), end.scores.shape))
            return "spent"
        return "all"

    result = only(solve(Sloped(WEIGHTS), [job(space, slope(), max_queries=budget)]))
    n = budget % 2
    assert (result.value, result.queries) == ("spent", budget)
    assert seen == [([[0], [1]][:n], (n, 1, 3))]


def test_a_budget_cuts_a_question_of_one_row(space: Space, victim: Double) -> None:
    seen: list[Any] = []

    def one() -> Program[None]:
        try:
            yield Scores(space.origin)
        except Spent as end:
            seen.append((end.rows.shape, end.scores.shape))

    only(solve(victim, [job(space, one(), max_queries=0)]))
    assert seen == [((0, 2), (0, 2))]


@pytest.mark.parametrize("attack", [Greedy(), Beam(width=2)])
@pytest.mark.parametrize("budget", [0, 1, 3, 8, 20, 1000])
def test_no_attack_exceeds_its_budget(attack: Any, budget: int) -> None:
    victim = Double(constant())
    jobs = [attacking(attack, long_space(n, f"t{n}_"), max_queries=budget) for n in (1, 3, 6)]
    for result in solve(victim, jobs).values():
        assert result.queries <= budget
        assert result.value is None


# --- batches ------------------------------------------------------------------------------------


def test_back_pressure_keeps_the_pool_small(monkeypatch: pytest.MonkeyPatch) -> None:
    pooled: list[int] = []
    started = Engine._work

    def watch(self: Engine, more: bool) -> None:
        pooled.append(sum(s.stop - s.start for s in self._pool))
        assert pooled[-1] == self._pooled
        started(self, more)

    monkeypatch.setattr(Engine, "_work", watch)
    spaces = [long_space(10, f"t{n}_") for n in range(100)]
    jobs = [attacking(Beam(width=2), s, max_swaps=2) for s in spaces]
    results = solve(Double(constant()), jobs, batch=16, in_flight=64)
    assert len(results) == 100
    largest = 2 * 9 * 3  # rows of one question
    assert max(pooled) < 4 * 16 + largest


def test_batches_are_full_but_for_the_last(victim: Double) -> None:
    spaces = [long_space(5, f"t{n}_") for n in range(64)]
    jobs = [job(s, asking(Scores(s.neighbours(s.origin)))) for s in spaces]
    solve(victim, jobs, batch=32)
    sizes = victim.sizes[2:]  # after the first look
    assert sum(sizes) == 64 * 15
    assert max(sizes) == 32
    assert sizes.count(32) >= len(sizes) - 2


@pytest.mark.parametrize("option", ["batch", "in_flight"])
@pytest.mark.parametrize("value", [0, -1])
def test_options_that_would_never_end_are_refused(victim: Double, option: str, value: int) -> None:
    with pytest.raises(InputError, match=f"{option}.*{value}"):
        Engine(victim, **{option: value})  # type: ignore[arg-type]


def test_jobs_are_taken_as_they_are_needed(victim: Double) -> None:
    taken: list[int] = []

    def jobs() -> Any:
        for n in range(100):
            taken.append(n)
            yield job(long_space(2, f"t{n}_"), asking(scores_of((0, 0)), scores_of((1, 0))))

    engine = Engine(victim, in_flight=4)
    first = next(engine.run(jobs()))
    assert first.error is None
    assert len(taken) <= 8 + 4


def test_an_engine_can_be_used_again_after_a_run_was_left(victim: Double) -> None:
    engine = Engine(victim, in_flight=8, batch=4)
    for _ in engine.run([attacking(Beam(), long_space(4, f"a{n}_")) for n in range(20)]):
        break
    second = [attacking(Beam(), long_space(3, f"b{n}_")) for n in range(5)]
    found = within(20, lambda: list(engine.run(second)))
    assert sorted(r.job.key for r in found) == sorted(j.key for j in second)


# --- victims that answer later ------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 5, 128])
def test_answers_may_come_later(depth: int, batch: int) -> None:
    weights = {"x": 0.3, "y": -0.7, "z": 0.11, "w0": 0.9}

    def jobs() -> list[Job[Any]]:
        spaces = [long_space(1 + n % 5, f"{'w' * (n // 5 + 1)}") for n in range(20)]
        return [attacking((Greedy(), Beam(2))[i % 2], s) for i, s in enumerate(spaces)]

    now = Double(linear(weights, bias=1.0))
    later = Double(linear(weights, bias=1.0), depth=depth)
    assert ends(solve(later, jobs(), batch=batch)) == ends(solve(now, jobs(), batch=batch))
    assert later.most_waiting <= depth + 1
    assert later.waiting == 0
    assert batch == 128 or later.most_waiting > 1


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("batch", [1, 2, 4])
def test_lengths_too_different_for_full_batches_come_to_an_end(depth: int, batch: int) -> None:
    """No batch is ever full, yet more rows wait than the pool should hold, with some under way."""
    victim = Double(constant(), depth=depth)
    victim.stretch = 1000  # never worth padding a text to the length of another
    spaces = [long_space(n, f"t{n}_") for n in range(2, 40)]
    jobs = [job(s, asking(*[Scores(s.at(s.origin, 0)[1:], cache=False)] * 5)) for s in spaces]
    results = solve(victim, jobs, batch=batch, in_flight=50)
    assert len(results) == len(spaces)
    assert {(r.error, r.queries) for r in results.values()} == {(None, 15)}
