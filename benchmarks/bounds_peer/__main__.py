"""`python -m benchmarks.bounds_peer`: our bounds beside those of auto_LiRPA and bound_propagation.

Random small networks, each with a box in which every number of every word vector moves by itself: the
region that all can express. For every ordered pair of classes all bound the difference of the logits from
below; corners of the box, random points and gradient descent look for values below these bounds. The
peers are installed on first use into `.venv-bounds`. `--cases N` is for each family (of `lstm`, and of
slopes by gradient, which take long there, a tenth). For each peer:

<peer>_bounds, _equal, _ours_tighter, _theirs_tighter   bounds, and how they compare
<peer>_same_rule, _same_rule_equal                      those that must be equal, and those that are
<peer>_same_rule_largest, _largest                      the largest difference, of these and of all
<peer>_refused                                          cases times methods for which it raised an error
<peer>_violations_ours, _violations_theirs              bounds above a value that was found in the box

A bound of ours above such a value ends the benchmark with an error.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.bounds_peer import ours
from benchmarks.bounds_peer.cases import FAMILIES, cases
from benchmarks.bounds_peer.compare import Tally, best, figures, tally
from benchmarks.bounds_peer.install import interpreter, surroundings
from benchmarks.peers.talk import Talk
from unfooled.errors import Unsound

CASES, SEED = 300, 0
PEERS = ("auto_LiRPA", "bound_propagation")
SLOW = "optimised"
HEAD = ("family", "method", "peer", "cases", "refused", "bounds", "equal", "ours tighter")
HEAD += ("theirs tighter", "median difference", "ours ahead", "theirs ahead")
HEAD += ("violations ours", "theirs")


def compared(family: str, peer: Talk, *, count: int, seed: int) -> list[Tally]:
    """The tallies of one family; prints what a peer raised."""
    slow = 0 if family == "lstm" else max(1, count // 10)
    count = max(1, count // 10) if family == "lstm" else count
    given = cases(family, count=count, seed=seed)
    rng = np.random.default_rng(seed)
    least = [ours.least(case, rng) for case in given]
    mine = [ours.bounds(case, skip=() if i < slow else (SLOW,)) for i, case in enumerate(given)]
    found = []
    for name in PEERS:
        answers = []
        for i, case in enumerate(given):
            skip = [] if i < slow else [SLOW]
            answers.append(peer.ask(do="bound", peer=name, case=case.message(), skip=skip))
            _same_function(answers[-1]["middle"], ours.middle(case), family)
        raised = Counter(error for a in answers for error in a["refused"].items())
        for (method, error), times in raised.items():
            print(f"{family}, {name}, {method}: {times} times {error}", flush=True)
        for method in sorted(
            {m for a in answers for m in (*a["bounds"], *a["refused"])}, key=_place
        ):
            here = [i for i in range(count) if method in mine[i]]
            found.append(
                tally(
                    (family, method, name),
                    ours=[mine[i][method] for i in here],
                    theirs=[best(answers[i]["bounds"], method) for i in here],
                    least=[least[i] for i in here],
                )
            )
    return found


def _place(method: str) -> int:
    return ours.METHODS.index(method)  # type: ignore[arg-type]


def _same_function(theirs: Sequence[float], own: Sequence[float], family: str) -> None:
    if not np.allclose(theirs, own, rtol=1e-10, atol=1e-10):
        raise SystemExit(f"the two sides do not bound the same function: {family}")


def row(one: Tally) -> list[str]:
    """The line of one tally in the table."""
    counts = (one.cases, one.refused, one.bounds, one.equal, one.ours, one.theirs)
    sizes = (one.typical, one.ahead, one.behind)
    cells = [*(f"{n:,}" for n in counts), *(f"{size:.2g}" for size in sizes)]
    return [one.family, one.method, one.peer, *cells, str(one.above_ours), str(one.above_theirs)]


def main() -> None:
    """Compares, prints a table and a JSON line."""
    parser = argparse.ArgumentParser(description="our bounds beside those of two peers")
    parser.add_argument("--cases", type=int, default=CASES, help="of each family")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    asked = parser.parse_args()
    if asked.cases < 1 or asked.seed < 0:
        raise SystemExit("--cases is at least 1 and --seed at least 0")
    torch.set_num_threads(1)
    tallies: list[Tally] = []
    script = Path(__file__).with_name("peer_side.py")
    with Talk(interpreter(), script, surroundings()) as peer:
        versions = peer.ask(do="versions")
        for family in asked.families:
            tallies += compared(family, peer, count=asked.cases, seed=asked.seed)
            print(f"{family} compared", flush=True)
    table = Table(*HEAD)
    for one in tallies:
        table.add_row(*row(one))
    Console(width=200).print(table)
    print(json.dumps({"benchmark": "bounds_peer", "versions": versions, **figures(tallies)}))
    if any(one.above_ours for one in tallies):
        raise Unsound("a bound of ours is above a value that was found in its box")


if __name__ == "__main__":
    main()
