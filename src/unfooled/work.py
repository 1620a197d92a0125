"""The work of a run: examples with their spaces and keys, done in any order, recorded, resumed."""

from __future__ import annotations

import gc
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from unfooled import data
from unfooled.alignment import aligned
from unfooled.candidates import Source as CandidateSource
from unfooled.candidates import load as load_candidates
from unfooled.companions import Encodes, Proposes
from unfooled.engine import Engine
from unfooled.errors import InputError
from unfooled.fingerprints import (
    Fingerprint,
    examples_fingerprint,
    value_fingerprint,
)
from unfooled.keys import Shard, record_key, rng_for
from unfooled.keys import named as named
from unfooled.probing import probed
from unfooled.records import Run
from unfooled.rerun import Finish, finished
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.arity import check_arity
from unfooled.victims.base import Victim
from unfooled.watch import watching

Candidates = str | CandidateSource | Mapping[Any, Any] | Callable[[Text], Any] | Sequence[Space]


class Recordable(Protocol):
    """What is kept of a finished text."""

    def record(self) -> dict[str, Any]:
        """It as JSON values."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """What `record` described."""


R = TypeVar("R", bound=Recordable)

_YOUNG = 10_000  # objects made since the last look at them


@dataclass(frozen=True)
class Piece:
    """One text to be done: its key in the records, its space, its own randomness."""

    key: str
    example: Example
    space: Space
    rng: np.random.Generator


@dataclass(frozen=True)
class Done(Generic[R]):
    """The results of a run in the order of the data."""

    results: tuple[R, ...]
    seconds: float
    resumed: int  # of them were recorded before, and took none of the seconds


class Work:
    """What one method has to do with one data set and one victim."""

    def __init__(
        self,
        method: str,
        victim: Victim,
        examples: Any,
        *,
        candidates: Candidates | Spaces,
        config: Mapping[str, Any],
        seed: int,
        shard: str | Shard | None = None,
        opens: bool = False,
    ) -> None:
        self.method, self.victim, self.config = method, victim, config
        self.seed = _whole("seed", seed)
        _check_queries(config.get("max_queries"), per_word="attack" in config)
        self.shard = Shard.parse(shard) if isinstance(shard, str) else shard
        self.examples = _examples(examples, victim)
        if not isinstance(candidates, Spaces):
            candidates = Spaces(candidates, self.examples, opens=opens)
        self.spaces: Spaces = candidates
        self.keyed = _keyed(
            self.examples, method=method, config=config, victim=victim, shard=self.shard
        )

    def run(
        self,
        job: Callable[[Piece], Job[Any]],
        finish: Callable[[Example, Result[Any]], Finish[R]],
        *,
        kind: type[R],
        out: Path | str | Run | None = None,
        progress: bool = False,
        in_flight: int | None = None,
        batch: int | None = None,
        encoder: Encodes | Callable[[], Encodes] | None = None,
        masked: Proposes | Callable[[], Proposes] | None = None,
    ) -> Done[R]:
        """Does every text that is not yet recorded in `out`; `finish` verifies what came of it."""
        for what, number in (("in_flight", in_flight), ("batch", batch)):
            if number is not None and number < 1:
                raise InputError(f"{what} is 1 or more, not {number}")
        began = time.perf_counter()
        opened: Any = nullcontext(out)  # no run, or one that somebody else opened and will close
        if isinstance(out, (str, Path)):
            opened = Run.open(out, self.manifest())
        with opened as run:
            found = {} if run is None else _recorded(run, self.keyed, kind)
            todo = {key: e for key, e in self.keyed.items() if key not in found}
            title, before = f"{self.method} on {self.victim.name}", len(found)
            with watching(title, total=len(self.keyed), done=before, wanted=progress) as watcher:
                engine = Engine(
                    self.victim,
                    in_flight=in_flight,
                    batch=batch,
                    encoder=encoder,
                    masked=masked,
                    on_batch=watcher.batch,
                    say=watcher.say,
                    proves=bool({"certifier", "certifiers"} & self.config.keys()),
                )
                for ended in engine.bursts(job(piece) for piece in self._pieces(todo)):
                    keys = [result.job.key for result in ended]
                    checks = [finish(todo[r.job.key], r) for r in ended]
                    for key, value in zip(keys, finished(checks, self.victim), strict=True):
                        found[key] = value
                        if run:
                            run.append({"key": key, "method": self.method, **value.record()})
                        watcher.text(engine.stats)
        results = tuple(found[key] for key in self.keyed)
        return Done(results, time.perf_counter() - began, before)

    def _pieces(self, todo: Mapping[str, Example]) -> Iterator[Piece]:
        for key, example in todo.items():
            yield Piece(key, example, self.spaces.of(example), rng_for(self.seed, key))

    @cached_property
    def victim_fingerprint(self) -> Fingerprint:
        """What tells the victim from others: a hash, or its scores of probes."""
        return self.victim.fingerprint or probed(self.victim, self.examples)

    def manifest(self) -> dict[str, Any]:
        """What this run is, for its folder."""
        victim = self.victim
        return {
            "method": self.method,
            "options": self.config,
            "seed": self.seed,
            "shard": self.shard,
            "texts": len(self.examples),  # in all shards together
            "victim": victim.name,
            "victim_spec": victim.spec,
            "labels": list(victim.labels),
            "dtype": victim.dtype,
            "candidates": self.spaces.described,
            "candidates_spec": self.spaces.spec,
            "fingerprints": {
                "victim": self.victim_fingerprint,
                "data": examples_fingerprint(self.examples),
                "candidates": self.spaces.fingerprint,
            },
        }


def _whole(what: str, number: Any) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise InputError(f"{what} is a whole number, not {number!r}") from None


def _check_queries(most: Any, *, per_word: bool) -> None:
    """Refuses a budget that is none; the limits of an attack know what 50x means."""
    if most is None or (per_word and isinstance(most, str)):
        return
    if _whole("max_queries", most) < 1:
        raise InputError(f"max_queries is 1 or more, not {most}")


def _recorded(run: Run, keys: Iterable[str], kind: type[R]) -> dict[str, R]:
    """What earlier calls have done, by key."""
    done = run.done
    return {key: run.rebuilt(done[key], kind.from_record) for key in keys if key in done}


@contextmanager
def old_objects_at_rest() -> Iterator[None]:
    """Keeps the collector from walking through all that was loaded before, again and again.

    With torch and transformers loaded one full collection takes 0.15 to 0.4 s: as much as the engine
    does in that time for 200 texts. A run makes thousands of objects a second, nearly all of them in no
    circle: they are looked at less often than usual.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(usual[0], _YOUNG) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


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
        record_key(example=named(e), method=method, options=config, victim=who): e for e in examples
    }
    if len(keyed) < len(examples):
        raise InputError("two examples have the same id and text: give each an id of its own")
    return {key: e for key, e in keyed.items() if shard is None or shard.takes(key)}


