"""Exact least swaps of the ILP paper's MLP: seconds a text, and ratios against HiGHS in the same run.

One process, one thread. The MLP of the paper is trained on the asset with seed 0, once, into the user's
cache folder. IMDB texts are the first correctly classified ones of the test split with up to 200 words;
candidates are the 8 nearest counter-fitted GloVe neighbours that are single words.

decided          texts whose minimum is known, or that are proved robust, within 30 s each
median_s, p90_s  seconds a text: reading the network, upper bound, proof and the re-run of both texts
vs_highs_paper   HiGHS minimising swaps in the paper's own program, over ours, on every 20th text (time
                 limit 20 s; a text that it does not decide counts with its limit, so this is a lower bound)
vs_highs_cut     HiGHS refuting one swap fewer than the minimum in the cut form, over ours, on every 10th
mr_agree         mr texts on which HiGHS (the paper's program, minimised) finds the same minimum, of `mr_texts`

`python -m benchmarks.minimum --share 0.1` takes a tenth of the texts.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import platformdirs
import torch
from rich.console import Console
from rich.table import Table

import unfooled as uf
from unfooled import models
from unfooled.exact import solvers
from unfooled.exact.milp import cut_form
from unfooled.exact.opened import opened
from unfooled.exact.paper import paper_form
from unfooled.exact.shallow import threshold
from unfooled.minima import Minima, Minimum
from unfooled.space import Space
from unfooled.text import Example
from unfooled.victims.words import WordVictim

TEXTS, MR_TEXTS, MOST_WORDS, LIMIT = 200, 500, 200, 30.0
PAPER_EVERY, CUT_EVERY, HIGHS_LIMIT = 20, 10, 20.0
CANDIDATES = "embedding:k=8,vectors=glove-50-counter-fitted"


def trained(data: str) -> WordVictim:
    """The MLP of the paper, trained on an asset unless the cache has it."""
    folder = Path(platformdirs.user_cache_dir("unfooled")) / "benchmarks" / f"mlp-{data}-0"
    if not (folder / "config.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        parts = {part: uf.data.load(data, split=part) for part in ("train", "dev")}
        models.train("mlp", parts["train"], dev=parts["dev"], out=folder, seed=0, progress=False)
    victim = uf.load(str(folder))
    assert isinstance(victim, WordVictim)
    return victim


def cases(data: str, victim: WordVictim, count: int) -> tuple[list[Example], list[Space]]:
    """The first correctly classified texts, and their spaces of single words."""
    source = uf.candidates.load(CANDIDATES)
    examples: list[Example] = []
    spaces: list[Space] = []
    for example in uf.data.load(data, split="test").examples:
        if len(examples) == count:
            break
        right = int(victim.scores([example.text.source])[0].argmax()) == example.label
        if len(example.text) > MOST_WORDS or not right:
            continue
        found = source(example.text)
        gaps = example.text.gaps
        plain = {
            p: [c for c in words if c.isalpha()]
            for p, words in found.items()
            if (p == 0 or gaps[p]) and example.text.words[p].isalpha()
        }
        examples.append(example)
        spaces.append(Space(example.text, plain))
    return examples, spaces


def solved(victim: WordVictim, examples: list[Example], spaces: list[Space]) -> Minima:
    """Our results, without a solver: branch and bound has to do it alone."""
    data = uf.data.Dataset("benchmark", tuple(examples), tuple(victim.labels))
    found = uf.certify("minimum", victim, data, candidates=spaces, time_limit=LIMIT, solver="none")
    assert isinstance(found, Minima)
    return found


def paper_seconds(victim: WordVictim, space: Space, label: int) -> tuple[float, float | None]:
    """What HiGHS takes for the paper's program, building included, and the minimum; None: not decided."""
    began = time.perf_counter()
    reading = victim.layers(victim.prepare(space))
    assert reading is not None
    level = -threshold(opened(reading), len(reading.choices))
    program = paper_form(reading, label, 1 - label, level=level)
    found = solvers.solve(program.program, time_limit=HIGHS_LIMIT)
    seconds = time.perf_counter() - began
    if found.outcome == "time":
        return seconds, None
    if found.solution is None:
        return seconds, math.inf
    return seconds, float(len(program.picks(found.solution)))


