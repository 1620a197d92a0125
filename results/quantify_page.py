"""docs/results/quantify.md and its figures, from the run folders of `results.quantify`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from results import quantify_figures
from results.markdown import table
from unfooled import auditing, records
from unfooled.estimates import Estimated
from unfooled.outcomes import Outcome
from unfooled.report.radii import by_radius

PAGE = Path(__file__).parents[1] / "docs" / "results" / "quantify.md"
DATA = {"mr": "MR", "imdb": "IMDB", "snli": "SNLI"}
MODELS = {"bilstm": "BiLSTM", "minilm": "MiniLM"}


class Paper(NamedTuple):
    """What the paper reports for a data set and a model (BERT where ours is MiniLM)."""

    accuracy: float
    attacked: int
    succeeded: int
    win: int
    swapped: float
    found: tuple[float | None, ...]  # by radius
    certified: tuple[float | None, ...]
    robust: float | None  # share of texts with PR above 0.9, where the text gives it


PAPER = {
    "mr-bilstm": Paper(82.47, 880, 655, 33, 10.44, (36.0, 58.0, 72.0, 78.0), (64.0, 42.0, 28.0, 22.0), 79.22),
    "mr-minilm": Paper(89.60, 956, 621, 30, 11.80, (20.0, 40.0, 56.5, 67.5), (80.0, 60.0, 43.5, 32.5), 90.97),
    "imdb-bilstm": Paper(91.23, 1000, 989, 599, 3.11, (15.59, 31.99, 45.5, None), (84.41, 68.01, 54.5, None), None),
    "imdb-minilm": Paper(92.27, 1000, 899, 498, 2.87, (12.66, 25.91, 38.48, None), (87.34, 74.09, 61.52, None), 90.66),
    "snli-bilstm": Paper(84.43, 1000, 764, 31, 14.91, (56.9, 76.87, 82.52, 84.63), (43.1, 23.13, 17.48, 15.37), None),
    "snli-minilm": Paper(90.50, 1000, 845, 30, 15.09, (71.43, 88.01, 92.37, 93.58), (28.57, 11.99, 7.63, 6.42), None),
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """What a cell's folder holds."""

    folder: Path

    @property
    def names(self) -> list[str]:
        """The data set and the model, for people."""
        data, model = self.folder.name.split("-")
        return [DATA[data], MODELS[model]]

    @property
    def paper(self) -> Paper:
        return PAPER[self.folder.name]

    @cached_property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads((self.folder / "data.json").read_text())
        return facts

    @cached_property
    def swaps(self) -> dict[str, list[tuple[float, int]]]:
        """For each attack the swaps that fooled each text (infinite: none did) and its words."""
        found: dict[str, list[tuple[float, int]]] = {}
        for name in ("greedy", "pdp"):
            outcomes = [Outcome.from_record(r) for r in records.read(self.folder / name).records()]
            outcomes = sorted((o for o in outcomes if o.status != "error"), key=lambda o: o.id)
            found[name] = [
                (o.swaps if o.status == "success" else math.inf, len(o.original)) for o in outcomes
            ]
            if name == "pdp":
                found["paper"] = [(o.first_swaps or math.inf, len(o.original)) for o in outcomes]
        return found

    @cached_property
    def audit(self) -> auditing.Audit:
        return auditing.read(self.folder / "audit")[0]

    @cached_property
    def pr(self) -> list[Estimated]:
        kept = [Estimated.from_record(r) for r in records.read(self.folder / "pr").records()]
        return [e for e in kept if e.value is not None]


def write(folders: Sequence[Path]) -> Path:
    """The page of all cells that are complete."""
    cells = [Found(folder) for folder in folders if (folder / "pr" / "manifest.json").exists()]
    PAGE.parent.mkdir(exist_ok=True)
    quantify_figures.survival(
        {" ".join(c.names): c.swaps for c in cells}, PAGE.parent / "quantify-survival.svg"
    )
    quantify_figures.violins(
        {" ".join(c.names): [e.value for e in c.pr if e.value is not None] for c in cells},
        PAGE.parent / "quantify-pr.svg",
    )
    PAGE.write_text(page(cells), encoding="utf-8")
    return PAGE


def page(cells: Sequence[Found]) -> str:
    """All of it as Markdown."""
    described = records.read(cells[0].folder / "pdp").manifest["candidates"]  # WordNet(k=5, ...)
    source = described.partition("(")[0].lower()
    return f"""# Quantified: the PDP paper's experiments

Written by `python -m results.quantify` from run folders. The paper is Yang et al. (2022),
*Quantifying Robustness to Adversarial Word Substitutions*; its numbers stand beside ours, and they are
not about the same models, data or candidates:

- **Candidates** are those of `{source}`: WordNet synonyms of the word's part of speech, the five nearest
  by word vector, instead of HowNet's. Words that may be swapped and what for differ, and so do all rates.
- **Models**: the BiLSTM has the paper's 150 units over 50-dimensional GloVe (the paper: 300). A
  fine-tuned MiniLM (6 layers, 384 wide, the first 128 tokens) stands in for BERT. Training sets are
  smaller than the paper's on SNLI, and for MiniLM on IMDB (table 1).
- **Texts** are drawn from those of the test split that the victim classifies correctly; how many is in
  each table. Where the paper has more, ours are fewer because all this ran on two CPU cores, no GPU.
- **PDP** keeps 8 texts and draws 1 ([why](pdp.md)); *tightened* goes on to fewer swaps for at most 2,000
  further queries for a text.

## Table 1: data and test accuracy

{_table_1(cells)}

## Table 2: attacks

At most a quarter of the words are swapped, with at most 2,000 queries for a text, which on IMDB ends the
paper's own algorithm early: hence its fewer successes there. #Win counts the texts that another of the
attacks fools too and on which this one needs fewer swaps than all of them (the two kinds of PDP do not
compete with each other); %S is the mean share of words swapped over the attack's own successes. Greedy
search by saliency stands in for the paper's rivals; beam and random search are in
[PDP and its rivals](pdp.md).

{_table_2(cells)}

## Table 3: proofs within a radius

Of the texts, the share that an attack or the prover broke within r swaps, the share proved robust, and
what is left unknown within the queries allowed for a text. T is the mean time of a text in seconds, on
one thread of a busy machine: of the attack where a text was broken, of the whole proof, up to four swaps,
where it was certified. The paper let every proof finish, and left r = 4 on IMDB out.

{_table_3(cells)}

## Figure 4: regions that do not yield

The share of texts on which an attack finds nothing within r swaps.

![For each data set and model, two falling curves over the number of swaps, PDP below greedy](quantify-survival.svg)

## Figure 5: PR

The share of the texts within a quarter of the words that keep their label, sampled until it is known to
within 0.025 with confidence 99.5 %, or counted where the space is small.

![For each data set and model a violin of PR, most of its width near 1](quantify-pr.svg)

{_table_pr(cells)}
"""


