"""A linear victim, a table and five texts whose outcomes can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import unfooled as uf
from unfooled.program import Attack, Scores

LABELS = ["neg", "pos"]
WEIGHTS = {"good": 1.0, "fine": 0.8, "great": 2.0, "nice": 0.5, "ok": -0.5, "bad": -1.0}
TABLE = {
    "good": ["nice", "ok"],
    "fine": ["ok"],
    "bad": ["nice"],
    "film": ["movie"],
}
DATA = [
    ("a good film", "pos"),
    ("a bad film", "neg"),
    ("a fine good film", "pos"),  # needs two swaps
    ("some plain film", "pos"),  # a tie: not classified as pos
    ("a great film", "pos"),  # cannot be fooled
]


class Counted:
    """A linear victim function that remembers every text it was given."""

    def __init__(self, weights: Mapping[str, float] = WEIGHTS) -> None:
        self.weights = weights
        self.seen: list[Any] = []

    def __call__(self, texts: list[Any]) -> list[list[float]]:
        self.seen += texts
        return [[0.0, self.score(text)] for text in texts]

    def score(self, text: Any) -> float:
        words = (text if isinstance(text, str) else text[1]).lower().split()
        return sum(self.weights.get(word, 0.0) for word in words)


def victim(function: Callable[[list[Any]], Any] | None = None, **more: Any) -> uf.Victim:
    return uf.victim(function or Counted(), more.pop("labels", LABELS), name="toy")


def attack(name: Any = "greedy", who: Any = None, data: Any = None, **more: Any) -> uf.Outcomes:
    more.setdefault("candidates", TABLE)
    return uf.attack(name, who or victim(), DATA if data is None else data, **more)


def told(outcomes: uf.Outcomes) -> list[dict[str, Any]]:
    return [outcome.record() for outcome in outcomes]


@dataclass(frozen=True)
class Proposes(Attack):
    """Asks for the original and then claims that a row fools the victim."""

    row: Any = None

    def search(self, space: uf.Space, goal: Any, rng: Any) -> Iterator[Any]:  # type: ignore[override]
        yield Scores(space.rows(space.origin))
        return self.row


@dataclass(frozen=True)
class Drawn(Attack):
    """Tries rows at random: what it finds depends on the generator alone."""

    def search(self, space: uf.Space, goal: Any, rng: Any) -> Iterator[Any]:  # type: ignore[override]
        rows = space.sample(None, 3, rng)
        scores = yield Scores(rows)
        met = goal.met(scores, rows)
        return rows[met][0] if met.any() else None
