"""The PDP paper's experiments on our models: its tables 1 to 3 and figures 4 and 5, beside its numbers.

`python -m results.quantify` makes what is missing under `runs/quantify` (a killed call goes on where
it was) and writes docs/results/quantify.md with its figures from those folders. `--page` only writes;
`--cells mr-bilstm imdb-minilm` makes some. Models are trained on first use into `models/` (or the folder
in UNFOOLED_MODELS). A cell's folder holds

data.json       the data set and the victim's accuracy (table 1)
greedy, pdp     attacks on at most a quarter of the words (table 2, figure 4)
audit           attack and proof up to four swaps (table 3)
pr              PR within a quarter of the words (figure 5)
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import unfooled as uf
from results import quantify_page, victims

HOME = Path("runs/quantify")
RATE, RADIUS = 0.25, 4
ATTACKS = ("greedy", "pdp")
QUERIES = 2_000  # of an attack on one text, the demands of tightened PDP


@dataclass(frozen=True)
class Cell:
    """One victim on one data set, and how many of the texts that it gets right are used for what."""

    data: str
    model: str
    attacked: int
    proved: int
    estimated: int
    budget: int  # queries for each text of the audit, for the attack and for the proof
    training: tuple[tuple[str, int], ...] = ()  # what differs from the defaults

    @property
    def name(self) -> str:
        return f"{self.data}-{self.model}"

    @property
    def folder(self) -> Path:
        return HOME / self.name


CELLS = (
    Cell("mr", "bilstm", 1000, 200, 1000, 500_000),
    Cell("mr", "minilm", 200, 100, 60, 1_000),
    Cell("imdb", "bilstm", 100, 40, 100, 20_000),
    Cell("imdb", "minilm", 8, 4, 4, 400, (("limit", 1500), ("epochs", 2))),
    Cell("snli", "bilstm", 1000, 200, 1000, 500_000, (("epochs", 5),)),
    Cell("snli", "minilm", 200, 60, 100, 5_000, (("limit", 12000), ("epochs", 2))),
)


def victim(cell: Cell) -> uf.Victim:
    """The cell's model, trained if it is not there."""
    return victims.trained(cell.model, cell.data, training=dict(cell.training))


def right(cell: Cell, model: uf.Victim) -> list[uf.Example]:
    """The test texts that the victim classifies correctly, shuffled; writes what table 1 needs."""
    test = uf.data.load(cell.data, labels=model.labels)
    correct = victims.correct(model, test)
    lengths = [len(e.text) for e in test]
    facts = {
        "length": [float(np.mean(lengths)), min(lengths), max(lengths)],
        "train": dict(cell.training).get("limit") or len(uf.data.load(cell.data, split="train")),
        "test": len(test),
        "accuracy": float(correct.mean()),
    }
    cell.folder.mkdir(parents=True, exist_ok=True)
    (cell.folder / "data.json").write_text(json.dumps(facts, indent=1) + "\n")
    order = np.random.default_rng(0).permutation(np.flatnonzero(correct))
    return [test[int(i)] for i in order]


def make(cell: Cell) -> None:
    """Whatever of the cell's runs is missing."""
    model = victim(cell)
    texts = right(cell, model)
    how: dict[str, Any] = {"progress": True}
    for name in ATTACKS:
        some = texts[: cell.attacked]
        uf.attack(
            name, model, some, max_rate=RATE, max_queries=QUERIES, out=cell.folder / name, **how
        )
    uf.audit(
        model, texts[: cell.proved], radius=RADIUS, max_queries=cell.budget, out=cell.folder / "audit",
        epsilon=0.1, delta=0.05, **how,
    )  # fmt: skip
    uf.estimate(model, texts[: cell.estimated], rate=RATE, out=cell.folder / "pr", **how)


def main() -> None:
    """Makes the cells asked for, and the page of all that are there."""
    parser = argparse.ArgumentParser(description="the PDP paper's tables on our models")
    parser.add_argument("--cells", nargs="+", choices=[c.name for c in CELLS])
    parser.add_argument("--page", action="store_true", help="make no run")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for cell in CELLS:
        if not asked.page and (asked.cells is None or cell.name in asked.cells):
            make(cell)
    print(quantify_page.write([cell.folder for cell in CELLS]))


if __name__ == "__main__":
    main()