def _examples(examples: Any, victim: Victim) -> list[Example]:
    """Examples that the victim reads, with labels that it knows."""
    given = examples if isinstance(examples, data.Dataset) else data.load(examples)
    found: list[Example] = list(aligned(given, victim.labels, owner=victim.name).examples)
    check_arity(victim, found)
    return found


class Spaces:
    """The space of each example, made when it is needed.

    With `opens` the method adds candidates of its own: it is then told which words may be swapped, in
    an open space without candidates. Spaces that were given ready are what they are.
    """

    def __init__(
        self, candidates: Candidates, examples: Sequence[Example], *, opens: bool = False
    ) -> None:
        self.examples, self.opens = examples, opens
        self.ready: dict[str, Space] | None = None
        self.spec = candidates if isinstance(candidates, str) else None  # makes them again
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
            self.ready = {named(e): s for e, s in zip(examples, candidates, strict=True)}
        else:
            self.source = load_candidates(candidates)

    def of(self, example: Example) -> Space:
        """The space of one example."""
        if self.ready is not None:
            return self.ready[named(example)]
        if self.opens:
            return Space(example.text, {}).open(self.source.positions(example.text))
        return Space(example.text, self.source(example.text))

    @property
    def described(self) -> str:
        """Where they come from, for people."""
        return "given spaces" if self.ready is not None else f"{self.source!s:.300}"

    @property
    def fingerprint(self) -> str:
        """What tells them from others: that of the source, or of all ready spaces in any order."""
        if self.ready is not None:
            # Sorted: a checker meets them in the order in which texts were done.
            return value_fingerprint(sorted(s.fingerprint for s in self.ready.values()))
        return self.source.fingerprint
