"""PDP against greedy, beam and random search: success and swaps at equal query budgets.

The paper's limit (a quarter of the words) and the same candidates, budget and seed for all. Models are
trained on first use into `models/` (or the folder in UNFOOLED_MODELS); runs are kept in `runs/pdp`, so a
killed call goes on where it was. Besides the table:

more_than_greedy, more_than_beam    share of the texts that both fool on which tightened PDP needs more swaps
success_*                           share of the correctly classified texts that are fooled
exact                               of the texts whose smaller texts can all be tried: share at the minimum

`python -m benchmarks.pdp` also sweeps the texts kept and drawn, and writes docs/results/pdp.md.
`--texts N`, `--data mr`, `--models bilstm` make it smaller.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import unfooled as uf
from results import victims
from results.markdown import table as table_of
from unfooled.attacks.beam import Beam
from unfooled.attacks.greedy import Greedy
from unfooled.attacks.pdp import PDP
from unfooled.attacks.random import Random
from unfooled.counting import Rows
from unfooled.data import Dataset
from unfooled.program import Attack, Goal, Program, Scores
from unfooled.space import Space

TEXTS = {"mr": 500, "imdb": 200}
BUDGET = {"mr": 2_000, "imdb": 2_000}  # queries for each text, for every attack alike
RATE = 0.25
MODELS = ("bilstm", "cnn")
KEEPS, DRAWS = (1, 4, 8, 16), (1, 2, 4)
SPENT = (0, 250, 500, 1000, 2000, 4000)  # queries for tightening
SWEPT = {"mr": ("bilstm", 200), "imdb": ("cnn", 50)}  # the model and the texts of the sweeps
RUNS = Path("runs/pdp")
TRIED = 20_000  # a minimum is looked for by brute force when there are no more texts than that
PAGE = Path(__file__).parents[1] / "docs" / "results" / "pdp.md"
HEAD = ("data", "model", "attack", "#Attacks", "#Succ", "#Win", "%S", "swaps", "queries")


@dataclass(frozen=True)
class Exhaustive(Attack):
    """Tries every text within the limit, fewest swaps first."""

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Rows | None]:
        for rows in space.enumerate(goal.max_swaps, chunk=512):
            met = goal.met((yield Scores(rows, cache=False)), rows)
            if met.any():
                found: Rows = rows[met.argmax()]
                return found
        return None


@dataclass(frozen=True)
class Field:
    """One victim and the texts it is attacked on."""

    data: str
    model: str
    victim: uf.Victim
    examples: Dataset
    spaces: tuple[Space, ...]

    def attack(self, method: Attack) -> uf.Outcomes:
        """The outcomes at this field's budget."""
        return uf.attack(
            method,
            self.victim,
            self.examples,
            candidates=self.spaces,
            max_rate=RATE,
            max_queries=BUDGET[self.data],
            out=RUNS / f"{self.data}-{self.model}-{len(self.examples)}" / _spelled(method),
        )


def _spelled(method: Attack) -> str:
    options = [f"{name}={value}" for name, value in asdict(method).items()]
    return "-".join([type(method).__name__.lower(), *options])


def field(data: str, model: str, *, texts: int) -> Field:
    """A trained victim, the first texts of the test split and their candidates."""
    examples = uf.data.load(data, limit=texts)
    source = uf.candidates.load("wordnet")
    spaces = tuple(Space(example.text, source(example.text)) for example in examples.examples)
    return Field(data, model, victims.trained(model, data), examples, spaces)


class Rivals(NamedTuple):
    """The outcomes of all attacks on one field."""

    greedy: uf.Outcomes
    beam: uf.Outcomes
    random: uf.Outcomes
    paper: uf.Outcomes
    pdp: uf.Outcomes


def compete(on: Field) -> Rivals:
    """Runs the three baselines, the paper's algorithm and the tightened one."""
    methods = (Greedy(), Beam(), Random(draws=BUDGET[on.data]), PDP(tighten=0), PDP())
    return Rivals(*(on.attack(method) for method in methods))


def won(one: uf.Outcomes, others: Sequence[uf.Outcomes]) -> int:
    """On how many texts that another attack fools too, one needs fewer swaps than all of them."""
    count = 0
    for i, outcome in enumerate(one):
        swaps = [other[i].swaps for other in others if other[i].status == "success"]
        count += outcome.status == "success" and bool(swaps) and outcome.swaps < min(swaps)
    return count


def compared(one: uf.Outcomes, other: uf.Outcomes) -> tuple[int, int]:
    """On how many texts one needs more swaps, of how many that both fool."""
    pairs = [(a.swaps, b.swaps) for a, b in zip(one, other, strict=True)
             if a.status == b.status == "success"]  # fmt: skip
    return sum(a > b for a, b in pairs), len(pairs)


def minimal(on: Field, found: uf.Outcomes) -> tuple[int, int]:
    """On how many texts brute force finds no fewer swaps, of how many it could finish."""
    exact = tried = 0
    for outcome, space in zip(found, on.spaces, strict=True):
        if outcome.status != "success" or space.size(outcome.swaps - 1) > TRIED:
            continue
        example = [(outcome.original, outcome.label)]
        (best,) = uf.attack(
            Exhaustive(), on.victim, example, candidates=[space], max_swaps=outcome.swaps - 1
        )
        exact, tried = exact + (best.status != "success"), tried + 1
    return exact, tried


