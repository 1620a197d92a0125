"""How many texts are decided within ten seconds each: branch and bound, the trie, and plain forwards.

Reference models (trained on first use into `models/`, or the folder in UNFOOLED_MODELS) on texts of the
test split that they classify correctly, candidates from WordNet, one thread. A text is decided at
radius r if it is proved or fooled there, in a run that goes through the radii up to 4 one after the
other and is stopped after ten seconds. Naive is not run: it decides what the trie decides, if as many
forwards as there are members (up to the one that fools) fit into the time at the measured speed.

`python -m benchmarks.bnb --texts 50 --cells imdb_cnn`; the default takes about ten minutes.

<data>_<arch>_r<k>         share decided by branch and bound
<data>_<arch>_r<k>_trie    by the exhaustive prover's sweeps
<data>_<arch>_r<k>_naive   by forwards
<data>_<arch>_faster       seconds of the trie over those of branch and bound, all texts together
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import unfooled as uf
from unfooled.certifiers.branch_and_bound import BranchAndBound
from unfooled.engine import Engine
from unfooled.levels import Levels
from unfooled.program import Program, Spent
from unfooled.proof import Proof
from unfooled.space import Space
from unfooled.task import Job
from unfooled.victims.base import Part
from unfooled.victims.words import WordVictim
from unfooled.work import Work

SECONDS, RADIUS, TEXTS = 10.0, 4, 24
CELLS = (("imdb", "mlp"), ("imdb", "cnn"), ("mr", "cnn"), ("mr", "bilstm"))
NAMES = {f"{data}_{arch}": (data, arch) for data, arch in CELLS}
GOALS = {"imdb_mlp": RADIUS, "mr_cnn": 3, "mr_bilstm": 3}  # 95 % up to this radius


class Run(NamedTuple):
    """One method on one text."""

    proved: int
    fooled: int | None  # with so many swaps
    queries: int
    seconds: float

    def decides(self, radius: int) -> bool:
        return radius <= self.proved or (self.fooled is not None and self.fooled <= radius)


def victim(data: str, arch: str) -> WordVictim:
    """The reference model, trained if it is not there."""
    folder = Path(os.environ.get("UNFOOLED_MODELS", "models")) / f"{arch}-{data}"
    if not (folder / "config.json").exists():
        train, dev = (uf.data.load(data, split=split) for split in ("train", "dev"))
        uf.models.train(arch, train, out=folder, dev=dev)
    loaded = uf.load(str(folder))
    assert isinstance(loaded, WordVictim)
    return loaded


def texts(model: WordVictim, data: str, number: int) -> Iterator[tuple[Space, int]]:
    """Correctly classified texts with their candidates, and their labels."""
    examples = uf.data.load(data, split="test", limit=4 * number, seed=1)
    work = Work("bnb", model, examples, candidates="wordnet", config={}, seed=0, shard=None)
    found = 0
    for example in work.keyed.values():
        right = int(model.scores([example.text.source])[0].argmax()) == example.label
        if right and found < number:
            found += 1
            yield work.spaces.of(example), example.label


def trie(space: Space, label: int) -> Program[Proof]:
    """The exhaustive prover with an end to its patience."""
    levels, left = Levels(space, label), SECONDS
    columns = tuple(range(len(space.counts)))
    try:
        for swaps in range(min(RADIUS, len(columns)) + 1):
            if swaps == 1:
                columns = yield from levels.order(RADIUS, "auto")
            yield from levels.level(swaps, columns, seconds=left)
            left -= 0.0 if levels.sweeping is None else levels.sweeping.seconds
            if levels.ended or left <= 0:
                break
        else:
            levels.proved = RADIUS if levels.tie is None else levels.proved
    except Spent:
        levels.spent = True
    return levels.proof(RADIUS)


def run(model: WordVictim, space: Space, program: Program[Proof], *, most: int | None) -> Run:
    """What came of a program, alone."""
    began = time.perf_counter()
    (result,) = Engine(model, in_flight=1).run([Job("text", space, program, None, most)])
    seconds = time.perf_counter() - began
    proof = result.value
    if proof is None:
        raise SystemExit(f"a text failed: {result.error}")
    swaps = None if proof.witness is None else int(np.count_nonzero(proof.witness))
    return Run(proof.radius, swaps, result.queries, seconds)


def speed(model: WordVictim, space: Space) -> float:
    """Forwards a second, in the engine's own batches."""
    rows = space.sample(RADIUS, 2 * model.batch_rows, np.random.default_rng(0))
    part, began = model.prepare(space), time.perf_counter()
    for start in range(0, len(rows), model.batch_rows):
        model.submit([Part(part, rows[start : start + model.batch_rows])])()
    return len(rows) / (time.perf_counter() - began)


def cell(data: str, arch: str, number: int) -> dict[str, float]:
    """The shares decided of one data set and model."""
    model, name = victim(data, arch), f"{data}_{arch}"
    trees, tries, forwards, spaces = [], [], [], []
    for space, label in texts(model, data, number):
        spaces.append(space)
        method = BranchAndBound(RADIUS, SECONDS)
        trees.append(
            run(model, space, method.prove(space, label, np.random.default_rng(0)), most=None)
        )
        # Where words are not single ids there is nothing to sweep: then time buys plain forwards.
        forwards.append(int(SECONDS * speed(model, space)))
        layered = model.layers(model.prepare(space)) is not None
        limit = None if layered else forwards[-1]
        tries.append(run(model, space, trie(space, label), most=limit))
    found: dict[str, float] = {}
    for r in range(1, RADIUS + 1):
        found[f"{name}_r{r}"] = np.mean([t.decides(r) for t in trees])
        found[f"{name}_r{r}_trie"] = np.mean([t.decides(r) for t in tries])
        naive = [
            t.decides(r) and min(t.queries, space.size(r)) <= paid
            for t, space, paid in zip(tries, spaces, forwards, strict=True)
        ]
        found[f"{name}_r{r}_naive"] = np.mean(naive)
    found[f"{name}_faster"] = sum(t.seconds for t in tries) / sum(t.seconds for t in trees)
    return {key: round(float(value), 3) for key, value in found.items()}


def measure(number: int = TEXTS, *, cells: Sequence[tuple[str, str]] = CELLS) -> dict[str, float]:
    """The shares of all cells, and the table with the goals."""
    torch.set_num_threads(1)
    found: dict[str, float] = {}
    table = Table("cell", "r", "branch and bound", "trie", "naive", "at least")
    for data, arch in cells:
        found |= cell(data, arch, number)
        name = f"{data}_{arch}"
        for r in range(1, RADIUS + 1):
            shares = [found[f"{name}_r{r}{of}"] for of in ("", "_trie", "_naive")]
            goal = "0.95" if r <= GOALS.get(name, 0) else ""
            table.add_row(name, str(r), *(f"{share:.2f}" for share in shares), goal)
        print(json.dumps({"cell": name, "faster": found[f"{name}_faster"]}), flush=True)
    Console().print(table)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--texts", type=int, default=TEXTS, help="correctly classified texts of each cell"
    )
    parser.add_argument(
        "--cells", nargs="+", choices=list(NAMES), default=list(NAMES), help="default: all"
    )
    asked = parser.parse_args()
    shares = measure(asked.texts, cells=[NAMES[name] for name in asked.cells])
    print(json.dumps({"benchmark": "bnb", **shares}))
