"""How much of what is true the bounds prove, and at what cost beside the exhaustive prover.

Trained models on mr, the first 100 texts of its test split that are classified correctly, WordNet
candidates, radii 1 to 3. Models are trained on first use into `models/` (or the folder in
UNFOOLED_MODELS). For each architecture:

<arch>_true_r<k>         texts that are robust within k swaps, as the exhaustive prover says
<arch>_<method>_r<k>     of these, the share that the method proves
<arch>_<method>_ms       milliseconds for a text, with everything around
<arch>_<method>_cost     its seconds over those of the exhaustive prover, in the same process

A method that proves a text which the exhaustive prover refutes ends the benchmark with an error.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import unfooled as uf
from unfooled import models
from unfooled.errors import Unsound

TEXTS, RADIUS, QUERIES = 100, 3, 2_000_000
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "exhaustive": ("exhaustive", {"max_queries": QUERIES}),
    "intervals": ("intervals", {}),
    "linear": ("linear", {}),
    "optimised": ("linear", {"bounds": "optimised"}),
}
SLOW = {"lstm", "bilstm", "transformer"}  # for which slopes are not optimised here


def victim(arch: str) -> uf.Victim:
    """The trained model, from the folder or made now."""
    folder = Path(os.environ.get("UNFOOLED_MODELS", "models")) / f"{arch}-mr"
    if not (folder / "config.json").is_file():
        models.train(arch, uf.data.load("mr", split="train"), out=folder, progress=False)
    return uf.load(str(folder))


def right(model: uf.Victim, texts: int) -> list[Any]:
    """Examples that the victim classifies correctly."""
    examples = list(uf.data.load("mr", split="test", limit=3 * texts))
    scores = model.scores([example.text.source for example in examples])
    kept = [e for e, row in zip(examples, scores, strict=True) if int(row.argmax()) == e.label]
    return kept[:texts]


def proofs(arch: str, texts: int) -> tuple[dict[str, list[uf.Verdict]], dict[str, float]]:
    """The verdicts of every method on the same texts, and the seconds they took."""
    model = victim(arch)
    examples = right(model, texts)
    verdicts: dict[str, list[uf.Verdict]] = {}
    seconds: dict[str, float] = {}
    for name, (certifier, options) in METHODS.items():
        if name == "optimised" and arch in SLOW:
            continue
        began = time.perf_counter()
        verdicts[name] = list(uf.certify(certifier, model, examples, radius=RADIUS, **options))
        seconds[name] = time.perf_counter() - began
    return verdicts, seconds


def refuse_contradictions(verdicts: dict[str, list[uf.Verdict]]) -> None:
    """Raises Unsound where a method proves what the exhaustive prover refutes."""
    for name, found in verdicts.items():
        for exact, claimed in zip(verdicts["exhaustive"], found, strict=True):
            if exact.verdict == "falsified" and claimed.radius > exact.radius:
                raise Unsound(f"{name} proved {claimed.radius} swaps of {claimed.id}")


def measured(arch: str, texts: int) -> dict[str, float]:
    """The figures of one architecture."""
    verdicts, seconds = proofs(arch, texts)
    refuse_contradictions(verdicts)
    count = len(verdicts["exhaustive"])
    figures: dict[str, float] = {f"{arch}_texts": count}
    for swaps in range(1, RADIUS + 1):
        sums = {n: sum(v.radius >= swaps for v in found) for n, found in verdicts.items()}
        true = figures[f"{arch}_true_r{swaps}"] = sums.pop("exhaustive")
        for name, proved in sums.items():
            figures[f"{arch}_{name}_r{swaps}"] = round(proved / max(1, true), 3)
    for name, spent in seconds.items():
        figures[f"{arch}_{name}_ms"] = round(1000 * spent / count, 1)
        if name != "exhaustive":
            figures[f"{arch}_{name}_cost"] = round(spent / seconds["exhaustive"], 3)
    return figures


def measure() -> dict[str, float]:
    """All figures, and a table of them."""
    torch.set_num_threads(1)
    wanted = os.environ.get("UNFOOLED_ARCHITECTURES", "mlp,cnn,bilstm,transformer").split(",")
    texts = int(os.environ.get("UNFOOLED_TEXTS", str(TEXTS)))
    found: dict[str, float] = {}
    for arch in wanted:
        found |= measured(arch, texts)
    table = Table("figure", "value")
    for key in sorted(found):
        table.add_row(key, f"{found[key]:g}")
    Console().print(table)
    return found
