"""Engine: one bad text fails alone, whatever goes wrong; the others end as if it were not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.attacks.beam import Beam
from unfooled.attacks.greedy import Greedy
from unfooled.engine import Engine
from unfooled.errors import InputError, OutOfMemory
from unfooled.program import Goal, Gradients, Program, Scores
from unfooled.space import Space
from unfooled.task import Job
from unfooled.text import Source
from unfooled.victims.base import Floats, Part, Prepared
from victim_doubles import (
    Double,
    Faulty,
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

WEIGHTS = {"good": 1.0, "fine": 0.4, "poor": -2.0, "film": 0.2}
FAULTS = ["raise", "nan", "inf", "shape", "few", "many", "strings", "nothing", "memory"]
EXPECTED = {
    "raise": "RuntimeError: a word nobody knows",
    "nan": r"it returned \[nan",
    "inf": r"it returned \[inf",
    "shape": r"given 1 texts and returned an array of shape \(2,\)",
    "few": r"shape \(0, 2\)",
    "many": r"shape \(2, 2\)",
    "strings": "type <U",
    "nothing": r"shape \(\) and type object",
    "memory": "OutOfMemory: not even alone",
}


def text_of(n: int, *, candidates: Sequence[str] = ("fine", "poor")) -> Space:
    """Text number n: 'good film 7', with candidates for the first word."""
    return Space(f"good film {n}", {0: candidates})


def healthy(n: int) -> Job[Any]:
    return job(text_of(n), asking(scores_of((0,), (1,)), scores_of((2,))))


def sick(n: int) -> Job[Any]:
    return job(
        text_of(n, candidates=("fine", "bad")), asking(scores_of((0,), (1,)), scores_of((2,)))
    )


# --- victims that fail --------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("batch", [1, 5, 128])
def test_one_bad_text_fails_alone(fault: str, depth: int, batch: int) -> None:
    victim = Faulty(linear(WEIGHTS), {"bad": fault}, depth=depth)
    jobs = [sick(n) if n in (3, 7) else healthy(n) for n in range(12)]
    results = solve(victim, jobs, batch=batch)
    assert len(results) == 12
    for n in range(12):
        result = results[f"good film {n}"]
        if n in (3, 7):
            assert f"faulty failed on 'bad film {n}'" in result.error
            assert "expected 2 finite scores, one for each class" in result.error
            with pytest.raises(AssertionError, match=EXPECTED[fault]):
                raise AssertionError(result.error)
            assert result.value is None
        else:
            assert result.error is None
            first, second = result.value
            assert np.allclose(first[:, 1], [1.2, 0.6])
            assert np.allclose(second[:, 1], [-1.8])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_victim_that_fails_on_everything(fault: str) -> None:
    victim = Faulty(linear(WEIGHTS), {"film": fault})
    results = solve(victim, [healthy(n) for n in range(9)])
    assert all("failed on" in r.error for r in results.values())
    assert len(results) == 9
    assert len(victim.sizes) < 80  # a bisection, not a siege


def test_a_victim_that_raises_names_the_original_text_too() -> None:
    results = solve(Faulty(linear(WEIGHTS), {"7": "raise"}), [healthy(n) for n in range(9)])
    failed = [key for key, r in results.items() if r.error]
    assert failed == ["good film 7"]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_out_of_memory_halves_the_batch_and_goes_on(depth: int) -> None:
    said: list[str] = []
    victim = Faulty(linear(WEIGHTS), {}, limit=5, depth=depth)
    space = Space("good good good", dict.fromkeys(range(3), ("fine", "poor", "film")))
    rows = np.concatenate(list(space.enumerate()))
    engine = Engine(victim, batch=64, say=said.append)
    (result,) = within(20, lambda: list(engine.run([job(space, asking(Scores(rows)))])))
    expected = linear(WEIGHTS)
    assert result.error is None
    assert result.value[0].tolist() == [list(expected(space.text(r).words)) for r in rows]
    assert engine.batch == 4  # 64, 32, 16, 8, 4
    assert "faulty ran out of memory with 64 texts at once: now 32" in said[0]
    assert len(said) == 4
    assert max(victim.sizes) <= 5


def test_later_batches_are_as_small_as_memory_allows() -> None:
    victim = Faulty(linear(WEIGHTS), {}, limit=5)
    jobs = [
        job(text_of(n), asking(*[scores_of((0,), (1,), (2,), cache=False)] * 3)) for n in range(30)
    ]
    solve(victim, jobs, batch=64)
    assert victim.sizes.count(0) < 20  # failures: at the start only


@pytest.mark.parametrize("name", ["MemoryError", "OutOfMemoryError"])
def test_running_out_of_memory_has_several_names(name: str) -> None:
    """A plain function raises what Python or its tensor library raises."""
    kind = MemoryError if name == "MemoryError" else type(name, (RuntimeError,), {})

    class Small(Double):
        def scores(self, sources: Sequence[Source]) -> Floats:
            if len(sources) > 3:
                raise kind("too much")
            return super().scores(sources)

    engine = Engine(Small(linear(WEIGHTS)), batch=16, say=lambda message: None)
    jobs = [job(text_of(n), asking(scores_of((0,), (1,), (2,)))) for n in range(8)]
    results = within(20, lambda: list(engine.run(jobs)))
    assert [r.error for r in results] == [None] * 8
    assert engine.batch <= 3


def test_a_random_victim_that_also_fails_is_still_found_out() -> None:
    said: list[str] = []
    engine = Engine(Faulty(coin(), {"3": "raise"}), say=said.append)
    results = within(20, lambda: list(engine.run([healthy(n) for n in range(8)])))
    assert engine.stats.random
    assert "caching is off" in said[0]
    assert [r.job.key for r in results if r.error] == ["good film 3"]


def test_a_space_that_cannot_be_prepared_fails_alone() -> None:
    class Picky(Double):
        def prepare(self, space: Space) -> Prepared:
            if "3" in space.original.words:
                raise UnicodeError("cannot be cut into tokens")
            found: Prepared = super().prepare(space)
            return found

    results = solve(Picky(linear(WEIGHTS)), [healthy(n) for n in range(6)])
    assert {key for key, r in results.items() if r.error} == {"good film 3"}
    error = results["good film 3"].error
    assert "double failed on 'good film 3'" in error
    assert "UnicodeError: cannot be cut into tokens" in error


def test_submitting_may_fail_as_well_as_scoring() -> None:
    class Eager(Double):
        def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
            if any("3" in p.prepared.space.original.words for p in parts):
                raise RuntimeError("no room for three")
            if sum(len(p.rows) for p in parts) > 4:
                raise OutOfMemory("four at most")
            return super().submit(parts)

    results = solve(Eager(linear(WEIGHTS)), [healthy(n) for n in range(6)])
    assert {key for key, r in results.items() if r.error} == {"good film 3"}


# --- gradients that fail ------------------------------------------------------------------------


def slope_of(n: int) -> Job[Any]:
    space = text_of(n)
    return job(space, asking(Gradients(space.rows(space.origin), of=1)))


def test_gradients_fail_alone() -> None:
    victim = Sloped(WEIGHTS)
    victim.broken = "3"
    results = solve(victim, [slope_of(n) for n in range(8)])
    assert {key for key, r in results.items() if r.error} == {"good film 3"}
    assert "RuntimeError: no slope here" in results["good film 3"].error


@pytest.mark.parametrize("answer", ["short", "nan", "wrong rows", "none"])
def test_gradients_are_checked(answer: str) -> None:
    class Bent(Sloped):
        def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> Any:
            found = super().gradients(parts, of)
            for i, part in enumerate(parts):
                if "3" in part.prepared.space.original.words:
                    if answer == "short":
                        return found[:-1]
                    if answer == "none":
                        return None
                    found[i] = found[i] * np.nan if answer == "nan" else found[i][:0]
            return found

    results = solve(Bent(WEIGHTS), [slope_of(n) for n in range(8)])
    assert {key for key, r in results.items() if r.error} == {"good film 3"}
    assert "sloped failed on 'good film 3'" in results["good film 3"].error


def test_a_text_that_failed_gets_no_gradients_afterwards() -> None:
    """The scores of a tuple fail while its gradients still wait: one result, and no more."""

    class Half(Sloped):
        def scores(self, sources: Sequence[Source]) -> Floats:
            found = super().scores(sources)
            found[["film 3" in str(s) for s in sources]] = np.nan
            return found

    def both(n: int) -> Job[Any]:
        space = text_of(n)
        return job(space, asking((scores_of((1,)), Gradients(space.rows(space.origin), of=1))))

    results = solve(Half(WEIGHTS), [both(n) for n in range(6)])
    assert len(results) == 6
    assert {key for key, r in results.items() if r.error} == {"good film 3"}


def test_one_of_two_gradient_questions_fails() -> None:
    """The other of the tuple is answered, but its text has had its one result."""

    class Half(Sloped):
        def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
            if any("film 3" in str(part.prepared.space.original) for part in parts) and 0 in of:
                raise RuntimeError("no slope here")
            return super().gradients(parts, of)

    def two(n: int) -> Job[Any]:
        space = text_of(n)
        rows = space.rows(space.origin)
        return job(space, asking((Gradients(rows, of=1), Gradients(rows, of=0))))

    results = solve(Half(WEIGHTS), [two(n) for n in range(6)], in_flight=1)
    assert len(results) == 6
    assert {key for key, r in results.items() if r.error} == {"good film 3"}


class Narrow(Sloped):
    """Has memory for the gradients of two texts, and none for those of a text with `poor`."""

    most, poor = 2, False

    def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
        if sum(len(part.rows) for part in parts) > self.most:
            raise OutOfMemory("too many")
        if self.poor and any((part.rows == 2).any() for part in parts):
            raise RuntimeError("no slope here")
        return super().gradients(parts, of)


def wide(n: int) -> Job[Any]:
    """Asks for the gradients at five texts at once."""
    rows = np.array([[0], [1], [0], [2], [1]], dtype=np.int16)
    return job(text_of(n), asking(Gradients(rows, of=1), Gradients(rows[3:4], of=1)))


@pytest.mark.parametrize(
    ("batch", "numbers"),
    [
        (2, []),  # a batch has no more rows than it may
        (3, ["3 texts at once: now 1"]),
        (128, [f"{n} texts at once: now {n // 2}" for n in (20, 10, 5, 3)]),
    ],
)
def test_gradients_of_one_text_may_be_too_many_at_once(batch: int, numbers: list[str]) -> None:
    said: list[str] = []
    found = solve(Narrow(WEIGHTS), map(wide, range(4)), batch=batch, say=said.append)
    assert ends(found) == ends(solve(Sloped(WEIGHTS), map(wide, range(4))))
    assert said == [f"sloped ran out of memory with the gradients of {n}" for n in numbers]


def test_the_text_whose_gradients_fail_is_named() -> None:
    victim = Narrow(WEIGHTS)
    victim.poor = True
    (result,) = solve(victim, [wide(3)]).values()
    assert result.error == "sloped failed on 'poor film 3': RuntimeError: no slope here"


# --- programs that fail -------------------------------------------------------------------------


def raising(stage: int) -> Program[None]:
    """Raises before the first question, or after the first or second answer."""
    for step in range(3):
        if step == stage:
            raise KeyError("my own mistake")
        yield scores_of((0,), (1,))


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_a_program_that_raises_is_recorded_with_its_traceback(stage: int) -> None:
    jobs = [job(text_of(0), raising(stage)), *map(healthy, range(1, 5))]
    results = solve(Double(linear(WEIGHTS)), jobs)
    result = results.pop("good film 0")
    assert result.error == "KeyError: 'my own mistake'"
    assert "in raising" in result.traceback
    assert result.queries == 2 * stage
    assert all(r.error is None for r in results.values())


@pytest.mark.parametrize(
    "rows", [[(3,)], [(-3,)], [(0, 0)], np.zeros((1, 0)), np.zeros((1, 1, 1)), [("word",)]]
)
@pytest.mark.parametrize("merge", [False, True])
def test_rows_outside_the_space_are_the_programs_fault(rows: Any, merge: bool) -> None:
    class Merging(Double):
        def prepare(self, space: Space) -> Prepared:
            prepared: Prepared = super().prepare(space)
            prepared.canon = np.array([[0, 1, 1, 0, -2, -1]], np.int16) if merge else None
            return prepared

    asked = Scores(rows if isinstance(rows, np.ndarray) else np.array(rows))
    jobs = [job(text_of(0), asking(asked)), *map(healthy, range(1, 5))]
    results = solve(Merging(linear(WEIGHTS)), jobs)
    assert results.pop("good film 0").traceback
    assert all(r.error is None for r in results.values())


@pytest.mark.parametrize("thing", [None, 3, "Scores", [scores_of((0,))], (None,)])
def test_what_is_no_question_is_the_programs_fault(thing: Any) -> None:
    results = solve(
        Double(linear(WEIGHTS)), [job(text_of(0), asking(thing)), *map(healthy, range(1, 5))]
    )
    assert "question" in results.pop("good film 0").error
    assert all(r.error is None for r in results.values())


def clinging() -> Program[None]:
    """Does not let go at once, whatever is thrown at it."""
    held = 0
    while held < 2:
        try:
            yield scores_of((0,), (1,), (2,))
        except BaseException:
            held += 1


def untidy() -> Program[None]:
    """Stumbles while it is being closed."""
    try:
        while True:
            yield scores_of((0,), (1,), (2,))
    except GeneratorExit:
        raise OSError("the disk is full") from None
    except Exception:
        yield scores_of((0,))


@pytest.mark.parametrize("program", [clinging, untidy])
def test_a_program_that_cannot_be_closed_harms_no_other(program: Any) -> None:
    victim = Faulty(linear(WEIGHTS), {"bad": "nan"})
    broken = job(text_of(0, candidates=("fine", "bad")), program())
    spent = job(text_of(1), program(), max_queries=4)
    results = solve(victim, [broken, spent, *map(healthy, range(2, 6))])
    assert "failed on 'bad film 0'" in results.pop("good film 0").error
    assert results.pop("good film 1").exhausted
    assert all(r.error is None for r in results.values())


def test_something_that_is_no_program_fails_alone() -> None:
    broken: Any = job(text_of(0), None)  # type: ignore[arg-type]
    results = solve(Double(linear(WEIGHTS)), [broken, healthy(1)])
    assert results["good film 0"].error
    assert results["good film 1"].error is None


def test_ctrl_c_is_not_a_failed_text() -> None:
    class Interrupted(Double):
        def scores(self, sources: Sequence[Source]) -> Floats:
            if len(self.sizes) > 4:
                raise KeyboardInterrupt
            return super().scores(sources)

    done: list[str] = []

    def work() -> None:
        for result in Engine(Interrupted(linear(WEIGHTS)), batch=3).run(map(healthy, range(20))):
            done.append(result.job.key)

    with pytest.raises(KeyboardInterrupt):
        within(20, work)
    assert len(done) == len(set(done)) < 20


# --- any mix of failures ------------------------------------------------------------------------

PROGRAMS = ["greedy", "beam", "asks", "raises", "tuple"]


@given(
    st.lists(
        st.tuples(st.sampled_from(PROGRAMS), st.none() | st.sampled_from(FAULTS)),
        min_size=1,
        max_size=14,
    ),
    st.sampled_from([1, 2, 3, 8, 64]),
    st.sampled_from([1, 2, 64]),
    st.integers(0, 3),
    st.none() | st.integers(1, 6),
    st.none() | st.integers(0, 12),
)
@settings(max_examples=80, deadline=None)
def test_every_job_has_exactly_one_result(
    kinds: list[tuple[str, str | None]],
    batch: int,
    in_flight: int,
    depth: int,
    limit: int | None,
    budget: int | None,
) -> None:
    jobs = [_job(n, kind, fault, budget) for n, (kind, fault) in enumerate(kinds)]
    faults = {f"bad{n}": fault for n, (_, fault) in enumerate(kinds) if fault}
    victim = Faulty(linear(WEIGHTS), faults, limit=limit, depth=depth)
    results = solve(victim, jobs, batch=batch, in_flight=in_flight)
    assert set(results) == {j.key for j in jobs}
    for n, (kind, fault) in enumerate(kinds):
        result = results[jobs[n].key]
        if budget is not None:
            assert result.queries <= budget
        if kind == "raises" and not result.exhausted and fault is None:
            assert result.error == "KeyError: 'my own mistake'"
        elif fault is None:
            assert result.error is None, result.error
    # The texts without faults end as they do on a victim without any.
    sound = [_job(n, kind, None, budget) for n, (kind, fault) in enumerate(kinds) if not fault]
    alone = ends(solve(Double(linear(WEIGHTS)), sound))
    found = ends({key: r for key, r in results.items() if key in alone})
    assert found == alone


def _job(n: int, kind: str, fault: str | None, budget: int | None) -> Job[Any]:
    last = f"bad{n}" if fault else "poor"
    length = 1 + n % 4
    space = Space(
        f"number {n} " + " ".join(["good"] * length),
        {2 + i: ("fine", "film", last) for i in range(length)},
    )
    if kind == "greedy":
        return attacking(Greedy(), space, max_queries=budget)
    if kind == "beam":
        return attacking(Beam(2), space, max_queries=budget)
    goal = Goal(space, 1)
    rows = space.neighbours(space.origin)
    if kind == "raises":
        program = _then_raises(rows)
    elif kind == "asks":
        program = asking(Scores(rows), Scores(rows[::2]), Scores(rows, cache=False))
    else:
        program = asking((Scores(rows), Scores(rows[:1])), (Scores(rows[1:]),))
    return job(space, program, goal=goal, max_queries=budget)


def _then_raises(rows: np.ndarray) -> Program[None]:
    yield Scores(rows[:2])
    raise KeyError("my own mistake")


def test_a_bad_victim_is_not_hidden_by_a_constant_one() -> None:
    """The fault patterns above would pass for nothing if no fault were ever met."""
    results = solve(Faulty(constant(), {"bad": "nan"}), [sick(0)])
    assert results["good film 0"].error
    with pytest.raises(InputError):
        text_of(0).row("bad film 0")
