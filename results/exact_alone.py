"""Each certifier by itself: how much of the bracket that PDP leaves open it closes, and at what cost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import unfooled as uf
from results.exact_runs import FIGURES, RADIUS, SEED
from results.victims import correct, load, trained
from unfooled import manifest
from unfooled.errors import Unsound
from unfooled.work import Work

LIMIT: Final = 10.0  # seconds for a text, of those that know of time
METHODS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "`intervals`": ("intervals", {}),
    "`linear`": ("linear", {}),
    "`linear`, `--bounds optimised`": ("linear", {"bounds": "optimised"}),
    "`exhaustive`": ("exhaustive", {}),
    "`branch-and-bound`": ("branch-and-bound", {"time_limit": LIMIT}),
    "`minimum`": ("minimum", {"time_limit": LIMIT}),
}
_RECURRENT: Final = ("`linear`, `--bounds optimised`", "`minimum`")  # not theirs, or minutes a text


@dataclass(frozen=True)
class Alone:
    """One victim on one data set: how many texts, and the texts that `exhaustive` may run for each."""

    data: str
    model: str
    texts: int
    budget: int

    @property
    def name(self) -> str:
        return f"{self.data}-{self.model}"

    @property
    def methods(self) -> list[str]:
        return [m for m in METHODS if self.model != "bilstm" or m not in _RECURRENT]


def make(cell: Alone, *, figures: Path = FIGURES) -> None:
    """The figures of all certifiers on one victim, and their file."""
    victim = trained(cell.model, cell.data)
    test = load(cell.data, labels=victim.labels)
    order = np.random.default_rng(SEED).permutation(len(test))
    kept = order[correct(victim, test)[order]]
    examples = [test[int(i)] for i in kept[: cell.texts]]
    work = Work("alone", victim, examples, candidates="wordnet", config={}, seed=SEED, shard=None)
    spaces = [work.spaces.of(example) for example in examples]
    found = {
        "cell": cell.name,
        "command": f"python -m results.exact --alone {cell.name}",
        "victim": victim.fingerprint,
        "seed": SEED,
        "budget": cell.budget,
        "time_limit": LIMIT,
        "versions": manifest.versions(),
        **measured(cell, victim, examples, spaces),
    }
    path = figures / f"alone-{cell.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def measured(
    cell: Alone, victim: uf.Victim, examples: Sequence[uf.Example], spaces: Sequence[uf.Space]
) -> dict[str, Any]:
    """The swaps that PDP needs for each text, at most one more than the radius, and all lower bounds."""
    outcomes = uf.attack("pdp", victim, examples, candidates=spaces, seed=SEED, max_swaps=RADIUS)
    upper = [o.swaps if o.status == "success" else RADIUS + 1 for o in outcomes]
    rows = []
    for method in cell.methods:
        name, options = METHODS[method]
        if name != "minimum":
            options = {**options, "radius": RADIUS}
        if name == "exhaustive":
            options = {**options, "max_queries": cell.budget}
        began = time.perf_counter()
        results = uf.certify(name, victim, examples, candidates=spaces, seed=SEED, **options)
        seconds = time.perf_counter() - began
        lower = [min(bound, RADIUS + 1) for bound in _bounds(results)]
        _refuse_contradictions(method, lower, upper)
        rows.append({"method": method, "lower": lower, "seconds": seconds / len(examples)})
    return {"texts": len(examples), "upper": upper, "certifiers": rows}


def _bounds(results: Any) -> Iterator[int]:
    """What is proved of each text: the least number of swaps that could fool."""
    for result in results:
        if isinstance(result, uf.Verdict):
            yield RADIUS + 1 if result.verdict == "certified" else max(result.radius, 0) + 1
        else:
            yield RADIUS + 1 if result.status == "robust" else int(max(result.lower, 1))


def _refuse_contradictions(method: str, lower: Sequence[int], upper: Sequence[int]) -> None:
    for low, high in zip(lower, upper, strict=True):
        if low > high:
            raise Unsound(f"{method} proves {low} swaps, and PDP fools with {high}")


def closed(lower: Sequence[int], upper: Sequence[int]) -> tuple[float, float]:
    """The share of the brackets from 1 to `upper` that is closed, and of texts whose bracket is."""
    open_texts = [(low, high) for low, high in zip(lower, upper, strict=True) if high > 1]
    steps = sum(high - 1 for _, high in open_texts)
    part = sum(low - 1 for low, _ in open_texts) / steps if steps else float("nan")
    return part, float(np.mean([low == high for low, high in open_texts]))
