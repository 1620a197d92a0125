"""Answers for attacks by hand: toy classifiers, encoders and language models, and plain oracles.

The oracles work on lists of words, one text at a time, in probabilities: nothing of the package but
its rule for ties is in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from unfooled.program import Attack, Finding, Goal, Program, Proposals, Scores, Similarities
from unfooled.space import DELETED, UNKNOWN, Space
from victim_doubles import Score

Words = Sequence[str]
Alike = Callable[[Words, Words], float]
"""How similar a text is to a reference, both cut to the window."""


class Proposed(NamedTuple):
    """What a language model says about one word."""

    word: str
    score: float = 0.0


@dataclass
class Driven:
    """What a program came to, and what it asked on the way."""

    value: Any = None
    queries: int = 0
    compared: int = 0  # rows
    questions: list[Any] = field(default_factory=list)


def driven(
    program: Program[Any],
    space: Space,
    score: Score,
    *,
    alike: Alike | None = None,
    proposed: Callable[[Words, int], Sequence[str]] | None = None,
) -> Driven:
    """Runs a program and answers it, one text at a time."""
    run, answer = Driven(), None
    while True:
        try:
            question = program.send(answer)
        except StopIteration as stop:
            run.value = stop.value.row if isinstance(stop.value, Finding) else stop.value
            return run
        run.questions.append(question)
        if isinstance(question, Scores):
            run.queries += len(question.rows)
            answer = np.array([score(spelled(space, row)) for row in question.rows], dtype=float)
        elif isinstance(question, Similarities):
            assert alike is not None, "nobody compares sentences here"
            run.compared += len(question.rows)
            answer = np.array([_alike(space, row, question, alike) for row in question.rows])
        else:
            assert isinstance(question, Proposals)
            assert proposed is not None, "nobody proposes words here"
            words = proposed(spelled(space, question.row), question.position)
            answer = [Proposed(word) for word in words[: question.k]]


LIMITS = ("target", "max_swaps", "max_candidates")


def attacked(
    attack: Attack, space: Space, score: Score, *, label: int = 1, seed: int = 0, **more: Any
) -> Driven:
    """Runs an attack on a text of class `label`; limits go to the goal, the rest to the answers."""
    limits = {key: more.pop(key) for key in LIMITS if key in more}
    search = attack.search(space, Goal(space, label, **limits), np.random.default_rng(seed))
    return driven(search, space, score, **more)


def row_of(run: Driven) -> list[int] | None:
    """The row found, as a list."""
    return None if run.value is None else run.value.tolist()


def spelled(space: Space, row: Any) -> list[str]:
    """The words of a row; an unknown one is written ?."""
    words: list[str | None] = list(space.original.words)
    for column, choice in enumerate(np.asarray(row).tolist()):
        position = space.positions[column]
        if choice == UNKNOWN:
            words[position] = "?"
        elif choice == DELETED:
            words[position] = None
        elif choice > 0:
            words[position] = space.candidates[column][choice - 1]
    return [word for word in words if word is not None]


def _alike(space: Space, row: Any, question: Similarities, alike: Alike) -> float:
    one, two = spelled(space, row), spelled(space, question.reference)
    if question.window is None:
        return alike(one, two)
    assert question.centre is not None
    part = window(len(one), space.positions[question.centre], question.window)
    return alike([one[i] for i in part], [two[i] for i in part])


def window(length: int, centre: int, width: int) -> range:
    """So many positions around a centre, all of them inside."""
    first = centre - (width - 1) // 2
    while first + width > length:
        first -= 1
    first = max(first, 0)
    return range(first, min(first + width, length))


def overlap(one: Words, two: Words) -> float:
    """A toy encoder: 1 less a tenth for every word that differs."""
    return 1 - 0.1 * sum(a != b for a, b in zip(one, two, strict=True))


def by_last_letters(one: Words, two: Words) -> float:
    """A toy encoder that prefers some candidates to others: by the last digit of their names."""
    apart = sum(1 + int(a[-1]) for a, b in zip(one, two, strict=True) if a != b)
    return 1 - 0.07 * apart


# --- oracles ------------------------------------------------------------------------------------


class World(NamedTuple):
    """A classifier, a text with candidates and a goal, at random."""

    space: Space
    weights: Mapping[str, tuple[float, ...]]
    label: int
    target: int | None
    limit: int | None

    @property
    def text(self) -> list[str]:
        return list(self.space.original.words)

    @property
    def options(self) -> list[tuple[str, ...]]:
        """The candidates of every word."""
        found = dict(zip(self.space.positions, self.space.candidates, strict=True))
        return [found.get(i, ()) for i in range(len(self.text))]

    @property
    def places(self) -> tuple[int, ...]:
        """The words that have any."""
        return self.space.positions

    @property
    def most(self) -> int:
        return len(self.places) if self.limit is None else self.limit

    @property
    def limits(self) -> dict[str, Any]:
        return {"label": self.label, "target": self.target, "max_swaps": self.limit}

    def score(self, words: Words) -> list[float]:
        none = (0.0,) * 3
        return [sum(self.weights.get(w, none)[k] for w in words) for k in range(3)]

    def odds(self, words: Words) -> list[float]:
        raised = [math.exp(s) for s in self.score(words)]
        return [r / sum(raised) for r in raised]

    def doubt(self, words: Words) -> float:
        """1 - p of the label, or p of the target."""
        odds = self.odds(words)
        if self.target is not None:
            return odds[self.target]
        return sum(o for k, o in enumerate(odds) if k != self.label)

    def fooled(self, words: Words) -> bool:
        """Whether the goal is met, by more than a near-tie."""
        scores = self.score(words)
        ours = self.label if self.target is None else self.target
        lead = scores[ours] - max(s for k, s in enumerate(scores) if k != ours)
        return (-lead if self.target is None else lead) > 1e-5 * max(1, *map(abs, scores))

    def row(self, words: Words | None) -> list[int] | None:
        """A list of words as a row."""
        if words is None:
            return None
        return [(self.text[i], *self.options[i]).index(words[i]) for i in self.places]


def put(words: Words, position: int, word: str) -> list[str]:
    """The words with one replaced."""
    return [word if i == position else w for i, w in enumerate(words)]


def take(words: Words, *positions: int) -> list[str]:
    """The words without some; one that is unknown when none would be left."""
    return [w for i, w in enumerate(words) if i not in positions] or ["?"]


def near(one: float, two: float) -> bool:
    return abs(one - two) <= 1e-5 * max(1, abs(two))


def first_max(values: Sequence[float]) -> int:
    """The first of the highest, ties and near-ties being equal."""
    return next(i for i, v in enumerate(values) if near(v, max(values)))


def in_order(values: Mapping[int, float]) -> list[int]:
    """The keys with the highest values first."""
    left, order = dict(values), []
    while left:
        keys = list(left)
        order.append(keys[first_max([left[k] for k in keys])])
        del left[order[-1]]
    return order


def logs(values: Mapping[int, float]) -> dict[int, float]:
    return {key: math.log(value) for key, value in values.items()}


def flip_importance(world: World) -> list[int]:
    """TextFooler's and BERT-Attack's order of words, by their formula."""
    text, before = world.text, world.odds(world.text)
    values = {}
    for i in world.places:
        after = world.odds(put(text, i, "?"))
        value = before[world.label] - after[world.label]
        now = max(range(3), key=lambda k: after[k])
        if now != world.label:
            value += after[now] - before[now]
        values[i] = 1 - before[world.label] + value  # above zero, for the logarithm
    if world.target is not None:
        values = {i: world.doubt(put(text, i, "?")) for i in world.places}
    return in_order(logs(values))


@st.composite
def worlds(draw: st.DrawFn, *, words: int = 4, stops: bool = False) -> World:
    """A linear classifier with three classes, weights on a grid, and a text that it gets right.

    With `stops`, words without candidates are the ends of sentences.
    """
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=words))
    names = [f"w{i}0" if n or not stops else "." for i, n in enumerate(counts)]
    options = {i: [f"c{i}{k}" for k in range(n)] for i, n in enumerate(counts) if n}
    known = [*names, "?", *(c for found in options.values() for c in found)]
    grid = st.tuples(*[st.integers(-8, 8)] * 3)
    drawn = draw(st.lists(grid, min_size=len(known), max_size=len(known)))
    weights = {w: tuple(v / 8 for v in values) for w, values in zip(known, drawn, strict=True)}
    weights["?"] = (0.0, 0.0, 0.0)
    space = Space(" ".join(names), options)
    world = World(space, weights, 0, None, draw(st.none() | st.integers(0, words)))
    scores = world.score(names)
    label = max(range(3), key=lambda k: scores[k])
    others = [k for k in range(3) if k != label]
    if scores[label] - max(scores[k] for k in others) < 1e-3:  # a tie: make it clear
        weights[names[0]] = tuple(v + (k == label) for k, v in enumerate(weights[names[0]]))
    target = draw(st.none() | st.sampled_from(others))
    return world._replace(label=label, target=target)
