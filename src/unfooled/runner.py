"""Runs one method over a data set: spaces, programs, verification, records."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unfooled import data, registry
from unfooled.candidates import Source as CandidateSource
from unfooled.candidates import load as load_candidates
from unfooled.engine import Engine
from unfooled.errors import InputError, UnfooledError, Unsupported, VictimError
from unfooled.evidence import margins, tolerance
from unfooled.fingerprints import (
    Fingerprint,
    examples_fingerprint,
    probe_fingerprint,
    value_fingerprint,
)
from unfooled.keys import Shard, record_key, rng_for
from unfooled.outcomes import Attempt, Outcome, Outcomes, verified
from unfooled.program import Attack, Finding, Goal, Program, Scores
from unfooled.records import Run
from unfooled.space import Space
from unfooled.task import Job
from unfooled.text import Example, Text
from unfooled.victims.base import Differentiable, Victim
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
        return Attempt(found.row, first_swaps=found.first_swaps)
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
    method, called = _method(name, options, victim)
    limits = Limits(max_rate, max_swaps, max_queries, _class(target, victim))
    for what, number in (("in_flight", in_flight), ("batch", batch)):
        if number is not None and number < 1:
            raise InputError(f"{what} is 1 or more, not {number}")
    given = _examples(examples, victim)
    spaces = _Spaces(candidates, given)
    config = {"attack": asdict(method), **asdict(limits)}
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    work = _keyed(given, method=called, config=config, victim=victim, shard=part)
    began = time.perf_counter()
    manifest = _manifest(victim, given, spaces=spaces, shard=part) if out is not None else {}
    manifest |= {"method": called, "options": config, "seed": seed}
    with _old_objects_at_rest(), nullcontext() if out is None else Run.open(out, manifest) as run:
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
                found[key] = verified(todo[key], result, victim=victim)
                if run:
                    run.append({"key": key, **found[key].record()})
                watcher.text(engine.stats)
    seconds = time.perf_counter() - began
    return Outcomes(called, tuple(found[key] for key in work), seconds, resumed=done)


@contextmanager
def _old_objects_at_rest() -> Iterator[None]:
    """Keeps the collector from walking through all that was loaded before, again and again.

    With torch and transformers loaded one full collection takes 0.15 s, a third of what the engine
    costs beyond a small model.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _method(name: str | Attack, options: Mapping[str, Any], victim: Victim) -> tuple[Attack, str]:
    """The attack and what it is called, if this victim can answer its questions."""
    if not isinstance(name, (str, Attack)):
        raise InputError(f"an attack is a name or an instance such as Beam(width=8), not {name!r}")
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
                if not isinstance(space, Space):
                    raise InputError(f"a list of candidates holds spaces, not {space!r:.60}")
                if space.original != example.text:
                    raise InputError(
                        f"the space of example {example.id} is that of another text: {space}"
                    )
            self.ready = {_named(e): s for e, s in zip(examples, candidates, strict=True)}
        else:
            self.source = load_candidates(candidates)

    def of(self, example: Example) -> Space:
        """The space of one example."""
        if self.ready is not None:
            return self.ready[_named(example)]
        return Space(example.text, self.source(example.text))

    @property
    def fingerprint(self) -> str:
        if self.ready is not None:
            return value_fingerprint([s.fingerprint for s in self.ready.values()])
        return self.source.fingerprint


def _manifest(
    victim: Victim, examples: Sequence[Example], *, spaces: _Spaces, shard: Shard | None
) -> dict[str, Any]:
    return {
        "shard": shard,
        "texts": len(examples),  # in all shards together
        "victim": victim.name,
        "labels": list(victim.labels),
        "dtype": victim.dtype,
        "fingerprints": {
            "victim": victim.fingerprint or _probed(victim, examples),
            "data": examples_fingerprint(examples),
            "candidates": spaces.fingerprint,
        },
    }


def _probed(victim: Victim, examples: Sequence[Example]) -> Fingerprint:
    """The fingerprint of a victim that is known only by its answers; a probe may be one it refuses."""
    pairs = any(e.text.is_pair for e in examples)
    why: list[str] = []

    def one_by_one(probes: list[Any]) -> list[list[float]]:
        refused, rows = [math.inf] * len(victim.labels), []
        for probe in probes:
            try:
                rows.append(np.asarray(victim.scores([probe]), dtype=float)[0].tolist())
            except Exception as error:
                why.append(f"{type(error).__name__}: {error}")
                rows.append(refused)
        if all(row is refused for row in rows):
            raise VictimError(f"{victim.name} fails on every text it is given: {why[0]}")
        return rows

    try:
        return probe_fingerprint(victim.scores, pairs=pairs)
    except UnfooledError:
        raise
    except Exception:
        return probe_fingerprint(one_by_one, pairs=pairs)


def _jobs(
    method: Attack, todo: Mapping[str, Example], *, spaces: _Spaces, limits: Limits, seed: int
) -> Iterator[Job[Attempt]]:
    for key, example in todo.items():
        space = spaces.of(example)
        goal = Goal(space, example.label, limits.target, limits.swaps(example.text))
        program = attempt(method, space, goal=goal, rng=rng_for(seed, key))
        yield Job(key, space, program, goal, limits.max_queries)
