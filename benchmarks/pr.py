"""How many samples PR takes, and how often its interval misses.

The first table draws shares instead of texts (10,000 repetitions each): the samples that three
anytime-valid rules need until their interval reaches at most epsilon from the mean, beside what a
single Clopper-Pearson interval needs if the share is known before, and how often the rule in use
misses. The second counts on the whole test split of mr with a BiLSTM, within a quarter of the
words, on the correctly classified texts that were sampled rather than enumerated. The model is the demo's, trained if it
is not there: models/bilstm-mr, or that folder in UNFOOLED_MODELS.

median_samples      of the texts of mr that were sampled to the end
median_queries      the same with the texts on which sampling began and an enumeration ended: these are
                    hard texts in small spaces, so leaving them out flatters the median; draws and
                    enumerated texts both count
hoeffding           the paper's number of samples
mean_over_fixed     the highest ratio, over all shares, of mean samples to the fixed need
most_misses         the highest number of misses in 10,000, over all shares
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import special, stats

import unfooled as uf
from unfooled.candidates import load as load_candidates
from unfooled.engine import Engine
from unfooled.estimators._sequences import (
    clopper_pearson,
    fixed_size,
    hoeffding_size,
    sequence,
)
from unfooled.estimators.pr import PR, Estimate
from unfooled.keys import rng_for
from unfooled.space import Space
from unfooled.task import Job

EPSILON, DELTA, RATE = 0.025, 0.005, 0.25
REPETITIONS = 10_000
SHARES = (0, 0.001, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999, 1)
LEAST_FACTOR, MOST_RATIO = 6, 2.0  # what the two figures have to keep

Counts = NDArray[np.int64]
Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """When to look and at which counts to stop."""

    looks: list[int]
    stop: Callable[[Counts, int], Chosen]

    def play(self, share: float, rng: np.random.Generator) -> tuple[Counts, Counts]:
        """Samples and hits at the stop, for every repetition."""
        n, hits = np.zeros((2, REPETITIONS), dtype=np.int64)
        alive, last = np.arange(REPETITIONS), 0
        for look in self.looks:
            hits[alive] += rng.binomial(look - last, share, len(alive))
            n[alive], last = look, look
            alive = alive[~self.stop(hits[alive], look)]
            if not len(alive):
                return n, hits
        raise ArithmeticError("a rule ended without stopping")


def geometric(start: int, end: int) -> list[int]:
    """Looks at least 16 samples and a thirty-second apart."""
    looks = [start]
    while looks[-1] < end:
        looks.append(looks[-1] + max(16, looks[-1] // 32))
    return looks


def calibrated() -> Rule:
    """The rule in use: one level for all looks, from the exact probability to miss."""
    plan = sequence(EPSILON, DELTA)
    most = dict(zip(plan.looks.tolist(), plan.most.tolist(), strict=True))
    return Rule(plan.looks.tolist(), lambda hits, n: np.minimum(hits, n - hits) <= most[n])


def spending() -> Rule:
    """Clopper-Pearson with an equal share of delta for every look."""
    looks = geometric(280, 8000)
    alpha = DELTA / len(looks)

    def stop(hits: Counts, n: int) -> Chosen:
        low, high = clopper_pearson(hits, n, alpha=alpha)
        narrow: Chosen = np.maximum(hits / n - low, high - hits / n) <= EPSILON
        return narrow

    return Rule(looks, stop)


def betting() -> Rule:
    """A bettor with a Beta(1/2, 1/2) mixture: shares against which the money grew 1 / delta are out."""

    def stop(hits: Counts, n: int) -> Chosen:
        won = special.betaln(hits + 0.5, n - hits + 0.5) - special.betaln(0.5, 0.5)

        def out(share: NDArray[np.float64]) -> Chosen:
            p = np.clip(share, 0, 1)
            lost = special.xlogy(hits, p) + special.xlog1py(n - hits, -p)
            beyond: Chosen = (share < 0) | (share > 1) | (won - lost >= np.log(1 / DELTA))
            return beyond

        return out(hits / n - EPSILON) & out(hits / n + EPSILON)

    return Rule(geometric(280, 20_000), stop)


def shares(console: Console) -> dict[str, float]:
    """The table over true shares."""
    rules = {"calibrated": calibrated(), "equal spending": spending(), "betting": betting()}
    allowed = int(stats.binom.ppf(0.999, REPETITIONS, DELTA))
    table = Table("true PR", "fixed", *rules, "ratio", f"misses (at most {allowed})")
    plan, rng = sequence(EPSILON, DELTA), np.random.default_rng(0)
    ratios, misses = [], []
    for share in SHARES:
        fixed = fixed_size(share, epsilon=EPSILON, alpha=DELTA)
        means = [float(rule.play(share, rng)[0].mean()) for rule in rules.values()]
        n, hits = rules["calibrated"].play(share, rng)
        low, high = clopper_pearson(hits, n, alpha=plan.alpha)
        misses.append(int(((low > share) | (high < share)).sum()))
        ratios.append(means[0] / fixed)
        row = [f"{mean:.0f}" for mean in (fixed, *means)]
        table.add_row(str(share), *row, f"{ratios[-1]:.2f}", str(misses[-1]))
    console.print(table)
    return {"mean_over_fixed": round(max(ratios), 3), "most_misses": max(misses)}


def bilstm() -> uf.Victim:
    """The demo's model, trained on mr if it is not there."""
    folder = Path(os.environ.get("UNFOOLED_MODELS", "models")) / "bilstm-mr"
    if not (folder / "config.json").exists():
        dev = uf.data.load("mr", split="dev")
        uf.models.train("bilstm", uf.data.load("mr", split="train"), out=folder, dev=dev)
    return uf.load(str(folder))


