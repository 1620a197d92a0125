"""What it takes to check a run, over what it took to prove it: below 1, checking is cheaper.

Reference models (trained on first use into `models/`, or the folder in UNFOOLED_MODELS) on texts of the
test split that they classify correctly; candidates from WordNet are made beforehand, one thread. A proof is a run
of `certify` with its records; its check is the fastest of three, with everything around it.

<data>_<arch>_<certifier>[_r<radius>]   seconds of the check over those of the proof
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import unfooled as uf
from benchmarks.bnb import SECONDS, victim
from unfooled.check import check
from unfooled.work import Work

LIMIT = {"time_limit": SECONDS}
TREE = {"radius": 3, **LIMIT}
CELLS: tuple[tuple[str, str, int, tuple[tuple[str, Mapping[str, Any]], ...]], ...] = (
    ("mr", "mlp", 100, (("minimum", LIMIT), ("branch-and-bound", TREE), ("intervals", {"radius": 2}),
                        ("linear", {"radius": 2}), ("exhaustive", {"radius": 2}))),
    ("mr", "cnn", 100, (("branch-and-bound", TREE), ("linear", {"radius": 2}),
                        ("exhaustive", {"radius": 1}), ("exhaustive", {"radius": 2}))),
    ("mr", "bilstm", 60, (("branch-and-bound", {"radius": 2, **LIMIT}), ("exhaustive", {"radius": 2}))),
    ("imdb", "mlp", 40, (("minimum", LIMIT), ("branch-and-bound", {"radius": 4, **LIMIT}),
                         ("exhaustive", {"radius": 1}))),
    ("imdb", "cnn", 20, (("branch-and-bound", TREE), ("exhaustive", {"radius": 1}))),
)  # fmt: skip


def ratio(
    model: uf.Victim, given: Work, name: str, options: Mapping[str, Any], *, out: Path
) -> float:
    """The seconds of the check over those of the proof."""
    examples = list(given.keyed.values())
    spaces = [given.spaces.of(example) for example in examples]
    began = time.perf_counter()
    uf.certify(name, model, examples, candidates=spaces, out=out, **options)
    proved, checked = time.perf_counter() - began, []
    for _ in range(3):
        began = time.perf_counter()
        found = check(out, model)
        checked.append(time.perf_counter() - began)
        if not found.passed:
            raise SystemExit(f"{name}: an honest run is refused: {found.refused[0]}")
    return min(checked) / proved


def measure() -> dict[str, float]:
    """The ratio of every cell, and the table."""
    torch.set_num_threads(1)
    found: dict[str, float] = {}
    table = Table("data", "model", "certifier", "radius", "check over proof", "at most")
    for data, arch, texts, certifiers in CELLS:
        model = victim(data, arch)
        test = uf.data.load(data, split="test", limit=texts, seed=1)
        right = [e for e in test if int(model.scores([e.text.source])[0].argmax()) == e.label]
        given = Work("check", model, right, candidates="wordnet", config={}, seed=0, shard=None)
        for name, options in certifiers:
            radius = options.get("radius")
            with tempfile.TemporaryDirectory() as folder:
                value = round(ratio(model, given, name, options, out=Path(folder) / "run"), 2)
            found[f"{data}_{arch}_{name}" + ("" if radius is None else f"_r{radius}")] = value
            table.add_row(data, arch, name, str(radius or ""), f"{value:.2f}", "1")
    Console().print(table)
    return found
