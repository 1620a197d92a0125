"""Runs an audit: attacks, then proofs below what they found, then PR, in one run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unfooled import records, registry
from unfooled.allowed import Allowed, Choices, keep
from unfooled.audited import Audit, merged
from unfooled.costs import continue_costs, read_costs
from unfooled.data import Dataset
from unfooled.errors import InputError, RunError
from unfooled.estimates import Estimated, estimated
from unfooled.estimators.pr import PR
from unfooled.keys import Shard, by_id
from unfooled.limits import Limits
from unfooled.outcomes import Outcome
from unfooled.program import Attack
from unfooled.proofs import Verdict, proved
from unfooled.records import CANDIDATES, Run
from unfooled.runner import attacked, built
from unfooled.text import Example
from unfooled.victims.base import Victim
from unfooled.work import Candidates, Done, Work, named


def audit(
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    radius: int = 4,
    attacks: Sequence[str] = ("pdp",),
    certifier: str = "exhaustive",
    max_rate: float | None = None,
    max_queries: int | None = 20_000,
    epsilon: float = 0.025,
    delta: float = 0.005,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int = 64,
    batch: int | None = None,
) -> Audit:
    """Brackets of the least fooling swaps for every example, with PR within `radius` swaps.

    The attacks give upper bounds (without a limit of swaps unless `max_rate` is given), the
    certifier proves radius after radius below them, up to `radius`. Each method may ask the victim
    `max_queries` times per text. With `out` everything is recorded there and a second call goes on.
    """
    if not attacks or isinstance(attacks, str):
        raise InputError(f"attacks is a list of names such as ('pdp', 'beam'), not {attacks!r}")
    if radius < 1:
        raise InputError(f"radius is 1 or more swaps, not {radius}")
    limits = Limits(max_rate=max_rate, max_queries=max_queries)
    metric = PR(radius=radius, epsilon=epsilon, delta=delta)
    methods = {name: built(name, {}, victim) for name in attacks}
    for name in (name for name, method in methods.items() if method.opens):
        raise InputError(
            f"{name} adds candidates of its own, which no proof covers: run it with unfooled attack"
        )
    prover = registry.build("certifiers", certifier, {"radius": radius})
    config = {
        "attacks": {name: asdict(method) for name, method in methods.items()},
        "certifier": {certifier: asdict(prover)},
        "pr": asdict(metric),
        **limits.config(),
    }

    whole = Work(
        "audit", victim, examples, candidates=candidates, config=config, seed=seed, shard=shard
    )
    how: dict[str, Any] = {"progress": progress, "in_flight": in_flight, "batch": batch}
    with nullcontext() if out is None else Run.open(out, whole.manifest()) as run:
        phases = _Phases(whole, config=config, how=how | {"out": run})
        choices = phases.keep_candidates()
        outcomes = {name: phases.attack(name, method, limits) for name, method in methods.items()}
        sound = _sound(phases.examples, outcomes)
        verdicts = phases.prove(certifier, prover, sound, max_queries=max_queries)
        estimates = phases.estimate(metric, sound, verdicts=verdicts, max_queries=max_queries)
        costs = phases.costs if run is None else continue_costs(run.folder, phases.costs)
    return merged(
        phases.examples,
        outcomes,
        verdicts,
        estimates,
        choices=choices,
        certifier=certifier,
        radius=radius,
        costs=costs,
    )


def read(folder: Path | str) -> tuple[Audit, Mapping[str, Any]]:
    """The audit that a run folder holds, by id, and its manifest; unfinished texts are left out."""
    run = records.read(folder)
    if run.manifest["method"] != "audit":
        raise RunError(f"{folder} is a run of {run.manifest['method']}, not an audit")
    options = run.manifest["options"]
    (certifier,) = options["certifier"]
    kinds: dict[str, Any] = {"pr": Estimated, certifier: Verdict, CANDIDATES: Allowed}
    by_method: dict[str, dict[str, Any]] = {}
    for record in run.records():
        result = kinds.get(record["method"], Outcome).from_record(record)
        example = Example(result.original, result.label, result.id)
        by_method.setdefault(record["method"], {})[named(example)] = result
    first, *others = (by_method.get(name, {}) for name in options["attacks"])
    examples = [
        Example(o.original, o.label, o.id)
        for key, o in first.items()
        if all(key in f for f in others)
    ]
    examples.sort(key=lambda example: by_id(example.id))
    radius = options["pr"]["radius"]
    verdicts = by_method.get(certifier, {})
    found = merged(
        examples,
        {name: by_method.get(name, {}) for name in options["attacks"]},
        verdicts,
        _proved_pr(verdicts, radius) | by_method.get("pr", {}),
        choices={key: a.candidates for key, a in by_method.get(CANDIDATES, {}).items()},
        certifier=certifier,
        radius=radius,
        costs=read_costs(run.folder),
    )
    return found, run.manifest


def _proved_pr(verdicts: Mapping[str, Verdict], radius: int) -> dict[str, Estimated]:
    """PR is 1, without a query, where the whole radius is proved."""
    return {
        key: Estimated(
            v.id, v.original, v.label, 1.0, 1.0, 1.0, exact=True, radius=radius, method="proved"
        )
        for key, v in verdicts.items()
        if v.radius >= radius
    }


class _Phases:
    """The methods of an audit, one after the other over all texts, in one run."""

    def __init__(self, whole: Work, *, config: Mapping[str, Any], how: Mapping[str, Any]) -> None:
        self.whole, self.config, self.how = whole, config, how
        self.examples = list(whole.keyed.values())  # the shard's
        self.costs: dict[str, dict[str, float]] = {}

    def keep_candidates(self) -> dict[str, Choices]:
        """What may replace what in every text."""
        return keep(self._work(CANDIDATES, self.examples), self.how["out"])

    def attack(self, name: str, method: Attack, limits: Limits) -> dict[str, Outcome]:
        """An attack on every text."""
        work = self._work(name, self.examples)
        return self._done(name, work, attacked(work, method, limits=limits, **self.how))

    def prove(
        self,
        name: str,
        prover: Any,
        sound: Mapping[str, _Sound],
        *,
        max_queries: int | None,
    ) -> dict[str, Verdict]:
        """Proofs below what the attacks have found, where there is something to prove."""
        open_ = [found.example for found in sound.values() if found.fooled != 1]
        if not open_:
            return {}
        work = self._work(name, open_)
        fooled = {key: found.fooled for key, found in sound.items()}
        done = proved(work, prover, max_queries=max_queries, attacked=fooled, **self.how)
        return self._done(name, work, done)

    def estimate(
        self,
        metric: PR,
        sound: Mapping[str, _Sound],
        *,
        verdicts: Mapping[str, Verdict],
        max_queries: int | None,
    ) -> dict[str, Estimated]:
        """PR of the texts; where the whole radius is proved, PR is 1 without a query."""
        known = _proved_pr(verdicts, metric.radius or 0)
        left = [found.example for key, found in sound.items() if key not in known]
        if not left:
            return known
        work = self._work("pr", left)
        done = estimated(work, metric, max_queries=max_queries, **self.how)
        return known | self._done("pr", work, done)

    def _work(self, name: str, examples: Sequence[Example]) -> Work:
        whole = self.whole
        return Work(
            name,
            whole.victim,
            Dataset("audit", tuple(examples), whole.victim.labels),  # a shard may have none
            candidates=whole.spaces,
            config=self.config,
            seed=whole.seed,
        )

    def _done(self, name: str, work: Work, done: Done[Any]) -> dict[str, Any]:
        self.costs[name] = {
            "texts": len(done.results),
            "queries": sum(result.queries for result in done.results),
            "forwards": sum(result.forwards for result in done.results),
            "seconds": done.seconds,
        }
        return {named(e): r for e, r in zip(work.examples, done.results, strict=True)}


@dataclass(frozen=True)
class _Sound:
    """A text that the victim classifies correctly, and what the attacks came to."""

    example: Example
    fooled: int | None  # the fewest swaps that fool; None: not broken


def _sound(
    examples: Sequence[Example], outcomes: Mapping[str, Mapping[str, Outcome]]
) -> dict[str, _Sound]:
    found = {}
    for example in examples:
        key = named(example)
        mine = [by_text[key] for by_text in outcomes.values()]
        if any(o.status in ("skipped", "error") for o in mine):
            continue
        swaps = [o.swaps for o in mine if o.status == "success"]
        found[key] = _Sound(example, min(swaps, default=None))
    return found
