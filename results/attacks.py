"""The papers' attacks on our models, beside the papers' numbers.

`python -m results.attacks` makes what is missing and writes docs/results/attacks.md. A cell is one experiment
on one victim: its runs are folders under `runs/attacks` (a killed call goes on where it was), its figures
one file under `results/figures/attacks`, written after every run. The page is made of those files alone:
`--page` makes no run, `--cells robust-yelp-minilm` makes some. Models are trained on first use into `models/`
(or the folder in UNFOOLED_MODELS). AG News and Yelp are no assets: UNFOOLED_AG_NEWS and UNFOOLED_YELP
hold the paths of their files (columns text, label and split); without them their cells are left out.

robust      Hauser et al. 2021, BERT is Robust: tables 1, 3 and 4
defender    Li et al. 2021, Searching for an Effective Defender: the baselines of tables 2 and 3
mcts        La Malfa et al. 2020, Assessing Robustness of Text Classification: tables 7 and 8
pdp         Yang et al. 2022, Quantifying Robustness: table 2, figures 3 and 4
"""

from __future__ import annotations

import argparse
from typing import Final

import torch

from results import attacks_page, victims
from results.attack_runs import FIGURES, Cell, make

_MINILM = dict.fromkeys(("ag_news", "yelp"), (("epochs", 3),))
_MINILM |= dict.fromkeys(("imdb", "snli"), (("epochs", 2),))
_BRIEF = {  # what one CPU thread trains in half an hour
    "ag_news": (("limit", 8000), ("epochs", 2)),
    "imdb": (("limit", 4000), ("epochs", 2)),
}
_WORDS = {"ag_news": (("epochs", 5),), "snli": (("epochs", 5),)}
_LSTM = {
    "ag_news": (("epochs", 4),),
    "imdb": (("max_length", 100), ("epochs", 4)),
}

CELLS: Final = (
    Cell("robust", "ag_news", "minilm", 500, _MINILM["ag_news"]),
    Cell("robust", "ag_news", "bilstm", 60, _WORDS["ag_news"]),
    Cell("robust", "yelp", "minilm", 40, _MINILM["yelp"]),
    Cell("robust", "yelp", "bilstm", 60),
    Cell("robust", "r8", "bilstm", 40),
    Cell("robust", "mr", "minilm", 500),
    Cell("robust", "mr", "bilstm", 100),
    Cell("defender", "ag_news", "minilm", 500, _MINILM["ag_news"]),
    Cell("defender", "ag_news", "minilm-brief", 100, _BRIEF["ag_news"]),
    Cell("defender", "ag_news", "bilstm", 100, _WORDS["ag_news"]),
    Cell("defender", "r8", "bilstm", 60),
    Cell("defender", "imdb", "bilstm", 20),
    Cell("defender", "imdb", "minilm", 100, _MINILM["imdb"]),
    Cell("defender", "imdb", "minilm-brief", 20, _BRIEF["imdb"]),
    Cell("mcts", "mr", "cnn-msr", 100),
    Cell("mcts", "mr", "lstm", 100),
    Cell("mcts", "ag_news", "lstm", 100, _LSTM["ag_news"]),
    Cell("mcts", "imdb", "lstm", 100, _LSTM["imdb"]),
    Cell("pdp", "mr", "bilstm", 1000),
    Cell("pdp", "mr", "minilm", 1000),
    Cell("pdp", "imdb", "bilstm", 60),
    Cell("pdp", "imdb", "minilm", 100, _MINILM["imdb"]),
    Cell("pdp", "snli", "bilstm", 1000, _WORDS["snli"]),
    Cell("pdp", "snli", "minilm", 1000, _MINILM["snli"]),
)


def main() -> None:
    """Makes the cells asked for, and the page of all whose figures are there."""
    parser = argparse.ArgumentParser(description="the papers' attacks on our models")
    parser.add_argument("--cells", nargs="+", choices=[cell.name for cell in CELLS])
    parser.add_argument("--page", action="store_true", help="make no run")
    parser.add_argument("--device", default="cpu", help="where models are trained and run")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for cell in () if asked.page else CELLS:
        if asked.cells is not None and cell.name not in asked.cells:
            continue
        if victims.spec(cell.data) is None:
            print(f"{cell.name} is left out: {victims.FILES[cell.data]} names no file")
            continue
        make(cell, device=asked.device)
    print(attacks_page.write(CELLS, figures=FIGURES))


if __name__ == "__main__":
    main()