def rows(on: Field, found: Rivals) -> list[list[str]]:
    """The paper's table 2 for one field."""
    baselines = [found.greedy, found.beam, found.random]
    names = {"greedy": found.greedy, "beam": found.beam, "random": found.random,
             "pdp, the paper's": found.paper, "pdp, tightened": found.pdp}  # fmt: skip
    out = []
    for name, outcomes in names.items():
        rivals = [o for o in (*baselines, found.pdp) if o is not outcomes]
        figures, count = outcomes.summary(), sum(o.status == "success" for o in outcomes)
        attacked = sum(o.status not in ("skipped", "error") for o in outcomes)
        out.append([
            on.data, on.model, name, str(attacked), f"{count} ({count / max(attacked, 1):.2%})",
            str(won(outcomes, baselines if outcomes is found.paper else rivals)),
            f"{100 * (figures['mean_swapped_share'] or 0):.2f}",
            f"{figures['mean_swaps'] or 0:.3f}", f"{figures['mean_queries'] or 0:.0f}",
        ])  # fmt: skip
    return out


def sweep(on: Field) -> tuple[list[list[str]], list[list[str]]]:
    """Success, swaps and queries for texts kept x drawn, and for queries spent on tightening."""
    paper = [PDP(keep=keep, draws=draws, tighten=0) for keep in KEEPS for draws in DRAWS]
    kept = [[on.data, on.model, str(m.keep), str(m.draws), *_cost(on.attack(m))] for m in paper]
    spent = [[on.data, on.model, str(n), *_cost(on.attack(PDP(tighten=n)))] for n in SPENT]
    return kept, spent


def _cost(outcomes: uf.Outcomes) -> list[str]:
    figures = outcomes.summary()
    count = sum(o.status == "success" for o in outcomes)
    total = sum(o.swaps for o in outcomes if o.status == "success")
    return [str(count), str(total), f"{figures['mean_queries'] or 0:.0f}"]


def measure(
    *, texts: int | None = None, data: Sequence[str] = tuple(TEXTS), models: Sequence[str] = MODELS
) -> dict[str, float]:
    """All figures, and the table."""
    return _measure(texts=texts, data=data, models=models)[0]


def _measure(
    *, texts: int | None, data: Sequence[str], models: Sequence[str]
) -> tuple[dict[str, float], list[list[str]]]:
    torch.set_num_threads(1)
    fields = [field(d, m, texts=texts or TEXTS[d]) for d in data for m in models]
    table: list[list[str]] = []
    more, exact, fooled = {"greedy": np.zeros(2), "beam": np.zeros(2)}, np.zeros(2), np.zeros(5)
    attacked = 0
    for on in fields:
        found = compete(on)
        table += rows(on, found)
        more["greedy"] += compared(found.pdp, found.greedy)
        more["beam"] += compared(found.pdp, found.beam)
        exact += minimal(on, found.pdp)
        fooled += [sum(o.status == "success" for o in outcomes) for outcomes in found]
        attacked += sum(o.status not in ("skipped", "error") for o in found.pdp)
    shown = Table(*HEAD)
    for row in table:
        shown.add_row(*row)
    Console(width=120).print(shown)
    figures = {f"more_than_{name}": _share(*counts) for name, counts in more.items()}
    shares = dict(zip(Rivals._fields, fooled, strict=True))
    figures |= {f"success_{name}": _share(n, attacked) for name, n in shares.items()}
    return figures | {"exact": _share(*exact), "exact_of": int(exact[1])}, table


def _share(part: float, whole: float) -> float:
    return round(float(part / whole), 4) if whole else 0.0


def page(
    figures: Mapping[str, float], table: list[list[str]], sweeps: Sequence[list[list[str]]]
) -> str:
    """The result page."""
    kept, spent = sweeps
    cost = ("#Succ", "swaps in all", "queries")
    limits = ", ".join(f"{n:,} on {data}" for data, n in BUDGET.items())
    return f"""# PDP and its rivals

Written by `python -m benchmarks.pdp`. At most {RATE:.0%} of the words are swapped, candidates are those
of `wordnet`, and every attack has the same number of queries for each text: {limits}.
#Win counts the texts that another attack fools too and on which this one needs fewer swaps than all of
them; %S is the share of words swapped, and like the mean of swaps it is over an attack's own
successes, so an attack that fools only the easy texts looks good in it. Random search draws until the
budget ends. #Attacks is the number of correctly classified texts among the first of the test split.

{table_of(HEAD, table)}

Where brute force could finish ({figures["exact_of"]:.0f} texts), tightened PDP is at the minimum on
{figures["exact"]:.2%}. It needs more swaps than greedy on {figures["more_than_greedy"]:.2%} and more than
beam on {figures["more_than_beam"]:.2%} of the texts that both fool.

## Texts kept and texts drawn

The paper's algorithm without tightening, on {_texts()}.

{table_of(("data", "model", "kept", "drawn", *cost), kept)}

## Queries spent on tightening

{table_of(("data", "model", "tighten", *cost), spent)}
"""


def _texts() -> str:
    return " and ".join(f"{n} texts of {data}" for data, (_, n) in SWEPT.items())


def main() -> None:
    """Measures, sweeps, and writes the page."""
    parser = argparse.ArgumentParser(description="PDP against greedy, beam and random search")
    parser.add_argument("--texts", type=int)
    parser.add_argument("--data", nargs="+", default=list(TEXTS), choices=list(TEXTS))
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    asked = parser.parse_args()
    figures, table = _measure(texts=asked.texts, data=asked.data, models=asked.models)
    chosen = {data: SWEPT[data] for data in asked.data}
    swept = [
        sweep(field(data, model, texts=asked.texts or n)) for data, (model, n) in chosen.items()
    ]
    PAGE.parent.mkdir(exist_ok=True)
    kept, spent = ([row for part in parts for row in part] for parts in zip(*swept, strict=True))
    PAGE.write_text(page(figures, table, (kept, spent)), encoding="utf-8")
    print(json.dumps({"benchmark": "pdp", **figures}))


if __name__ == "__main__":
    main()
