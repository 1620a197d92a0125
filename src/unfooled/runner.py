"""Runs an attack over a data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unfooled import registry
from unfooled.errors import InputError, Unsupported
from unfooled.evidence import margins, tolerance
from unfooled.keys import Shard
from unfooled.outcomes import Attempt, Outcome, Outcomes, verified
from unfooled.program import Attack, Finding, Goal, Program, Scores
from unfooled.records import Run
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.base import Differentiable, Victim
from unfooled.work import Candidates, Done, Piece, Work


@dataclass(frozen=True)
class Limits:
    """What every attack has to keep to."""

    max_rate: float | None = None  # share of the words of a text that may be swapped
    max_swaps: int | None = None
    max_queries: int | None = None
    target: int | None = None

    def __post_init__(self) -> None:
        if self.max_rate is not None and not 0 <= self.max_rate <= 1:
            raise InputError(f"max_rate is a share of the words from 0 to 1, not {self.max_rate}")
        if self.max_swaps is not None and self.max_swaps < 0:
            raise InputError(f"max_swaps is 0 or more, not {self.max_swaps}")
        if self.max_queries is not None and self.max_queries < 1:
            raise InputError(f"max_queries is 1 or more, not {self.max_queries}")

    def swaps(self, text: Text) -> int | None:
        """The most swaps in a text: floor(rate x words), or the given number if that is less."""
        most = [] if self.max_swaps is None else [self.max_swaps]
        if self.max_rate is not None:
            most.append(math.floor(self.max_rate * len(text) + 1e-9))  # 0.29 x 100 is 28.999...
        return min(most, default=None)


def attempt(
    attack: Attack, space: Space, *, goal: Goal, rng: np.random.Generator
) -> Program[Attempt]:
    """Asks for the original first (one query), skips a misclassified text, then searches."""
    scores = yield Scores(space.rows(space.origin))
    near_tie = tolerance(scores)[0]  # an original that could be either is not classified correctly
    if margins(scores, goal.label)[0] <= near_tie or (
        goal.target is not None and goal.gain(scores)[0] > -near_tie
    ):
        return Attempt(None, skipped=True)
    found = yield from attack.search(space, goal, rng)
    if isinstance(found, Finding):
        return Attempt(found.row, first_swaps=found.first_swaps, others=found.others)
    return Attempt(found)


def attack(
    name: str | Attack,
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    max_rate: float | None = None,
    max_swaps: int | None = None,
    max_queries: int | None = None,
    target: int | str | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int = 64,
    batch: int | None = None,
    **options: Any,
) -> Outcomes:
    """The outcomes of an attack on every example, in the order of the data.

    `examples`: a Dataset, (text, label) pairs, or Examples. `candidates`: a spec ("wordnet"), a
    source, a callable Text -> {position: candidates}, or ready spaces. With `out` every outcome is
    recorded in that folder as soon as it is known, and texts already recorded there are not run
    again. `target` is a class by name or number. Further keywords are the options of the attack.
    """
    method = built(name, options, victim)
    called = _called(name)
    limits = Limits(max_rate, max_swaps, max_queries, _class(target, victim))
    work = Work(
        called,
        victim,
        examples,
        candidates=candidates,
        config={"attack": asdict(method), **asdict(limits)},
        seed=seed,
        shard=shard,
    )
    how = {"progress": progress, "in_flight": in_flight, "batch": batch}
    done = attacked(work, method, limits=limits, out=out, **how)
    return Outcomes(called, done.results, done.seconds, resumed=done.resumed)


def attacked(
    work: Work, method: Attack, *, limits: Limits, out: Path | str | Run | None, **how: Any
) -> Done[Outcome]:
    """Runs an attack over the work."""

    def job(piece: Piece) -> Job[Attempt]:
        text = piece.example.text
        goal = Goal(piece.space, piece.example.label, limits.target, limits.swaps(text))
        program = attempt(method, piece.space, goal=goal, rng=piece.rng)
        return Job(piece.key, piece.space, program, goal, limits.max_queries)

    def finish(example: Example, result: Result[Attempt]) -> Outcome:
        return verified(example, result, victim=work.victim)

    return work.run(job, finish, kind=Outcome, out=out, **how)


def built(name: str | Attack, options: Mapping[str, Any], victim: Victim) -> Attack:
    """The attack with its options, if this victim can answer its questions."""
    if not isinstance(name, (str, Attack)):
        raise InputError(f"an attack is a name or an instance such as Beam(width=8), not {name!r}")
    if isinstance(name, Attack) and options:
        raise InputError(f"options {', '.join(options)} go into the attack itself: {name!r}")
    method = name if isinstance(name, Attack) else registry.build("attacks", name, options)
    if method.needs == "gradients" and not isinstance(victim, Differentiable):
        raise Unsupported(
            f"{_called(name)} follows gradients and {victim.name} has none; word models (unfooled train) and "
            "Hugging Face classifiers have them"
        )
    return method


def _called(name: str | Attack) -> str:
    return name if isinstance(name, str) else type(name).__name__.lower()


def _class(target: int | str | None, victim: Victim) -> int | None:
    """The index of the target class, given by name in any case, or by number."""
    names = [label.casefold() for label in victim.labels]
    if target is None or str(target).casefold() in names:
        return None if target is None else names.index(str(target).casefold())
    if str(target).isdecimal() and int(target) < len(names):
        return int(target)
    raise InputError(
        f"the target {target!r} is no class of {victim.name}: {', '.join(victim.labels)}"
    )
