"""The ILP paper's baseline rows and the PDP paper's table 3 with everything that certifies.

`python -m results.exact` makes all cells and writes docs/results/exact.md. A cell is one audit, TextFooler
and PDP, then the certifiers that suit the victim, up to four swaps: its run is a folder under `runs/exact`
(a killed call goes on where it was), its figures one file under `results/figures/exact`. The page is made of
those files alone: `--page` makes no run, `--cells mr-mlp imdb-cnn` makes some. `--alone mr-cnn` has each
certifier by itself work on the texts of one victim. Models are trained on first use
into `models/` (or the folder in UNFOOLED_MODELS).
"""

from __future__ import annotations

import argparse
from typing import Final

import torch

from results import exact_alone, exact_page
from results.exact_alone import Alone
from results.exact_runs import FIGURES, Cell, make

CELLS: Final = (
    Cell("mr", "mlp", 500, 20_000, any_text=True),
    Cell("imdb", "mlp", 1000, 20_000, ("textfooler",), any_text=True),
    Cell("mr", "cnn", 200, 500_000),
    Cell("mr", "bilstm", 200, 500_000),
    Cell("imdb", "cnn", 100, 200_000),
    Cell("imdb", "bilstm", 20, 20_000, time_limit=1800.0),
    Cell("snli", "bilstm", 200, 500_000),
)

ALONE: Final = (
    Alone("mr", "mlp", 100, 500_000),
    Alone("mr", "cnn", 100, 500_000),
    Alone("mr", "bilstm", 50, 500_000),
    Alone("imdb", "mlp", 50, 500_000),
    Alone("imdb", "cnn", 50, 500_000),
    Alone("imdb", "bilstm", 10, 50_000),
)


def main() -> None:
    """Makes the cells asked for, and the page of all whose figures are there."""
    parser = argparse.ArgumentParser(description="exact and certified results on our models")
    parser.add_argument("--cells", nargs="+", choices=[cell.name for cell in CELLS])
    parser.add_argument("--alone", nargs="*", choices=[cell.name for cell in ALONE])
    parser.add_argument("--page", action="store_true", help="make no run")
    parser.add_argument("--device", default="cpu", help="where models are trained and run")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    everything = not asked.page and asked.cells is None and asked.alone is None
    for cell in CELLS:
        if everything or cell.name in (asked.cells or ()):
            make(cell, device=asked.device)
    for each in ALONE:
        if everything or each.name in (asked.alone or ()):
            exact_alone.make(each)
    names = [cell.name for cell in CELLS]
    print(exact_page.write(names, alone=[each.name for each in ALONE], figures=FIGURES))


if __name__ == "__main__":
    main()
