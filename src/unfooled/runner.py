"""Runs one method over a data set: spaces, programs, verification, records."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unfooled import data, registry
from unfooled.candidates import Source as CandidateSource
from unfooled.candidates import load as load_candidates
from unfooled.counting import Rows
from unfooled.engine import Engine
from unfooled.errors import InputError, Unsupported
from unfooled.evidence import margins
from unfooled.fingerprints import examples_fingerprint, probe_fingerprint, value_fingerprint
from unfooled.keys import Shard, record_key, rng_for
from unfooled.outcomes import Outcome, Outcomes
from unfooled.program import Attack, Goal, Program, Scores
from unfooled.records import Run
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.base import Differentiable, Victim, checked
from unfooled.watch import watching

Candidates = str | CandidateSource | Mapping[Any, Any] | Callable[[Text], Any] | Sequence[Space]


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


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attack on one text came to, before it is verified."""

    row: Rows | None
    skipped: bool = False


def attempt(
    attack: Attack, space: Space, *, goal: Goal, rng: np.random.Generator
) -> Program[Attempt]:
    """Asks for the original first (one query), skips a misclassified text, then searches."""
    scores = yield Scores(space.rows(space.origin))
    if margins(scores, goal.label)[0] <= 0 or (
        goal.target is not None and goal.gain(scores)[0] > 0
    ):
        return Attempt(None, skipped=True)
    return Attempt((yield from attack.search(space, goal, rng)))


