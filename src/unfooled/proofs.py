"""Runs a certifier over a data set: verdicts that carry what a checker needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from unfooled import registry
from unfooled.certifiers.exhaustive import Proof
from unfooled.counting import Rows
from unfooled.errors import UnfooledError
from unfooled.evidence import NOISE
from unfooled.keys import Shard
from unfooled.outcomes import alone, changed, reread, written
from unfooled.program import Goal
from unfooled.records import Run
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.base import Victim
from unfooled.work import Candidates, Done, Piece, Work

Decision = Literal["certified", "falsified", "unknown", "error"]


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


def certify(
    name: str,
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    radius: int = 3,
    max_queries: int | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int = 64,
    batch: int | None = None,
    **options: Any,
) -> tuple[Verdict, ...]:
    """A verdict for every example: does no text within `radius` swaps fool the victim?

    Arguments as in `attack`. Texts are decided radius by radius, so an undecided one still has the
    largest radius that was proved.
    """
    certifier = registry.build("certifiers", name, {"radius": radius, **options})
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
    return proved(work, certifier, max_queries=max_queries, out=out, **how).results


def proved(
    work: Work,
    certifier: Any,
    *,
    max_queries: int | None,
    caps: Mapping[str, int] | None = None,
    out: Path | str | Run | None = None,
    **how: Any,
) -> Done[Verdict]:
    """Runs a certifier; `caps` lowers its radius for some examples, by id."""

    def job(piece: Piece) -> Job[Proof]:
        asked = (caps or {}).get(piece.example.id, certifier.radius)
        method = replace(certifier, radius=min(asked, certifier.radius))
        goal = Goal(piece.space, piece.example.label, max_swaps=method.radius)
        program = method.prove(piece.space, piece.example.label, piece.rng)
        return Job(piece.key, piece.space, program, goal, max_queries)

    def finish(example: Example, result: Result[Proof]) -> Verdict:
        return _verified(example, result, work=work, radius=certifier.radius)

    return work.run(job, finish, kind=Verdict, out=out, **how)


def _verified(example: Example, result: Result[Proof], *, work: Work, radius: int) -> Verdict:
    """The verdict; a witness counts only if it fools the victim when it is run alone."""
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
    verdict = replace(verdict, verdict=proof.verdict, radius=proof.radius, reason=proof.reason)
    if proof.witness is not None:
        try:
            scores = alone(work.victim, space.text(proof.witness))
        except UnfooledError as error:
            return replace(verdict, verdict="error", reason=str(error))
        goal = Goal(space, example.label)
        fooled = bool(goal.met(scores, space.rows(proof.witness))[0])
        if not fooled:
            why = "the counterexample does not fool the victim when it is run alone"
            return replace(verdict, verdict="unknown", reason=why)
        changes = tuple((p, *words) for p, words in space.changes(proof.witness).items())
        verdict = replace(verdict, changes=changes)
    return replace(verdict, certificate=_certificate(proof, space, work=work))


def _certificate(proof: Proof, space: Space, *, work: Work) -> dict[str, Any]:
    """What a checker needs, without the search: the space, the counts and the least margin."""
    return {
        "method": work.method,
        "space": space.fingerprint,
        "candidates": {
            str(p): list(c) for p, c in zip(space.positions, space.candidates, strict=True)
        },
        "radius": proof.radius,
        "size": str(space.size(max(proof.radius, 0))),  # as text: it may have hundreds of digits
        "evaluated": proof.evaluated,
        "least_margin": proof.least,
        "least_row": _row(proof.least_row),
        "witness_row": _row(proof.witness),
        "tolerance": NOISE,
    }


def _row(row: Rows | None) -> list[int] | None:
    return None if row is None else [int(choice) for choice in row]
