"""Runs a certifier that finds the least fooling swaps, and what its results say of the victim."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, overload

from unfooled.certificates import NOT_ALONE, apart_alone, certificate, fooling_margin
from unfooled.errors import UnfooledError
from unfooled.evidence import Bracket, Claim, margins, tolerance
from unfooled.least import NOTHING, accuracy_under_attack, mean_minimum_swaps, proved_whole
from unfooled.outcomes import Changes, changed, reread, written
from unfooled.program import Goal
from unfooled.proof import Least, Minimiser
from unfooled.records import Run
from unfooled.rerun import Finish
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.work import Piece, Work

Status = Literal["optimal", "robust", "bracketed", "skipped", "error"]

_RADII = (1, 2, 3, 4)  # of accuracy under attack

_TIE = "near-tie: the text itself has a margin within float noise of zero"


@dataclass(frozen=True, slots=True)
class Minimum:
    """The least number of swaps that fools the victim on one text, m, as far as it is known.

    `optimal`: m is `lower` = `upper`. `robust`: no text of the whole space fools, both are infinite.
    `bracketed`: m is at least `lower` and at most `upper` (None: not known), `reason` says why it is
    not decided. `skipped`: the victim misclassifies the text itself, m is 0. `changes` lead to a
    `witness` with `upper` swaps; `margin` is its margin, or the original's where there is none, run
    alone. `method` is the part that decided, `certificate` what a checker needs.
    """

    id: str
    status: Status
    original: Text
    label: int
    lower: float = 0
    upper: float | None = None
    changes: Changes | None = None
    margin: float | None = None
    method: str = ""
    reason: str = ""
    seconds: float = 0.0
    queries: int = 0
    forwards: int = 0
    certificate: Mapping[str, Any] | None = None

    @property
    def bracket(self) -> Bracket:
        """What it says as a bracket; of a text that failed, nothing."""
        if self.error is not None:
            return NOTHING
        claims = Claim("proved", "minimum", self.method), Claim("attacked", "minimum", self.method)
        return Bracket(self.lower, self.upper, *claims)

    @property
    def columns(self) -> float:
        """How many words can be swapped at once; infinite: not known."""
        return math.inf if self.certificate is None else len(self.certificate["candidates"])

    @property
    def error(self) -> str | None:
        """Why nothing could be said, where a method or the victim failed."""
        return self.reason if self.status == "error" else None

    @property
    def witness(self) -> Text | None:
        """A text with the least swaps that are known to fool the victim."""
        return None if self.changes is None else changed(self.original, self.changes)

    def record(self) -> dict[str, Any]:
        """The result as JSON values, which have no infinity: robust texts have neither bound."""
        robust = self.status == "robust"
        return {
            "id": self.id,
            "status": self.status,
            "original": written(self.original),
            "label": self.label,
            "lower": None if robust else self.lower,
            "upper": None if robust else self.upper,
            "changes": None if self.changes is None else [list(c) for c in self.changes],
            "margin": self.margin,
            "decided_by": self.method,
            "reason": self.reason,
            "seconds": self.seconds,
            "queries": self.queries,
            "forwards": self.forwards,
            "certificate": self.certificate,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Minimum:
        """The result that `record` described."""
        robust, changes = record["status"] == "robust", record["changes"]
        return cls(
            record["id"], record["status"], reread(record["original"]), record["label"],
            math.inf if robust else record["lower"],
            math.inf if robust else record["upper"],
            None if changes is None else tuple((p, old, new) for p, old, new in changes),
            record["margin"], record["decided_by"], record["reason"], record["seconds"],
            record["queries"], record["forwards"], record["certificate"],
        )  # fmt: skip


@dataclass(frozen=True)
class Minima(Sequence[Minimum]):
    """The results of a run in the order of the data, and the figures of all texts together."""

    all: tuple[Minimum, ...]
    seconds: float = 0.0
    resumed: int = 0  # of them were recorded before, and took none of the seconds

    @overload
    def __getitem__(self, index: int) -> Minimum: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Minimum, ...]: ...
    def __getitem__(self, index: int | slice) -> Minimum | tuple[Minimum, ...]:
        return self.all[index]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Minimum]:
        return iter(self.all)

    @property
    def results(self) -> tuple[Minimum, ...]:
        """All of them, as any finished work names them."""
        return self.all

    def summary(self) -> dict[str, Any]:
        """Statuses, AUA whole and limited to some swaps, MMWS, the robust share, and times."""
        counts = Counter(result.status for result in self.all)
        judged = [r for r in self.all if r.status != "skipped"]
        brackets = [None if r.status == "skipped" else r.bracket for r in self.all]
        held = [r for r in judged if r.status != "error"]
        seconds = sorted(r.seconds for r in held)
        return {
            "texts": len(self.all),
            **{name: counts[name] for name in get_args(Status)},
            "aua": accuracy_under_attack(brackets),
            "aua_within": {r: accuracy_under_attack(brackets, r) for r in _RADII},
            "mmws": mean_minimum_swaps([r.bracket for r in held], [r.columns for r in held]),
            "robust_share": proved_whole([r.bracket for r in held]),
            "swaps": dict(
                sorted(Counter(int(r.lower) for r in held if r.status == "optimal").items())
            ),
            "median_s": _quantile(seconds, 0.5),
            "p90_s": _quantile(seconds, 0.9),
            "max_s": _quantile(seconds, 1.0),
        }


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share does not exceed."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def minimised(
    work: Work,
    certifier: Minimiser,
    *,
    max_queries: int | None,
    out: Path | str | Run | None = None,
    **how: Any,
) -> Minima:
    """Runs a certifier that finds the least fooling swaps of every text."""

    def job(piece: Piece) -> Job[Least]:
        program = certifier.minimise(piece.space, piece.example.label, piece.rng)
        goal = Goal(piece.space, piece.example.label)
        return Job(piece.key, piece.space, program, goal, max_queries)

    def finish(example: Example, result: Result[Least]) -> Finish[Minimum]:
        return _verified(example, result, work=work)

    done = work.run(job, finish, kind=Minimum, out=out, **how)
    return Minima(done.results, done.seconds, done.resumed)


def _verified(example: Example, result: Result[Least], *, work: Work) -> Finish[Minimum]:
    """The result; the original and the witness count as they score when they are run alone."""
    found = Minimum(
        example.id, "bracketed", example.text, example.label,
        queries=result.queries, forwards=result.forwards,
    )  # fmt: skip
    if result.error is not None:
        return replace(found, status="error", reason=result.error)
    if result.value is None:
        return replace(found, reason="the query budget ended before the text itself was scored")
    least, space = result.value, result.job.space
    try:
        why = yield from apart_alone(space, least.argument, label=example.label)
        least = _unproved(least, why) if why else least
        shown = yield from _rerun(found, least, space)
    except UnfooledError as error:
        return replace(found, status="error", reason=str(error))
    began = time.perf_counter()
    if shown.status not in ("skipped", "error") and shown.lower >= 1:
        shown = replace(shown, certificate=_certificate(least, space, example, work=work))
    return replace(shown, seconds=least.seconds + time.perf_counter() - began)


def _rerun(found: Minimum, least: Least, space: Space) -> Finish[Minimum]:
    (scores,) = yield [found.original]
    margin, noise = float(margins(scores, found.label)[0]), float(tolerance(scores)[0])
    found = replace(found, margin=margin, method=least.method)
    if margin < -noise:
        return replace(found, status="skipped", upper=0)
    if margin <= noise or not least.lower:
        return replace(found, reason=_TIE)
    if least.witness is None:
        robust = least.lower == math.inf
        return replace(
            found, status="robust" if robust else "bracketed",
            lower=least.lower, upper=least.upper, reason=least.reason,
        )  # fmt: skip
    lead = yield from fooling_margin(space, least.witness, label=found.label)
    if lead is None:
        return replace(found, lower=least.lower, reason=NOT_ALONE)
    changes = tuple((p, *words) for p, words in space.changes(least.witness).items())
    return replace(
        found, status="optimal" if least.lower == least.upper else "bracketed",
        lower=least.lower, upper=least.upper, margin=lead, changes=changes, reason=least.reason,
    )  # fmt: skip


def _unproved(least: Least, why: str) -> Least:
    """What is left without the proof: the text itself, and the swaps of the witness."""
    upper = None if least.witness is None else least.upper
    reason = "" if upper == 1 else why
    argument = {"kind": "original", "radius": 0}
    return replace(least, lower=1, upper=upper, reason=reason, argument=argument)


def _certificate(least: Least, space: Space, example: Example, *, work: Work) -> dict[str, Any]:
    whole = least.lower == math.inf
    radius = len(space.counts) if whole else int(least.lower) - 1
    argument = {**least.argument, "radius": radius}  # a whole space has any
    witness = least.witness
    return certificate(work, space, example, radius=radius, witness=witness, argument=argument)
