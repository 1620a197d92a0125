"""docs/results/exact.md, from the run folders of `results.exact`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from results.markdown import table
from results.quantify_page import DATA, PAPER, mean, share, time
from unfooled import auditing, records
from unfooled.minima import Minimum
from unfooled.report.radii import by_radius

PAGE = Path(__file__).parents[1] / "docs" / "results" / "exact.md"
MODELS = {"mlp": "MLP", "cnn": "CNN", "bilstm": "BiLSTM"}


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


@dataclass(frozen=True)
class Found:
    """What a cell's folder holds."""

    folder: Path

    @property
    def names(self) -> list[str]:
        """The data set and the model, for people."""
        data, model = self.folder.name.split("-")
        return [DATA[data], MODELS[model]]

    @cached_property
    def audit(self) -> auditing.Audit:
        return auditing.read(self.folder)[0]

    @cached_property
    def budget(self) -> int:
        found: int = records.read(self.folder).manifest["options"]["max_queries"]
        return found


def write(folders: Sequence[Path]) -> Path:
    """The page of all cells that are there."""
    cells = [Found(folder) for folder in folders if (folder / "costs.json").exists()]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(cells), encoding="utf-8")
    return PAGE


def page(cells: Sequence[Found]) -> str:
    """All of it as Markdown."""
    exact = [cell for cell in cells if cell.folder.name in ILP]
    return f"""# Exact and certified

Written by `python -m results.exact` from run folders, one audit for each victim: TextFooler and PDP from
above, then the certifiers that suit the victim from below. Candidates are WordNet synonyms of the word's
part of speech, the five nearest by word vector, one list for all methods; the papers' are others, and so
are their training sets. Everything ran on one thread of a busy machine of two cores, no GPU.

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

{_table_3(cells)}

## Who closes the bracket

For each certifier of an audit: the texts that it was asked about (those that the ones before it left open),
how many of them were known exactly when the audit ended by its lower bound, and its seconds in all.

{_table_certifiers(cells)}
"""


def _table_ilp(cells: Sequence[Found]) -> str:
    head = ("data", "texts", "accuracy", "AUA, TextFooler", "AUA, exact", "MMWS", "known exactly",
            "seconds a text", "*paper: data*", "*accuracy*", "*AUA, TextFooler*", "*AUA, exact*", "*MMWS*")  # fmt: skip
    rows = []
    for cell in cells:
        figures, paper = cell.audit.summary(), ILP[cell.folder.name]
        kept = [a.outcomes["textfooler"].status in ("failed", "exhausted") for a in cell.audit]
        first = next(name for a in cell.audit for name in a.verdicts)  # the one asked about most
        spent = cell.audit.costs[first]
        ours = [
            cell.names[0], f"{len(cell.audit):,}", f"{figures['clean_accuracy']:.3f}", f"{mean(kept):.3f}",
            _interval(figures["accuracy_under_attack"]["any"], 3), _interval(figures["mmws"], 2),
            f"{100 * figures['exact']:.1f} %", f"{spent['seconds'] / spent['texts']:.2g}",
        ]  # fmt: skip
        theirs = [paper.data, *(f"{v:.3f}" for v in paper[1:4]), f"{paper.mmws:.2f}"]
        rows.append([*ours, *theirs])
    return table(head, rows)


def _undecided(cells: Sequence[Found]) -> str:
    reasons = Counter(
        (cell.names[0], verdict.reason)
        for cell in cells
        for a in cell.audit
        for verdict in a.verdicts.values()
        if isinstance(verdict, Minimum) and verdict.reason
    )
    lines = [f"- {data}, {n} texts: {reason}." for (data, reason), n in reasons.most_common()]
    return "\n".join(lines) or "Nothing: every text was decided."


def _table_increments(cells: Sequence[Found]) -> str:
    more = [0, 1, 2, 3]
    head = ("data", "texts", *(f"+{n}" for n in more), "+4 and more", "mean", *(f"m = {m}" for m in range(1, 6)), "m > 5")  # fmt: skip
    rows = []
    for cell in cells:
        known = [a for a in cell.audit if a.exact and a.fewest is not None]
        least = [len(a.fewest or ()) for a in known]
        extra = [
            a.outcomes["textfooler"].swaps - m
            for a, m in zip(known, least, strict=True)
            if a.outcomes["textfooler"].status == "success"
        ]
        counts = [extra.count(n) for n in more] + [sum(e > more[-1] for e in extra)]
        minima = [least.count(m) for m in range(1, 6)] + [sum(m > 5 for m in least)]
        shown = [*map(str, counts), f"{mean(extra):.2f}", *map(str, minima)]
        rows.append([cell.names[0], str(len(extra)), *shown])
    return table(head, rows)


def _table_3(cells: Sequence[Found]) -> str:
    head = ("data", "model", "texts", "queries", "known exactly", "r", "found %", "T", "certified %", "T",
            "unknown %", "*PDP paper: found*", "*certified*")  # fmt: skip
    rows = []
    for cell in cells:
        held = sum(a.bracket is not None for a in cell.audit)
        exact = f"{100 * cell.audit.summary()['exact']:.1f} %"
        paper = PAPER.get(cell.folder.name)
        for line in by_radius(cell.audit):
            theirs = [None, None] if paper is None else [
                paper.found[line.radius - 1], paper.certified[line.radius - 1]
            ]  # fmt: skip
            rows.append(
                [
                    *cell.names,
                    str(held),
                    f"{cell.budget:,}",
                    exact,
                    str(line.radius),
                    share(line.found),
                    time(line.found),
                    share(line.certified),
                    time(line.certified),
                    share(line.unknown),
                    *("–" if v is None else f"{v:.2f}" for v in theirs),
                ]
            )
    return table(head, rows)


def _table_certifiers(cells: Sequence[Found]) -> str:
    head = ("data", "model", "certifier", "asked", "closed", "lower bounds that are its", "seconds")
    rows = []
    for cell in cells:
        held = [a for a in cell.audit if a.bracket is not None]
        names = dict.fromkeys(name for a in held for name in a.verdicts)
        for name in (n for n in names if n in cell.audit.costs):  # a run under way has none yet
            asked = [a for a in held if name in a.verdicts]
            own = [a for a in asked if a.bracket is not None and a.bracket.below.method == name]
            seconds = cell.audit.costs[name]["seconds"]
            closed = str(sum(a.exact for a in own))
            rows.append(
                [*cell.names, name, str(len(asked)), closed, str(len(own)), f"{seconds:.1f}"]
            )
    return table(head, rows)


def _interval(found: tuple[float, float] | None, digits: int) -> str:
    if found is None:
        return "–"
    low, high = (f"{value:.{digits}f}" for value in found)
    return low if low == high else f"{low} to {high}"
