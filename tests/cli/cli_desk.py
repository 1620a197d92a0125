"""Files for the command line to work on, and what a command left."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VICTIM = """
import time
LABELS = ["neg", "pos"]
WEIGHTS = {"good": 1.0, "fine": 0.8, "great": 2.0, "nice": 0.5, "ok": -0.5, "bad": -1.0}
CALLS = []

def score(texts):
    CALLS.append(list(texts))
    return [[0.0, sum(WEIGHTS.get(w, 0.0) for w in text.lower().split())] for text in texts]

def noisy(texts):
    print("scoring", len(texts))
    return score(texts)

def slow(texts):
    time.sleep(0.01)
    return score(texts)

def touchy(texts):
    if any("great" in text for text in texts):
        raise RuntimeError("too [/great] for words")
    return score(texts)

def turned(texts):
    return [row[::-1] for row in score(texts)]

turned.labels = ["POS", "NEG"]

def reads_pairs(texts):
    return score([hypothesis for premise, hypothesis in texts])

def misshapen(texts):
    return [[1.0] for text in texts]

def broken(texts):
    raise RuntimeError("out of order")
"""
TABLE = {"good": ["nice", "ok"], "fine": ["ok"], "bad": ["nice"], "film": ["movie"]}
ROWS = (
    ("a good film", "pos"),
    ("a bad film", "neg"),
    ("a fine good film", "pos"),
    ("some plain film", "pos"),
    ("a great film", "pos"),
)


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


@dataclass(frozen=True)
class Desk:
    """Files in a folder of their own, and how to run commands on them in this process."""

    folder: Path
    run: Callable[..., Done]

    @property
    def candidates(self) -> tuple[str, str]:
        return ("--candidates", f"table:{self.folder / 'table.json'}")

    @property
    def data(self) -> str:
        return str(self.folder / "data.csv")

    def victim(self, name: str = "score") -> str:
        return f"python:{self.folder / 'victim.py'}:{name}"

    def attack(
        self, *more: str, name: str = "greedy", victim: str = "score", data: str = ""
    ) -> Done:
        return self.run(
            "attack", name, self.victim(victim), data or self.data, *self.candidates, *more
        )

    def write(self, name: str, content: str) -> str:
        (self.folder / name).write_text(content, encoding="utf-8")
        return str(self.folder / name)
