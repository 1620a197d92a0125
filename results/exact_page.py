"""docs/results/exact.md, from the figures of `results.exact_runs`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from results.exact_alone import LIMIT, closed
from results.markdown import table
from results.quantify_page import DATA, PAPER, mean

PAGE = Path(__file__).parents[1] / "docs" / "results" / "exact.md"
MODELS = {"mlp": "MLP", "cnn": "CNN", "bilstm": "BiLSTM"}
Figures = dict[str, Any]  # of one cell, as `results.exact_runs.make` writes them


class Baseline(NamedTuple):
    """What the ILP paper reports for its undefended model."""

    data: str
    accuracy: float
    textfooler: float  # accuracy under attack
    exact: float
    mmws: float


ILP = {
    "mr-mlp": Baseline("SST-2", 0.838, 0.280, 0.280, 1.99),
    "imdb-mlp": Baseline("IMDb", 0.819, 0.0, 0.0, 4.81),
}


def write(names: Sequence[str], *, alone: Sequence[str], figures: Path) -> Path:
    """The page of all cells whose figures are there."""
    PAGE.parent.mkdir(exist_ok=True)
    cells, single = _read(names, figures), _read([f"alone-{name}" for name in alone], figures)
    PAGE.write_text(page(cells, alone=single), encoding="utf-8")
    return PAGE


def _read(names: Sequence[str], figures: Path) -> list[Figures]:
    files = [figures / f"{name}.json" for name in names]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]


def page(cells: Sequence[Figures], *, alone: Sequence[Figures] = ()) -> str:
    """All of it as Markdown."""
    exact = [cell for cell in cells if cell["cell"] in ILP]
    return f"""# Exact and certified

Written by `python -m results.exact` from the files in `results/figures/exact`, one audit for each victim:
TextFooler and PDP from above, then the certifiers that suit the victim from below. Candidates are WordNet synonyms of the word's
part of speech, the five nearest by word vector, one list for all methods; the papers' are others, and so
are their training sets. Where no device is named, it was one thread of a busy machine of two cores.

## The ILP paper's tables 3 and 4, baseline rows

Tomonari et al. (2022) train the same network (200 words of 2 dimensions, 64 ReLU units) on SST-2 and IMDb;
`mr` stands in for SST-2, whose sentences come from it. Accuracy under attack (AUA) is a share of all texts,
those misclassified from the start counting as broken; the exact one is an interval where a text is
undecided. MMWS is the mean of the least fooling swaps over the texts that can be fooled.

{_table_ilp(exact)}

What `minimum` left undecided, and why:

{_undecided(exact)}

## Swaps beyond the least

