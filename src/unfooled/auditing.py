"""Runs an audit: attacks, then proofs below what they found, then PR, in one run folder."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import Any

from unfooled import proofs, records, registry
from unfooled.allowed import Allowed, Choices, keep
from unfooled.audited import Audit, Proved, merged
from unfooled.cascade import suited
from unfooled.costs import continued, read_costs, write_costs
from unfooled.data import Dataset
from unfooled.errors import InputError, RunError
from unfooled.estimates import Estimated, estimated
from unfooled.estimators.pr import PR
from unfooled.keys import Shard, by_id
from unfooled.known import Known, brackets, proved_pr
from unfooled.limits import Limits
from unfooled.minima import Minima, Minimum, minimised
from unfooled.outcomes import Outcome
from unfooled.program import Attack
from unfooled.proof import Minimiser
from unfooled.proofs import Verdict, proved
from unfooled.records import CANDIDATES, Run
from unfooled.runner import attacked, built
from unfooled.settings import adding_nothing, comparing_nothing
from unfooled.text import Example
from unfooled.victims.base import Victim
from unfooled.work import Candidates, Done, Work, named, old_objects_at_rest


@old_objects_at_rest()
def audit(
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    radius: int = 4,
    attacks: Sequence[str] = ("pdp",),
    certifiers: Sequence[str] | None = None,
    max_rate: float | None = None,
    max_queries: int | None = 20_000,
    time_limit: float = 10.0,
    epsilon: float = 0.025,
    delta: float = 0.005,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int | None = None,
    batch: int | None = None,
) -> Audit:
    """Brackets of the least fooling swaps for every example, with PR within `radius` swaps.

    The attacks give upper bounds (without a limit of swaps unless `max_rate` is given), the
    certifiers prove radius after radius below them, up to `radius`: one after the other, each where
    the ones before left something to prove. None: those that suit the victim, the cheapest first.
    Each method may ask the victim `max_queries` times per text, but certifiers that compute with its
    layers have `time_limit` seconds instead, and minimum goes beyond the radius. With `out`
    everything is recorded there and a second call goes on.
    """
    certifiers = suited(victim) if certifiers is None else certifiers
    _check_names(attacks=attacks, certifiers=certifiers)
    if not isinstance(radius, Integral) or radius < 1:
        raise InputError(f"radius is 1 or more swaps, a whole number, not {radius!r}")
    asked = {"max_rate": max_rate, "max_queries": max_queries}
    limits = registry.made(Limits, asked, name="the audit")
    asked = {"radius": radius, "epsilon": epsilon, "delta": delta}
    metric = registry.made(PR, asked, name="PR")
    methods = {name: _closed(name, victim) for name in attacks}
    asked = {"radius": radius, "time_limit": time_limit}
    provers = {name: _prover(name, asked, victim) for name in certifiers}
    config = {
        "attacks": {name: asdict(method) for name, method in methods.items()},
        "certifiers": {name: asdict(prover) for name, prover in provers.items()},
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
        verdicts: dict[str, dict[str, Proved]] = {}
        for name, prover in provers.items():
            known = brackets(phases.examples, outcomes, verdicts)
            verdicts[name] = phases.prove(name, prover, known, max_queries=max_queries)
        known = brackets(phases.examples, outcomes, verdicts)
        estimates = phases.estimate(metric, known, max_queries=max_queries)
    return merged(
        phases.examples,
        outcomes,
        verdicts,
        estimates,
        choices=choices,
        radius=radius,
        costs=phases.costs,
    )


def _check_names(**given: Any) -> None:
    such = {"attacks": "('pdp', 'beam')", "certifiers": "('linear', 'exhaustive')"}
    for what, names in given.items():
        listed = names and not isinstance(names, str)
        if not listed or not all(isinstance(name, str) for name in names):
            raise InputError(f"{what} is a list of names such as {such[what]}, not {names!r}")


def _closed(name: str, victim: Victim) -> Attack:
    """The attack of that name, if it keeps to the candidates that are given.

    It searches all of the space, as proofs cover all of it, and nothing else: no sentences are compared
    and no words proposed.
    """
    method = built(name, comparing_nothing(name) | adding_nothing(name), victim)
    if method.opens:
        raise InputError(
            f"{name} adds candidates of its own, which no proof covers: run it with unfooled attack"
        )
    return method


def _prover(name: str, asked: Mapping[str, Any], victim: Victim) -> Any:
    """The certifier of that name, with those of the options that it has."""
    has = {option.name for option in registry.options(registry.get("certifiers", name))}
    return proofs.built(name, {key: asked[key] for key in asked if key in has}, victim)


def read(folder: Path | str) -> tuple[Audit, Mapping[str, Any]]:
    """The audit that a run folder holds, by id, and its manifest; unfinished texts are left out."""
    run = records.read(folder)
    if run.manifest["method"] != "audit":
        raise RunError(f"{folder} is a run of {run.manifest['method']}, not an audit")
    options = run.manifest["options"]
    certifiers = options.get("certifiers") or options["certifier"]  # older runs have one
    kinds: dict[str, Any] = {"pr": Estimated, CANDIDATES: Allowed}
    for name in certifiers:
        least = issubclass(registry.get("certifiers", name), Minimiser)
        kinds[name] = Minimum if least else Verdict
    by_method: dict[str, dict[str, Any]] = {}
    for record in run.records():
        method = run.rebuilt(record, lambda record: str(record["method"]))
        result = run.rebuilt(record, kinds.get(method, Outcome).from_record)
        example = Example(result.original, result.label, result.id)
        by_method.setdefault(method, {})[named(example)] = result
    first, *others = (by_method.get(name, {}) for name in options["attacks"])
    examples = [
        Example(o.original, o.label, o.id)
        for key, o in first.items()
        if all(key in f for f in others)
    ]
    examples.sort(key=lambda example: by_id(example.id))
    radius = options["pr"]["radius"]
    outcomes = {name: by_method.get(name, {}) for name in options["attacks"]}
    verdicts = {name: by_method.get(name, {}) for name in certifiers}
    found = merged(
        examples,
        outcomes,
        verdicts,
        proved_pr(brackets(examples, outcomes, verdicts), radius) | by_method.get("pr", {}),
        choices={key: a.candidates for key, a in by_method.get(CANDIDATES, {}).items()},
        radius=radius,
        costs=read_costs(run.folder),
    )
    return found, run.manifest


class _Phases:
    """The methods of an audit, one after the other over all texts, in one run."""

    def __init__(self, whole: Work, *, config: Mapping[str, Any], how: Mapping[str, Any]) -> None:
        self.whole, self.config, self.how = whole, config, how
        self.examples = list(whole.keyed.values())  # the shard's
        run: Run | None = how["out"]
        self.folder = None if run is None else run.folder
        self.before = {} if run is None else read_costs(run.folder)  # what earlier calls took
        self.spent: dict[str, dict[str, float]] = {}

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """What each method took, in this call and earlier ones."""
        return continued(self.before, self.spent)

    def keep_candidates(self) -> dict[str, Choices]:
        """What may replace what in every text."""
        return keep(self._work(CANDIDATES, self.examples), self.how["out"])

    def attack(self, name: str, method: Attack, limits: Limits) -> dict[str, Outcome]:
        """An attack on every text."""

        def run(work: Work) -> Done[Outcome]:
            return attacked(work, method, limits=limits, **self.how)

        return self._run(name, self.examples, run)

    def prove(
        self, name: str, prover: Any, known: Mapping[str, Known], *, max_queries: int | None
    ) -> dict[str, Proved]:
        """Proofs below what the attacks have found, where there is something to prove."""
        least = isinstance(prover, Minimiser)
        radius = math.inf if least else prover.radius
        if hasattr(prover, "time_limit"):
            max_queries = None  # what it computes with the layers is limited by time
        open_ = [text.example for text in known.values() if text.open(radius)]
        if not open_:
            return {}
        fooled = {key: text.fooled for key, text in known.items()}

        def run(work: Work) -> Done[Verdict] | Minima:
            if least:
                return minimised(work, prover, max_queries=max_queries, **self.how)
            return proved(work, prover, max_queries=max_queries, attacked=fooled, **self.how)

        return self._run(name, open_, run)

    def estimate(
        self, metric: PR, known: Mapping[str, Known], *, max_queries: int | None
    ) -> dict[str, Estimated]:
        """PR of the texts; where the whole radius is proved, PR is 1 without a query."""
        certain = proved_pr(known, metric.radius or 0)
        left = [text.example for key, text in known.items() if key not in certain]
        if not left:
            return certain

        def run(work: Work) -> Done[Estimated]:
            return estimated(work, metric, max_queries=max_queries, **self.how)

        return certain | self._run("pr", left, run)

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

    def _run(
        self, name: str, examples: Sequence[Example], run: Callable[[Work], Done[Any] | Minima]
    ) -> dict[str, Any]:
        """What a method found by text; what it took is kept however it ends."""
        work, began = self._work(name, examples), time.perf_counter()
        try:
            done = run(work)
        finally:
            self._took(name, {"seconds": time.perf_counter() - began})
        counts = {
            "texts": len(done.results),
            "queries": sum(result.queries for result in done.results),
            "forwards": sum(result.forwards for result in done.results),
        }
        self._took(name, counts | {"seconds": done.seconds})
        return {named(e): r for e, r in zip(work.examples, done.results, strict=True)}

    def _took(self, name: str, cost: dict[str, float]) -> None:
        self.spent[name] = cost
        if self.folder is not None:
            write_costs(self.folder, self.costs)
