"""The ILP paper's baseline rows and the PDP paper's table 3 with everything that certifies.

`python -m results.exact` makes what is missing under `runs/exact` (a killed call goes on where it was)
and writes docs/results/exact.md from those folders. `--page` only writes; `--cells mr-mlp imdb-cnn` makes
some. Models are trained on first use into `models/` (or the folder in UNFOOLED_MODELS). A cell is one
audit: TextFooler and PDP, then the certifiers that suit the victim, up to four swaps.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import unfooled as uf
from results import exact_page
from results.victims import correct, load, trained

HOME = Path("runs/exact")
RADIUS = 4


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
    def folder(self) -> Path:
        return HOME / f"{self.data}-{self.model}"


CELLS = (
    Cell("mr", "mlp", 500, 20_000, any_text=True),
    Cell("imdb", "mlp", 1000, 20_000, ("textfooler",), any_text=True),
    Cell("mr", "cnn", 200, 500_000),
    Cell("mr", "bilstm", 200, 500_000),
    Cell("imdb", "cnn", 100, 200_000),
    Cell("imdb", "bilstm", 20, 20_000, time_limit=120.0),
    Cell("snli", "bilstm", 200, 500_000),
)


def make(cell: Cell, *, device: str = "cpu") -> None:
    """The cell's audit, or what is missing of it."""
    training = {"epochs": 5} if cell.data == "snli" else None
    victim = trained(cell.model, cell.data, training=training, device=device)
    test = load(cell.data, labels=victim.labels)
    right = correct(victim, test)
    order = np.random.default_rng(0).permutation(len(test))
    chosen = [test[int(i)] for i in order if cell.any_text or right[i]][: cell.texts]
    uf.audit(
        victim,
        chosen,
        radius=RADIUS,
        attacks=cell.attacks,
        max_queries=cell.budget,
        time_limit=cell.time_limit,
        epsilon=0.1,
        delta=0.05,
        out=cell.folder,
        progress=True,
    )


def main() -> None:
    """Makes the cells asked for, and the page of all that are there."""
    parser = argparse.ArgumentParser(description="exact and certified results on our models")
    parser.add_argument("--cells", nargs="+", choices=[cell.folder.name for cell in CELLS])
    parser.add_argument("--page", action="store_true", help="make no run")
    parser.add_argument("--device", default="cpu", help="where models are trained and run")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for cell in CELLS:
        if not asked.page and (asked.cells is None or cell.folder.name in asked.cells):
            make(cell, device=asked.device)
    print(exact_page.write([cell.folder for cell in CELLS]))


if __name__ == "__main__":
    main()