On the texts that TextFooler fools and whose minimum is known: how many swaps more than necessary it takes
(the paper's figure 1), and the distribution of the minimum (its figure 2).

{_table_increments(exact)}

## Found and certified by radius

The PDP paper's table 3, with the cells that it left empty. T is the mean time of a text in seconds.
A transformer shows no layers that these certifiers bound tightly, so there all texts are evaluated: the rows of
MiniLM beside the paper's BERT are [those of the exhaustive prover](quantify.md#table-3-proofs-within-a-radius).
{_limits(cells)}

{_table_3(cells)}

## Who closes the bracket

For each certifier of an audit: the texts that it was asked about (those that the ones before it left open),
how many of them were known exactly when the audit ended by its lower bound, and its seconds in all.

{_table_certifiers(cells)}

## Each certifier by itself

Before any proof a bracket reaches from 1 swap to those of PDP, or to 5 where PDP finds nothing with 4. *Closed*
is the part of all these brackets that a certifier closes when it works alone, up to radius 4; *whole* the share of
texts of which nothing is left open. Texts that a single swap fools have nothing to close. `branch-and-bound` and
`minimum` had {LIMIT:.0f} s for a text, `exhaustive` the texts to run that are named.

{_table_alone(alone)}
"""


def _names(cell: Figures) -> list[str]:
    """The data set and the model, for people, and what it ran on if not on a CPU."""
    data, model = cell["cell"].split("-")
    where = "" if cell["device"] == "cpu" else f", {cell['device']}"
    return [DATA[data], MODELS[model] + where]


def _table_ilp(cells: Sequence[Figures]) -> str:
    head = ("data", "texts", "accuracy", "AUA, TextFooler", "AUA, exact", "MMWS", "known exactly",
            "seconds a text", "*paper: data*", "*accuracy*", "*AUA, TextFooler*", "*AUA, exact*", "*MMWS*")  # fmt: skip
    rows = []
    for cell in cells:
        paper = ILP[cell["cell"]]
        ours = [
            _names(cell)[0], f"{cell['texts']:,}", f"{cell['accuracy']:.3f}", f"{cell['textfooler_accuracy']:.3f}",
            _interval(cell["accuracy_under_attack"], 3), _interval(cell["mmws"], 2), _exact(cell),
            f"{cell['seconds_per_text']:.2g}",
        ]  # fmt: skip
        theirs = [paper.data, *(f"{v:.3f}" for v in paper[1:4]), f"{paper.mmws:.2f}"]
        rows.append([*ours, *theirs])
    return table(head, rows)


def _undecided(cells: Sequence[Figures]) -> str:
    lines = [
        f"- {_names(cell)[0]}, {texts} texts: {reason}."
        for cell in cells
        for reason, texts in sorted(cell["undecided"].items(), key=lambda item: -item[1])
    ]
    return "\n".join(lines) or "Nothing: every text was decided."


def _table_increments(cells: Sequence[Figures]) -> str:
    head = ("data", "texts", *(f"+{n}" for n in range(4)), "+4 and more", "mean", *(f"m = {m}" for m in range(1, 6)), "m > 5")  # fmt: skip
    rows = []
    for cell in cells:
        more, minima = cell["more"], cell["minima"]
        shown = [
            *(more.count(n) for n in range(4)), sum(n > 3 for n in more), f"{mean(more):.2f}",
            *(minima.count(m) for m in range(1, 6)), sum(m > 5 for m in minima),
        ]  # fmt: skip
        rows.append([_names(cell)[0], str(len(more)), *map(str, shown)])
    return table(head, rows)


def _table_3(cells: Sequence[Figures]) -> str:
    head = ("data", "model", "texts", "queries", "known exactly", "r", "found %", "T", "certified %", "T",
            "unknown %", "*PDP paper: found*", "*certified*")  # fmt: skip
    rows = []
    for cell in cells:
        about = [*_names(cell), str(cell["correct"]), f"{cell['budget']:,}", _exact(cell)]
        paper = PAPER.get(cell["cell"])
        for at, line in enumerate(cell["radii"]):
            theirs = (None, None) if paper is None else (paper.found[at], paper.certified[at])
            found, certified = line["found"], line["certified"]
            parts = [*_part(found), *_part(certified), _part(line["unknown"])[0]]
            papers = ["–" if v is None else f"{v:.2f}" for v in theirs]
            rows.append([*about, str(line["radius"]), *parts, *papers])
    return table(head, rows)


def _limits(cells: Sequence[Figures]) -> str:
    """How long certifiers were given."""
    by_limit: dict[float, list[str]] = {}
    for cell in cells:
        by_limit.setdefault(cell["time_limit"], []).append(" ".join(_names(cell)))
    parts = [f"{limit:,.0f} s ({', '.join(names)})" for limit, names in by_limit.items()]
    return f"Each certifier had so long for a text: {'; '.join(parts)}."


def _table_certifiers(cells: Sequence[Figures]) -> str:
    head = ("data", "model", "certifier", "asked", "closed", "lower bounds that are its", "seconds")
    rows = []
    for cell in cells:
        for found in cell["certifiers"]:
            counts = [str(found[key]) for key in ("name", "asked", "closed", "own")]
            rows.append([*_names(cell), *counts, f"{found['seconds']:.1f}"])
    return table(head, rows)


def _table_alone(cells: Sequence[Figures]) -> str:
    head = ("data", "model", "texts", "to close", "certifier", "closed %", "whole %", "ms a text")
    rows = []
    for cell in cells:
        data, model = cell["cell"].split("-")
        left = sum(high > 1 for high in cell["upper"])
        for found in cell["certifiers"]:
            part, whole = closed(found["lower"], cell["upper"])
            method = found["method"]
            if method == "`exhaustive`":
                method += f", {cell['budget']:,}"
            shares = [f"{100 * part:.1f}", f"{100 * whole:.1f}", f"{1000 * found['seconds']:,.1f}"]
            about = [DATA[data], MODELS[model], str(cell["texts"]), str(left)]
            rows.append([*about, method, *shares])
    return table(head, rows)


def _exact(cell: Figures) -> str:
    return f"{100 * cell['known_exactly']:.1f} %"


def _part(part: Figures) -> list[str]:
    """The share of a kind of texts in per cent, and their mean time."""
    share, seconds = part["share"], part["seconds"]
    time = "–" if seconds is None else f"{seconds:.2g}" if seconds < 100 else f"{seconds:.0f}"
    return ["–" if share is None else f"{100 * share:.2f}", time]


def _interval(found: Sequence[float] | None, digits: int) -> str:
    if found is None:
        return "–"
    low, high = (f"{value:.{digits}f}" for value in found)
    return low if low == high else f"{low} to {high}"
