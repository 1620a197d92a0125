"""Runs a certifier over a data set: verdicts that carry what a checker needs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from unfooled import registry
from unfooled.certificates import NOT_ALONE, apart_alone, certificate, fooling_margin
from unfooled.errors import UnfooledError
from unfooled.evidence import margins, tolerance
from unfooled.forecast import feasibility, forecast
from unfooled.keys import Shard
from unfooled.minima import Minima, minimised
from unfooled.outcomes import changed, reread, written
from unfooled.program import Goal, Layers
from unfooled.proof import Minimiser, Needs, Proof
from unfooled.records import Run
from unfooled.refusals import PIECEWISE, refusal, smooth
from unfooled.rerun import Finish
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.base import Layered, Victim
from unfooled.watch import Silent
from unfooled.work import Candidates, Done, Piece, Work, named, old_objects_at_rest

Decision = Literal["certified", "falsified", "unknown", "error"]

_RADIUS = 3  # up to which is proved, unless another is asked for
_TIMED = 64  # texts from which the speed of a victim is taken


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether any text within a radius fools the victim.

    `radius` is the largest that was proved (-1: the text itself is misclassified), `changes` lead to
    a `witness` that fools the victim, `reason` says why nothing could be decided, `certificate` is
    what a checker needs.
    """

    id: str
    verdict: Decision
    original: Text
    label: int
    radius: int = -1
    changes: tuple[tuple[int, str, str], ...] | None = None
    reason: str = ""
    queries: int = 0
    forwards: int = 0
    certificate: Mapping[str, Any] | None = None

    @property
    def error(self) -> str | None:
        """Why nothing could be said, where a method or the victim failed."""
        return self.reason if self.verdict == "error" else None

    @property
    def witness(self) -> Text | None:
        """A text that fools the victim, if one was met."""
        return None if self.changes is None else changed(self.original, self.changes)

    def record(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        changes = None if self.changes is None else [list(change) for change in self.changes]
        return {
            "id": self.id,
            "verdict": self.verdict,
            "original": written(self.original),
            "label": self.label,
            "radius": self.radius,
            "changes": changes,
            "reason": self.reason,
            "queries": self.queries,
            "forwards": self.forwards,
            "certificate": self.certificate,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Verdict:
        """The verdict that `record` described."""
        changes = record["changes"]
        return cls(
            record["id"],
            record["verdict"],
            reread(record["original"]),
            record["label"],
            record["radius"],
            None if changes is None else tuple((p, old, new) for p, old, new in changes),
            record["reason"],
            record["queries"],
            record["forwards"],
            record["certificate"],
        )


@old_objects_at_rest()
def certify(
    name: str,
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    radius: int | None = None,
    max_queries: int | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int | None = None,
    batch: int | None = None,
    **options: Any,
) -> tuple[Verdict, ...] | Minima:
    """A verdict for every example: does no text within `radius` swaps (3) fool the victim?

    Arguments as in `attack`. Texts are decided radius by radius, so an undecided one still has the
    largest radius that was proved. `minimum` is asked for no radius: it finds the least number of
    swaps that fools, and its results are Minima.
    """
    least = issubclass(registry.get("certifiers", name), Minimiser)
    radius = _RADIUS if radius is None and not least else radius
    given = options if radius is None else {"radius": radius, **options}
    certifier = built(name, given, victim)
    work = Work(
        name,
        victim,
        examples,
        candidates=candidates,
        config={"certifier": asdict(certifier), "max_queries": max_queries},
        seed=seed,
        shard=shard,
    )
    how: dict[str, Any] = {"progress": progress, "in_flight": in_flight, "batch": batch}
    if least:
        return minimised(work, certifier, max_queries=max_queries, out=out, **how)
    return proved(work, certifier, max_queries=max_queries, out=out, **how).results


def built(name: str, options: Mapping[str, Any], victim: Victim) -> Any:
    """The certifier with its options, if it can say anything about this victim."""
    certifier = registry.build("certifiers", name, options)
    needs: Needs = getattr(certifier, "needs", "scores")  # a plug-in may not say
    if needs == "scores":
        return certifier
    if not isinstance(victim, Layered):
        raise refusal(Layers(), victim.name)
    if needs == "piecewise layers" and victim.architecture not in PIECEWISE:
        raise smooth(victim.architecture)
    return certifier


def proved(
    work: Work,
    certifier: Any,
    *,
    max_queries: int | None,
    attacked: Mapping[str, int | None] | None = None,
    out: Path | str | Run | None = None,
    **how: Any,
) -> Done[Verdict]:
    """Runs a certifier; with `attacked`, only where a finished proof raises a lower bound.

    `attacked` has the fewest swaps that are known to fool each text, by `named`, None where none
    are. Nothing is proved from that radius on, nor a radius with more texts than the budget pays.
    """
    scope = _Scope(certifier.radius, max_queries, attacked)
    if how.get("progress"):
        _announce(work, scope)

    def job(piece: Piece) -> Job[Proof]:
        method = replace(certifier, radius=scope.tried(piece.example, piece.space))
        goal = Goal(piece.space, piece.example.label, max_swaps=method.radius)
        program = method.prove(piece.space, piece.example.label, piece.rng)
        return Job(piece.key, piece.space, program, goal, max_queries)

    def finish(example: Example, result: Result[Proof]) -> Finish[Verdict]:
        verdict = yield from _verified(example, result, work=work)
        if verdict.verdict == "certified" and verdict.radius < scope.wanted(example):
            left = feasibility(result.job.space.size(verdict.radius + 1))
            within = "1 swap" if verdict.radius == 0 else f"{verdict.radius + 1} swaps"
            reason = f"budget: within {within} there are {left}"
            verdict = replace(verdict, verdict="unknown", reason=reason)
        return verdict

    return work.run(job, finish, kind=Verdict, out=out, **how)


@dataclass(frozen=True)
class _Scope:
    """Up to which radius each text is proved."""

    radius: int
    max_queries: int | None
    attacked: Mapping[str, int | None] | None

    def wanted(self, example: Example) -> int:
        """The largest radius at which there is something to prove."""
        fooled = None if self.attacked is None else self.attacked[named(example)]
        return self.radius if fooled is None else min(self.radius, fooled - 1)

    def tried(self, example: Example, space: Space) -> int:
        """The largest radius that is worth starting."""
        radius = self.wanted(example)
        if self.attacked is None or self.max_queries is None:
            return radius  # a proof that does not end may still meet a text that fools
        while radius and space.size(radius) > self.max_queries:
            radius -= 1
        return radius


def _announce(work: Work, scope: _Scope) -> None:
    """Says how large the proofs are and how long they take at the speed of plain forwards."""
    examples = list(work.keyed.values())
    if not examples:
        return
    sizes = [work.spaces.of(e).size(scope.wanted(e)) for e in examples]
    sources = [e.text.source for e in examples[:_TIMED]]
    try:
        began = time.perf_counter()
        work.victim.scores(sources)
        speed = len(sources) / (time.perf_counter() - began)
    except Exception as error:  # a text it cannot score is recorded when its turn comes
        said = f"{work.victim.name} could not be timed: {type(error).__name__}: {error}"
    else:
        said = forecast(sizes, speed=speed, max_queries=scope.max_queries)
    Silent().say(f"{work.method} on {work.victim.name}: {said}")


def _verified(example: Example, result: Result[Proof], *, work: Work) -> Finish[Verdict]:
    """The verdict; what it rests on and a witness count only as the victim answers them alone."""
    verdict = Verdict(
        example.id,
        "unknown",
        example.text,
        example.label,
        queries=result.queries,
        forwards=result.forwards,
    )
    if result.error is not None:
        return replace(verdict, verdict="error", reason=result.error)
    proof, space = result.value, result.job.space
    if proof is None:
        return replace(verdict, reason="the query budget ended before anything was proved")
    if proof.radius >= 0:
        try:
            proof = yield from _deployed(proof, space, label=example.label)
        except UnfooledError as error:
            return replace(verdict, verdict="error", reason=str(error))
    verdict = replace(verdict, verdict=proof.verdict, radius=proof.radius, reason=proof.reason)
    if (row := proof.witness) is not None:
        try:
            margin = yield from fooling_margin(space, row, label=example.label)
        except UnfooledError as error:
            return replace(verdict, verdict="error", radius=-1, reason=str(error))
        if margin is None:  # what is proved below it stays proved
            proof = replace(proof, witness=None)
            verdict = replace(verdict, verdict="unknown", reason=NOT_ALONE)
        else:
            changes = tuple((p, *words) for p, words in space.changes(row).items())
            verdict = replace(verdict, changes=changes)
    shown = certificate(
        work, space, example, radius=proof.radius, witness=proof.witness, argument=proof.argument
    )
    return replace(verdict, certificate=shown)


def _deployed(proof: Proof, space: Space, *, label: int) -> Finish[Proof]:
    """The proof, as far as the victim gives the same margins when texts are run alone."""
    (original,) = yield [space.original]
    if margins(original, label)[0] <= tolerance(original)[0]:
        why = "near-tie: alone, the text itself is not clearly classified as its label"
        return replace(proof, verdict="unknown", radius=-1, witness=None, reason=why, argument={})
    why = yield from apart_alone(space, proof.argument, label=label)
    if not why:
        return proof
    if proof.witness is not None:
        return replace(proof, radius=0, argument={})
    return replace(proof, verdict="unknown", radius=0, reason=why, argument={})
