"""`python -m benchmarks.peers`: our searches against TextAttack's on the same texts, and their page.

Models are trained on first use into `models/` (or the folder in UNFOOLED_MODELS), TextAttack is
installed on first use into `.venv-peers`. What a search found is kept in `runs/peers`, so a killed call
goes on where it was. `--texts N` and `--models bilstm` make it smaller; a page is written only with
`--page`.

equal_*         texts that end alike on both sides, of both models
differences     texts that do not
left_out        texts that TextAttack cuts into other words
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.pdp import MODELS, RATE, field
from benchmarks.peers.compare import Tally, found_by_us, tally
from benchmarks.peers.compatible import SEARCHES
from benchmarks.peers.exchange import DIGITS, cases
from benchmarks.peers.page import HEAD, page, row
from benchmarks.peers.process import Found, Peer
from unfooled.victims.words import WordVictim

TEXTS = 300
RUNS = Path("runs/peers")
PAGE = Path(__file__).parents[2] / "docs" / "results" / "peers.md"


def compared(peer: Peer, model: str, *, texts: int) -> tuple[list[Tally], dict[str, str]]:
    """The tallies of one model, and the peer's versions."""
    on = field("mr", model, texts=texts)
    assert isinstance(on.victim, WordVictim)
    on.victim.network.double()
    versions = peer.load(_folder(model), kind="words", digits=DIGITS)
    given = cases(on.examples.examples, on.spaces, rate=RATE)
    content = [on.victim.fingerprint, DIGITS, versions, [case.message() for case in given]]
    key = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    tallies = []
    for search in SEARCHES:
        path = RUNS / f"{model}-{texts}" / f"{search}.json"
        found = recall(path, key)
        if found is None:
            ours = found_by_us(search, on.victim, given)
            found = {"ours": ours, "theirs": peer.attack(search, given).found}
            remember(path, key, found)
        tallies.append(tally(search, given, **found))
        print(model, search, tallies[-1].equal, "equal", len(tallies[-1].differences), flush=True)
    return tallies, versions


def recall(path: Path, key: str) -> dict[str, Any] | None:
    """What both sides found, if it was about the same victim, texts and versions."""
    saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if saved.pop("of", None) != key:
        return None
    return {side: [Found(**one) for one in found] for side, found in saved.items()}


def remember(path: Path, key: str, found: dict[str, Sequence[Found]]) -> None:
    """Keeps what both sides found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    saved = {side: [asdict(one) for one in ended] for side, ended in found.items()}
    path.write_text(json.dumps({"of": key, **saved}), encoding="utf-8")


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
        models = "" if asked.models == list(MODELS) else f" --models {' '.join(asked.models)}"
        command = f"python -m benchmarks.peers --texts {asked.texts}{models} --page"
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