def _table_1(cells: Sequence[Found]) -> str:
    head = ("data", "model", "mean words (least/most)", "train", "test", "accuracy", "the paper's")
    rows = []
    for c in cells:
        mean, least, most = c.facts["length"]
        size = [f"{mean:.0f} ({least}/{most})", f"{c.facts['train']:,}", f"{c.facts['test']:,}"]
        rows.append(
            [*c.names, *size, f"{100 * c.facts['accuracy']:.2f}", f"{c.paper.accuracy:.2f}"]
        )
    return table(head, rows)


def _table_2(cells: Sequence[Found]) -> str:
    head = ("data", "model", "attack", "#Attacks", "#Succ", "#Win", "%S", "swaps")
    rows = []
    for c in cells:
        shown = {"greedy": "greedy", "paper": "PDP", "pdp": "PDP, tightened"}
        for key, name in shown.items():
            mine, n = c.swaps[key], len(c.swaps[key])
            won = [(s, words) for s, words in mine if s < math.inf]
            part = 100 * mean([s / words for s, words in won])
            count = f"{len(won)} ({100 * len(won) / n:.2f} %)"
            swaps = mean([s for s, _ in won])
            rows.append(
                [*c.names, name, str(n), count, str(_wins(c, key)), f"{part:.2f}", f"{swaps:.2f}"]
            )
        p = c.paper
        rate = f"{p.succeeded} ({100 * p.succeeded / p.attacked:.2f} %)"
        theirs = [
            f"*the paper's PDP, {'BERT' if c.names[1] == 'MiniLM' else 'BiLSTM'}*",
            str(p.attacked),
        ]
        rows.append([*c.names, *theirs, rate, str(p.win), f"{p.swapped:.2f}", "–"])
    return table(head, rows)


def _wins(cell: Found, key: str) -> int:
    others = [name for name in cell.swaps if name != key and {name, key} != {"paper", "pdp"}]
    if key == "greedy":
        others.remove("paper")
    count = 0
    for i, (mine, _) in enumerate(cell.swaps[key]):
        best = min(cell.swaps[name][i][0] for name in others)
        count += mine < best < math.inf
    return count


def _table_3(cells: Sequence[Found]) -> str:
    head = ("data", "model", "texts", "queries", "r", "found %", "T", "certified %", "T", "unknown %",
            "paper: found", "certified")  # fmt: skip
    rows = []
    for c in cells:
        held = sum(a.bracket is not None for a in c.audit)
        budget = records.read(c.folder / "audit").manifest["options"]["max_queries"]
        for line in by_radius(c.audit):
            parts = [share(line.found), time(line.found), share(line.certified)]
            parts += [time(line.certified), share(line.unknown)]
            theirs = [c.paper.found[line.radius - 1], c.paper.certified[line.radius - 1]]
            ours = [*c.names, str(held), f"{budget:,}", str(line.radius), *parts]
            rows.append([*ours, *("–" if value is None else f"{value:.2f}" for value in theirs)])
    return table(head, rows)


def _table_pr(cells: Sequence[Found]) -> str:
    head = ("data", "model", "texts", "mean PR", "PR above 0.9", "the paper's", "counted", "samples, mean",
            "the paper's")  # fmt: skip
    rows = []
    for c in cells:
        values = [e.value for e in c.pr if e.value is not None]
        samples = [e.samples for e in c.pr if not e.exact]
        high = f"{100 * mean([v > 0.9 for v in values]):.2f} %"
        theirs = "–" if c.paper.robust is None else f"{c.paper.robust:.2f} %"
        exact = str(len(c.pr) - len(samples))
        drawn = f"{mean(samples):.0f}" if samples else "–"
        rows.append(
            [*c.names, str(len(c.pr)), f"{mean(values):.3f}", high, theirs, exact, drawn, "5000"]
        )
    return table(head, rows)


def share(part: Any) -> str:
    """The share of a kind of texts in per cent."""
    return "–" if part.share is None else f"{100 * part.share:.2f}"


def time(part: Any) -> str:
    """Their mean time."""
    if part.seconds is None:
        return "–"
    return f"{part.seconds:.2g}" if part.seconds < 100 else f"{part.seconds:.0f}"


def mean(values: Sequence[float]) -> float:
    """The mean, not a number where there is none."""
    return sum(values) / len(values) if values else math.nan