def cut_seconds(victim: WordVictim, space: Space, known: Minimum) -> float:
    """What HiGHS takes to refute one swap fewer than the minimum, building included."""
    began = time.perf_counter()
    reading = victim.layers(victim.prepare(space))
    assert reading is not None
    network = opened(reading)
    radius = network.columns if known.lower == math.inf else int(known.lower) - 1
    label = known.label
    program = cut_form(network, label, 1 - label, radius=radius, level=threshold(network, radius))
    found = solvers.solve(program.program, time_limit=HIGHS_LIMIT)
    assert found.outcome != "solved", "HiGHS found a text with fewer swaps"
    return time.perf_counter() - began


def decided(results: Sequence[Minimum]) -> int:
    return sum(r.status in ("optimal", "robust") for r in results)


def measure(share: float = 1.0) -> dict[str, float]:
    """All figures, and the table with what they have to reach."""
    torch.set_num_threads(1)
    victim = trained("imdb")
    examples, spaces = cases("imdb", victim, max(20, round(share * TEXTS)))
    solved(victim, examples[:3], spaces[:3])  # warms up
    results = solved(victim, examples, spaces)
    seconds = [r.seconds for r in results]
    for r in sorted(results, key=lambda r: -r.seconds)[:5]:
        print(f"{r.id}: {r.status} {r.lower:g}, {r.seconds:.2f} s, {r.method}", flush=True)
    found = {
        "texts": len(results),
        "decided": decided(results),
        "median_s": round(float(np.median(seconds)), 4),
        "p90_s": round(float(np.quantile(seconds, 0.9)), 4),
        "max_s": round(max(seconds), 3),
        "vs_highs_paper": _paper_ratio(victim, spaces, results),
        "vs_highs_cut": _cut_ratio(victim, spaces, results),
        **_agreement(max(20, round(share * MR_TEXTS))),
    }
    table = Table("figure", "measured", "goal")
    goals = {"decided": f"{len(results)}", "median_s": "0.03 at most", "p90_s": "1 at most"}
    for name, value in found.items():
        table.add_row(name, f"{value:g}", goals.get(name, ""))
    Console().print(table)
    return found


def _paper_ratio(victim: WordVictim, spaces: list[Space], results: Minima) -> float:
    theirs = ours = 0.0
    for space, known in list(zip(spaces, results, strict=True))[::PAPER_EVERY]:
        seconds, swaps = paper_seconds(victim, space, known.label)
        assert swaps is None or swaps == known.lower, f"HiGHS says {swaps}, we {known.lower}"
        print(f"paper's program, {known.id}: {seconds:.2f} s, ours {known.seconds:.3f}", flush=True)
        theirs, ours = theirs + seconds, ours + known.seconds
    return round(theirs / ours, 1)


def _cut_ratio(victim: WordVictim, spaces: list[Space], results: Minima) -> float:
    theirs = ours = 0.0
    for space, known in list(zip(spaces, results, strict=True))[::CUT_EVERY]:
        if known.lower == known.upper:
            theirs += cut_seconds(victim, space, known)
            ours += known.seconds
    return round(theirs / ours, 1)


def _agreement(count: int) -> dict[str, int]:
    """On how many mr texts HiGHS has the same minimum."""
    victim = trained("mr")
    examples, spaces = cases("mr", victim, count)
    results = solved(victim, examples, spaces)
    same = 0
    for space, known in zip(spaces, results, strict=True):
        _, swaps = paper_seconds(victim, space, known.label)
        same += swaps == known.lower == known.upper
    return {"mr_texts": len(results), "mr_agree": same}


def main() -> None:
    """Measures with as many texts as asked."""
    parser = argparse.ArgumentParser(description="exact least swaps against HiGHS")
    parser.add_argument("--share", type=float, default=1.0, help="of the texts")
    share = parser.parse_args().share
    print(json.dumps({"benchmark": "minimum", "share": share, **measure(share)}))


if __name__ == "__main__":
    main()
