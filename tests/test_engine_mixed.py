"""Engine: any mix of questions, faults, lengths and batches ends, as it does one batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.errors import OutOfMemory
from unfooled.program import Goal, Gradients, Program, Scores, Sensitivity, Spent, Sweep, Swept
from unfooled.space import Space
from unfooled.task import Job
from unfooled.victims.base import Differentiable, Floats, Part, Sensitive, Sweeping
from victim_doubles import Faulty, ends, linear, solve, words

WEIGHTS = {"good": 1.0, "fine": 0.4, "poor": -2.0, "film": 0.2}
FAULTS = ("raise", "nan", "shape", "few", "memory", "nothing")


class Everything(Faulty, Differentiable, Sensitive, Sweeping):
    """Answers every question about scores; fails on texts with `steep`, and prepares none with `odd`."""

    def prepare(self, space: Space) -> Any:
        if "odd" in space.original.words:
            raise RuntimeError("no such space")
        return super().prepare(space)

    def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
        if self.limit is not None and sum(len(p.rows) for p in parts) > self.limit:
            raise OutOfMemory("these gradients do not fit")
        return [self._slopes(part) for part in parts]

    def _slopes(self, part: Part) -> Floats:
        space = part.prepared.space
        if "steep" in space.original.words and part.rows.any():
            raise RuntimeError("no slope here")
        scores = [self.score(words(source))[1] for source in space.sources(part.rows)]
        shape = len(part.rows), len(space.counts), max(space.counts, default=0) + 1
        found: Floats = np.broadcast_to(np.reshape(scores, (-1, 1, 1)), shape)
        return found

    def sensitivity(self, prepared: Any, of: int) -> Floats:
        return np.arange(len(prepared.space.counts)) + float(of)

    def sweep(self, prepared: Any, sweep: Sweep, *, limit: int | None) -> Iterator[Swept]:
        steep = "steep" in prepared.space.original.words
        for stretch in range(1, 5):
            if limit is not None and 2 * stretch > limit:
                return
            if steep and stretch == 3:
                raise RuntimeError("too steep to sweep")
            yield Swept(2, 2, least=-float(stretch), complete=stretch == 4)


KINDS: dict[str, Callable[[Space, Any], Any]] = {
    "all": lambda space, some: Scores(space.neighbours(space.origin)),
    "some": lambda space, some: Scores(some),
    "again": lambda space, some: Scores(some, cache=False),
    "three": lambda space, some: (Scores(some), Scores(some[::-1]), Scores(some, cache=False)),
    "slopes": lambda space, some: Gradients(some, of=1),
    "two slopes": lambda space, some: (
        Gradients(some, of=0),
        Gradients(space.rows(space.origin), of=1),
    ),
    "slopes and scores": lambda space, some: (
        Gradients(space.rows(space.origin), of=0),
        Scores(some),
        Gradients(some, of=1),
    ),
    "sensitivity": lambda space, some: Sensitivity(1),
    "sweep": lambda space, some: Sweep(1, 1, tuple(range(len(space.counts)))),
    "nothing": lambda space, some: (),
}


class Plan(NamedTuple):
    """One text: its fault, its words, what is asked, with what budget."""

    fault: str
    length: int
    asked: list[str]
    seed: int
    budget: int | None


PLANS = st.builds(
    Plan,
    st.sampled_from(["", "", "", "", *FAULTS, "steep", "odd"]),
    st.integers(0, 9),
    st.lists(st.sampled_from(list(KINDS)), max_size=5),
    st.integers(0, 99),
    st.none() | st.none() | st.integers(0, 40),
)


def asking(plan: Plan, space: Space) -> Program[list[Any]]:
    rng, rows, answers = np.random.default_rng(plan.seed), space.neighbours(space.origin), []
    for kind in plan.asked:
        some = rows[rng.permutation(len(rows))[: rng.integers(0, len(rows) + 1)]]
        try:
            found = yield KINDS[kind](space, some)
        except Spent as spent:
            return [*answers, spent.which, np.asarray(spent.scores)]
        if isinstance(found, Swept):
            found = [found.evaluated, found.least, found.complete]
        answers.append(found)
    return answers


def jobs(plans: Sequence[Plan]) -> Iterator[Job[Any]]:
    for number, plan in enumerate(plans):
        last = f"bad{number}" if plan.fault in FAULTS else "poor"
        first = plan.fault if plan.fault in ("steep", "odd") else "the"
        space = Space(
            f"{first} {number} " + " ".join(["good"] * plan.length),
            {2 + i: ("fine", "film", last) for i in range(min(plan.length, 4))},
        )
        yield Job(str(number), space, asking(plan, space), Goal(space, 1), plan.budget)


def ended(plans: Sequence[Plan], *, depth: int, limit: int | None, **how: Any) -> dict[str, Any]:
    faults = {f"bad{n}": plan.fault for n, plan in enumerate(plans) if plan.fault in FAULTS}
    victim = Everything(linear(WEIGHTS), faults, limit=limit, depth=depth)
    victim.stretch, victim.batch_tokens = how.pop("stretch"), how.pop("batch_tokens")
    return ends(solve(victim, jobs(plans), **how))


@given(
    st.lists(PLANS, max_size=40),
    st.integers(1, 4),
    st.sampled_from([1, 2, 3, 7, 16, 128]),
    st.sampled_from([1, 2, 5, 64, 200]),
    st.sampled_from([None, 3, 10, 50]),
    st.integers(1, 3),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from([0, 1, 5, 16_384]),
)
@settings(max_examples=60, deadline=None)
def test_every_run_ends_as_one_without_depth(
    plans: list[Plan],
    depth: int,
    batch: int,
    in_flight: int,
    batch_tokens: int | None,
    stretch: int,
    limit: int | None,
    cache_rows: int,
) -> None:
    plain = ended(plans, depth=0, limit=None, stretch=1, batch_tokens=None)
    assert set(plain) == {str(number) for number in range(len(plans))}
    how: dict[str, Any] = {"batch": batch, "in_flight": in_flight, "cache_rows": cache_rows}
    how |= {"stretch": stretch, "batch_tokens": batch_tokens}
    assert ended(plans, depth=depth, limit=limit, **how) == plain