def jobs(victim: uf.Victim) -> Iterator[Job[Estimate]]:
    """One estimate for each text of mr that the victim gets right."""
    examples = uf.data.load("mr", split="test", labels=victim.labels).examples
    source, method = load_candidates("wordnet"), PR(rate=RATE, epsilon=EPSILON, delta=DELTA)
    guesses = victim.scores([e.text.source for e in examples]).argmax(axis=1)
    for example, guess in zip(examples, guesses, strict=True):
        if guess == example.label:
            space = Space(example.text, source(example.text))
            program = method.measure(space, example.label, rng_for(0, example.id))
            yield Job(example.id, space, program)


def texts(console: Console) -> dict[str, float]:
    """The table over the texts of mr."""
    found = []
    for result in Engine(victim := bilstm()).run(jobs(victim)):
        if result.value is None:
            raise RuntimeError(result.error)
        found.append(result)
    sampled = [r for r in found if r.value and r.value.method == "sequential"]
    samples = [r.value.samples for r in sampled if r.value]
    values = [r.value.value for r in found if r.value]
    began = [r for r in found if r.value and r.queries > r.value.samples] + sampled
    table = Table("figure", "measured")
    table.add_row("texts", str(len(found)))
    table.add_row("enumerated at once", str(len(found) - len(began)))
    table.add_row("enumerated after some samples", str(len(began) - len(sampled)))
    table.add_row("mean PR", f"{np.mean(values):.3f}")
    table.add_row("PR above 0.9", f"{np.mean(np.array(values) > 0.9):.3f}")
    quartiles = np.quantile(samples, [0.25, 0.5, 0.75, 1])
    table.add_row("samples: quartiles, most", " ".join(f"{q:.0f}" for q in quartiles))
    table.add_row("mean samples", f"{np.mean(samples):.0f}")
    table.add_row("forwards of a sampled text", f"{np.mean([r.forwards for r in sampled]):.0f}")
    console.print(table)
    queries = float(np.median([r.queries for r in began]))
    return {"median_samples": float(np.median(samples)), "median_queries": queries}


def measure() -> dict[str, float]:
    """All figures, and the tables they are from."""
    torch.set_num_threads(1)
    console, hoeffding = Console(), hoeffding_size(EPSILON, DELTA)
    found = {"hoeffding": hoeffding, **texts(console), **shares(console)}
    table = Table("figure", "measured", "at most")
    most = f"{hoeffding / LEAST_FACTOR:.0f}"
    table.add_row("median_samples", f"{found['median_samples']:.0f}", most)
    table.add_row("median_queries", f"{found['median_queries']:.0f}", "")
    table.add_row("mean_over_fixed", str(found["mean_over_fixed"]), str(MOST_RATIO))
    console.print(table)
    return found
