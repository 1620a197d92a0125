"""Runs the cells of `results.exact`, and keeps their figures: one small file for each cell."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import unfooled as uf
from results.victims import correct, device_name, load, trained
from unfooled import manifest
from unfooled.minima import Minimum
from unfooled.report.radii import Part, by_radius

RUNS: Final = Path("runs/exact")
FIGURES: Final = Path(__file__).parent / "figures" / "exact"
RADIUS: Final = 4
SEED: Final = 0

Figures = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One victim on one data set: how many texts, and the queries of each method for a text."""

    data: str
    model: str
    texts: int
    budget: int
    attacks: tuple[str, ...] = ("textfooler", "pdp")
    time_limit: float = 10.0  # seconds of each certifier for a text
    any_text: bool = False  # also those that the victim misclassifies: the ILP paper's sample

    @property
    def name(self) -> str:
        return f"{self.data}-{self.model}"


def make(cell: Cell, *, figures: Path = FIGURES, device: str = "cpu") -> None:
    """The cell's audit, or what is missing of it, and the file of its figures."""
    training = {"epochs": 5} if cell.data == "snli" else None
    victim = trained(cell.model, cell.data, training=training, device=device)
    test = load(cell.data, labels=victim.labels)
    right = correct(victim, test)
    order = np.random.default_rng(SEED).permutation(len(test))
    audit = uf.audit(
        victim,
        [test[int(i)] for i in order if cell.any_text or right[i]][: cell.texts],
        radius=RADIUS,
        attacks=cell.attacks,
        max_queries=cell.budget,
        time_limit=cell.time_limit,
        epsilon=0.1,
        delta=0.05,
        seed=SEED,
        out=RUNS / cell.name,
        progress=True,
    )
    how = "" if device == "cpu" else f" --device {device}"
    found = {
        "cell": cell.name,
        "command": f"python -m results.exact --cells {cell.name}{how}",
        "device": device_name(device),
        "victim": victim.fingerprint,
        "seed": SEED,
        "budget": cell.budget,
        "time_limit": cell.time_limit,
        "versions": manifest.versions(),
        **measured(audit),
    }
    path = figures / f"{cell.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def measured(audit: uf.Audit) -> Figures:
    """Everything that the page shows of one audit."""
    summary = audit.summary()
    kept = [a.outcomes["textfooler"].status in ("failed", "exhausted") for a in audit]
    first = next((name for a in audit for name in a.verdicts), None)  # the one asked about most
    spent = {} if first is None else audit.costs[first]
    return {
        "texts": len(audit),
        "correct": sum(a.bracket is not None for a in audit),
        "accuracy": summary["clean_accuracy"],
        "textfooler_accuracy": sum(kept) / len(kept),
        "accuracy_under_attack": summary["accuracy_under_attack"]["any"],
        "mmws": summary["mmws"],
        "known_exactly": summary["exact"],
        "seconds_per_text": spent["seconds"] / spent["texts"] if spent else None,
        "undecided": Counter(
            verdict.reason
            for a in audit
            for verdict in a.verdicts.values()
            if isinstance(verdict, Minimum) and verdict.reason
        ),
        **_increments(audit),
        "radii": [
            {"radius": line.radius}
            | {kind: _part(getattr(line, kind)) for kind in ("found", "certified", "unknown")}
            for line in by_radius(audit)
        ],
        "certifiers": _certifiers(audit),
    }


def _increments(audit: uf.Audit) -> Figures:
    """The minima that are known, and how many swaps more TextFooler makes where it fools."""
    known = [
        (a.outcomes["textfooler"], len(a.fewest)) for a in audit if a.exact and a.fewest is not None
    ]
    return {
        "minima": [least for _, least in known],
        "more": [o.swaps - least for o, least in known if o.status == "success"],
    }


def _part(part: Part) -> Figures:
    return {"share": part.share, "seconds": part.seconds}


def _certifiers(audit: uf.Audit) -> list[Figures]:
    """For each certifier the texts it was asked about, and those that its bound closed."""
    held = [a for a in audit if a.bracket is not None]
    rows = []
    for name in dict.fromkeys(name for a in held for name in a.verdicts):
        asked = [a for a in held if name in a.verdicts]
        own = [a for a in asked if a.bracket is not None and a.bracket.below.method == name]
        rows.append(
            {
                "name": name,
                "asked": len(asked),
                "closed": sum(a.exact for a in own),
                "own": len(own),
                "seconds": audit.costs[name]["seconds"],
            }
        )
    return rows
