"""`python -m benchmarks.peers`: our searches against TextAttack's on the same texts, and their page.

Models are trained on first use into `models/` (or the folder in UNFOOLED_MODELS), TextAttack is
installed on first use into `.venv-peers`. `--texts N` and `--models bilstm` make it smaller; a page is
written only with `--page`.

equal_*         texts that end alike on both sides, of both models
differences     texts that do not
left_out        texts that TextAttack cuts into other words
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.pdp import MODELS, RATE, field
from benchmarks.peers.compare import Tally, found_by_us, tally
from benchmarks.peers.compatible import SEARCHES
from benchmarks.peers.exchange import DIGITS, cases
from benchmarks.peers.page import HEAD, page, row
from benchmarks.peers.process import Peer
from unfooled.victims.words import WordVictim

TEXTS = 400
PAGE = Path(__file__).parents[2] / "docs" / "results" / "peers.md"


def compared(peer: Peer, model: str, *, texts: int) -> tuple[list[Tally], dict[str, str]]:
    """The tallies of one model, and the peer's versions."""
    on = field("mr", model, texts=texts)
    assert isinstance(on.victim, WordVictim)
    on.victim.network.double()
    versions = peer.load(_folder(model), kind="words", digits=DIGITS)
    given = cases(on.examples.examples, on.spaces, rate=RATE)
    found = []
    for search in SEARCHES:
        ours = found_by_us(search, on.victim, given)
        theirs = peer.attack(search, given).found
        found.append(tally(search, given, ours=ours, theirs=theirs))
        print(model, search, found[-1].equal, "equal", len(found[-1].differences), flush=True)
    return found, versions


def _folder(model: str) -> Path:
    return Path(os.environ.get("UNFOOLED_MODELS", "models")) / f"{model}-mr"


def main() -> None:
    """Compares, prints a table and a JSON line, and writes the page."""
    parser = argparse.ArgumentParser(description="our searches against TextAttack's")
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    tallies: dict[str, list[Tally]] = {}
    with Peer() as peer:
        for model in asked.models:
            tallies[model], versions = compared(peer, model, texts=asked.texts)
    shown = Table(*HEAD)
    for model, found in tallies.items():
        for one in found:
            shown.add_row(*row(model, one))
    Console(width=140).print(shown)
    if asked.page:
        command = f"python -m benchmarks.peers --texts {asked.texts} --page"
        PAGE.write_text(page(tallies, rate=RATE, versions=versions, command=command), "utf-8")
    print(json.dumps({"benchmark": "peers", **figures(tallies)}))


def figures(tallies: dict[str, list[Tally]]) -> dict[str, int]:
    """The keys of the last line."""
    every = [t for found in tallies.values() for t in found]
    equal = {f"equal_{s}": sum(t.equal for t in every if t.search == s) for s in SEARCHES}
    left_out = sum(len(found[0].left_out) for found in tallies.values())
    return equal | {"differences": sum(len(t.differences) for t in every), "left_out": left_out}


if __name__ == "__main__":
    main()