def attack(
    name: str | Attack,
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    max_rate: float | None = None,
    max_swaps: int | None = None,
    max_queries: int | None = None,
    target: int | None = None,
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
    again. Further keywords are the options of the attack.
    """
    method, called = _method(name, options, victim)
    limits = Limits(max_rate, max_swaps, max_queries, target)
    if target is not None and not 0 <= target < len(victim.labels):
        raise InputError(
            f"target {target} is no class of {victim.name}: 0 to {len(victim.labels) - 1}"
        )
    given = _examples(examples, victim)
    spaces = _Spaces(candidates, given)
    config = {"attack": asdict(method), **asdict(limits)}
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    work = _keyed(given, method=called, config=config, victim=victim, shard=part)
    began = time.perf_counter()
    manifest = _manifest(victim, given, spaces=spaces, shard=part) if out is not None else {}
    manifest |= {"method": called, "options": config, "seed": seed}
    with nullcontext() if out is None else Run.open(out, manifest) as run:
        found = {key: Outcome.from_record(r) for key, r in run.done.items()} if run else {}
        todo = {key: example for key, example in work.items() if key not in found}
        title, done = f"{called} on {victim.name}", len(work) - len(todo)
        with watching(title, total=len(work), done=done, wanted=progress) as watcher:
            engine = Engine(
                victim, in_flight=in_flight, batch=batch, on_batch=watcher.batch, say=watcher.say
            )
            jobs = _jobs(method, todo, spaces=spaces, limits=limits, seed=seed)
            for result in engine.run(jobs):
                key = result.job.key
                found[key] = _outcome(todo[key], result, victim=victim)
                if run:
                    run.append({"key": key, **found[key].record()})
                watcher.text(engine.stats)
    return Outcomes(called, tuple(found[key] for key in work), time.perf_counter() - began)


def _method(name: str | Attack, options: Mapping[str, Any], victim: Victim) -> tuple[Attack, str]:
    """The attack and what it is called, if this victim can answer its questions."""
    if isinstance(name, Attack):
        if options:
            raise InputError(f"options {', '.join(options)} go into the attack itself: {name!r}")
        method, called = name, type(name).__name__.lower()
    else:
        method, called = registry.build("attacks", name, options), name
    if method.needs == "gradients" and not isinstance(victim, Differentiable):
        raise Unsupported(
            f"{called} follows gradients and {victim.name} has none; word models (unfooled train) and "
            "Hugging Face classifiers have them"
        )
    return method, called


def _keyed(
    examples: Sequence[Example],
    *,
    method: str,
    config: Mapping[str, Any],
    victim: Victim,
    shard: Shard | None,
) -> dict[str, Example]:
    """The shard's examples by record key."""
    who = victim.fingerprint or victim.name
    keyed = {
        record_key(example=_named(e), method=method, options=config, victim=who): e
        for e in examples
    }
    if len(keyed) < len(examples):
        raise InputError("two examples have the same id and text: give each an id of its own")
    return {key: e for key, e in keyed.items() if shard is None or shard.takes(key)}


def _examples(examples: Any, victim: Victim) -> list[Example]:
    """Examples whose labels the victim knows, with ids that differ."""
    given = examples if isinstance(examples, data.Dataset) else data.load(examples)
    return list(data.aligned(given, victim.labels, owner=victim.name).examples)


def _named(example: Example) -> str:
    return f"{example.id}\n{example.label}\n{example.text.source}\n{example.text.editable}"


class _Spaces:
    """The space of each example, made when it is needed."""

    def __init__(self, candidates: Candidates, examples: Sequence[Example]) -> None:
        self.examples = examples
        self.ready: dict[str, Space] | None = None
        if isinstance(candidates, Sequence) and not isinstance(candidates, str):
            if len(candidates) != len(examples):
                raise InputError(
                    f"{len(candidates)} spaces were given for {len(examples)} examples"
                )
            for space, example in zip(candidates, examples, strict=True):
                if space.original != example.text:
                    raise InputError(
                        f"the space of example {example.id} is that of another text: {space}"
                    )
            self.ready = {e.id: s for e, s in zip(examples, candidates, strict=True)}
        else:
            self.source = load_candidates(candidates)

    def of(self, example: Example) -> Space:
        """The space of one example."""
        if self.ready is not None:
            return self.ready[example.id]
        return Space(example.text, self.source(example.text))

    @property
    def fingerprint(self) -> str:
        if self.ready is not None:
            return value_fingerprint([s.fingerprint for s in self.ready.values()])
        return self.source.fingerprint


def _manifest(
    victim: Victim, examples: Sequence[Example], *, spaces: _Spaces, shard: Shard | None
) -> dict[str, Any]:
    pairs = any(e.text.is_pair for e in examples)
    return {
        "shard": shard,
        "victim": victim.name,
        "labels": list(victim.labels),
        "dtype": victim.dtype,
        "fingerprints": {
            "victim": victim.fingerprint or probe_fingerprint(victim.scores, pairs=pairs),
            "data": examples_fingerprint(examples),
            "candidates": spaces.fingerprint,
        },
    }


def _jobs(
    method: Attack, todo: Mapping[str, Example], *, spaces: _Spaces, limits: Limits, seed: int
) -> Iterator[Job[Attempt]]:
    for key, example in todo.items():
        space = spaces.of(example)
        goal = Goal(space, example.label, limits.target, limits.swaps(example.text))
        program = attempt(method, space, goal=goal, rng=rng_for(seed, key))
        yield Job(key, space, program, goal, limits.max_queries)


def _outcome(example: Example, result: Result[Attempt], *, victim: Victim) -> Outcome:
    """The verified outcome: a claimed success counts only if the text, run alone, fools the victim."""
    space, goal = result.job.space, result.job.goal
    outcome = Outcome(
        example.id,
        "failed",
        example.text,
        example.label,
        queries=result.queries,
        forwards=result.forwards,
    )
    if result.error is not None:
        return replace(outcome, status="error", error=result.error)
    tried = result.value or Attempt(None)
    row = None if tried.skipped else result.best if tried.row is None else tried.row
    final = space.text(space.origin if row is None else row)
    try:
        raw = victim.scores([final.source])
        scores = checked(raw, n=1, classes=len(victim.labels), name=victim.name)
    except Exception as error:
        why = f"{victim.name} failed on {str(final)!r} when run alone: {error}"
        return replace(outcome, status="error", error=why)
    outcome = replace(outcome, scores=tuple(map(float, scores[0])))
    if row is not None and goal is not None and goal.met(scores, space.rows(row))[0]:
        changes = tuple((p, *words) for p, words in space.changes(row).items())
        return replace(outcome, status="success", text=final, changes=changes)
    if tried.skipped:
        return replace(outcome, status="skipped")
    return replace(outcome, status="exhausted" if result.exhausted else "failed")
