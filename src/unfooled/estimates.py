"""Runs the PR estimator over a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from unfooled import registry
from unfooled.errors import UnfooledError
from unfooled.estimators.pr import PR, Estimate
from unfooled.estimators.pr import Method as PRMethod
from unfooled.evidence import margins, tolerance
from unfooled.keys import Shard
from unfooled.outcomes import reread, written
from unfooled.records import Run
from unfooled.rerun import Finish, settled
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.base import Victim
from unfooled.work import Candidates, Done, Piece, Work, old_objects_at_rest


@dataclass(frozen=True, slots=True)
class Estimated:
    """The PR of one text: the share of the texts within a radius that keep its label.

    In [low, high], but for probability delta where it was sampled. None where nothing could be
    said; `error` has the reason.
    """

    id: str
    original: Text
    label: int
    value: float | None = None
    low: float = 0.0
    high: float = 1.0
    samples: int = 0
    exact: bool = False
    radius: int = 0
    method: Literal["sequential", "hoeffding", "exact", "proved"] | None = None
    queries: int = 0
    forwards: int = 0
    error: str | None = None
    size: int | None = None  # texts within the radius, where they were enumerated
    misclassified: bool = False  # the text itself, or a near-tie; an audit leaves such texts out

    def record(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        fields = {name: getattr(self, name) for name in _FIELDS if name != "method"}
        return fields | {"original": written(self.original), "rule": self.method}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Estimated:
        """The estimate that `record` described."""
        fields = {name: record[name] for name in _FIELDS if name not in ("method", *_YOUNG)}
        fields |= {name: record[name] for name in _YOUNG if name in record}
        return cls(**fields | {"original": reread(record["original"]), "method": record["rule"]})


_FIELDS = tuple(Estimated.__slots__)
_YOUNG = ("size", "misclassified")  # older runs have none


@old_objects_at_rest()
def estimate(
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    radius: int | None = None,
    rate: float | None = None,
    epsilon: float = 0.025,
    delta: float = 0.005,
    method: PRMethod = "sequential",
    max_queries: int | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int | None = None,
    batch: int | None = None,
) -> tuple[Estimated, ...]:
    """For every example the share of texts within a radius that keep its label (PR).

    The radius is a number of swaps or a `rate` of the words (default: the paper's quarter). With
    probability at least 1 - delta, for each text, PR lies between `low` and `high`. A text that is
    `misclassified` as it is has a PR too, and is better left out of means. Other arguments as in
    `attack`.
    """
    if radius is None and rate is None:
        rate = 0.25
    asked = {"radius": radius, "rate": rate, "epsilon": epsilon, "delta": delta, "method": method}
    metric = registry.made(PR, asked, name="PR")
    work = Work(
        "pr",
        victim,
        examples,
        candidates=candidates,
        config={"pr": asdict(metric), "max_queries": max_queries},
        seed=seed,
        shard=shard,
    )
    how = {"progress": progress, "in_flight": in_flight, "batch": batch}

    def judged(example: Example, result: Result[Estimate]) -> Finish[Estimated]:
        return _judged(_finished(example, result))

    return estimated(work, metric, finish=judged, max_queries=max_queries, out=out, **how).results


def estimated(
    work: Work,
    metric: PR,
    *,
    finish: Callable[[Example, Result[Estimate]], Finish[Estimated]] | None = None,
    max_queries: int | None = None,
    out: Path | str | Run | None = None,
    **how: Any,
) -> Done[Estimated]:
    """Runs the estimator over the work."""

    def job(piece: Piece) -> Job[Estimate]:
        program = metric.measure(piece.space, piece.example.label, piece.rng, budget=max_queries)
        return Job(piece.key, piece.space, program, None, max_queries)

    def unjudged(example: Example, result: Result[Estimate]) -> Finish[Estimated]:
        return settled(_finished(example, result))

    return work.run(job, finish or unjudged, kind=Estimated, out=out, **how)


def _finished(example: Example, result: Result[Estimate]) -> Estimated:
    counts: dict[str, Any] = {"queries": result.queries, "forwards": result.forwards}
    found = result.value
    if found is None:
        why = result.error or "the query budget ended before the first sample"
        return Estimated(example.id, example.text, example.label, error=why, **counts)
    return Estimated(
        example.id,
        example.text,
        example.label,
        found.value,
        found.low,
        found.high,
        found.samples,
        found.exact,
        found.radius,
        found.method,
        size=found.size,
        **counts,
    )


def _judged(found: Estimated) -> Finish[Estimated]:
    """The estimate with whether the text itself, run alone, keeps its label."""
    if found.error is not None:
        return found
    try:
        (scores,) = yield [found.original]
    except UnfooledError as error:
        return replace(found, value=None, error=str(error))
    lost = bool(margins(scores, found.label)[0] <= tolerance(scores)[0])
    return replace(found, misclassified=lost)
