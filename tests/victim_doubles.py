"""Tiny victims with known answers and known faults, and programs that ask them things."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from unfooled.engine import Engine
from unfooled.errors import OutOfMemory
from unfooled.program import Attack, Finding, Goal, Program, Question, Scores
from unfooled.settings import adding_nothing, comparing_nothing
from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.task import Job, Result
from unfooled.text import Source, Text
from unfooled.victims.base import Differentiable, Floats, Part, Prepared, StringVictim

Score = Callable[[Sequence[str]], Sequence[float]]
"""From the words of a text to a score for each class."""


def plain(name: str) -> dict[str, Any]:
    """The options with which an attack needs no asset, compares no sentences and adds no candidates."""
    apart = {"vectors": None} if name == "mcts" else {}
    return comparing_nothing(name) | adding_nothing(name) | apart


class Measured(Prepared):
    """A space whose rows are as long as their text."""

    def __init__(self, space: Space, stretch: int = 1) -> None:
        self.space, self.stretch = space, stretch

    def tokens(self, rows: np.ndarray) -> int:
        return self.stretch * len(self.space.original)


class Double(StringVictim):
    """Scores words by a function, and remembers how many texts each call had."""

    fingerprint = None
    stretch = 1  # tokens for each word

    def __init__(
        self, score: Score, *, classes: int = 2, name: str = "double", depth: int = 0
    ) -> None:
        self.score, self.name, self.depth = score, name, depth
        self.labels = tuple(f"class {i}" for i in range(classes))
        self.sizes: list[int] = []
        self.waiting = self.most_waiting = 0

    @property
    def forwards(self) -> int:
        return sum(self.sizes)

    def scores(self, sources: Sequence[Source]) -> Floats:
        self.sizes.append(len(sources))
        rows = [self.score(words(source)) for source in sources]
        return np.array(rows, dtype=np.float64).reshape(len(sources), len(self.labels))

    def prepare(self, space: Space) -> Any:
        return Measured(space, self.stretch)

    def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
        """With a depth, the work is done only when the handle is asked for it."""
        finish = super().submit(parts)
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)

        def handle() -> Floats:
            self.waiting -= 1
            return finish()

        return handle


class Faulty(Double):
    """Goes wrong as soon as a batch has a text with a certain word; `limit`: texts that fit."""

    def __init__(
        self, score: Score, faults: Mapping[str, str], *, limit: int | None = None, depth: int = 0
    ) -> None:
        super().__init__(score, name="faulty", depth=depth)
        self.faults, self.limit = faults, limit

    def scores(self, sources: Sequence[Source]) -> Any:
        if self.limit is not None and len(sources) > self.limit:
            self.sizes.append(0)
            raise OutOfMemory(f"{len(sources)} texts do not fit")
        found = super().scores(sources)
        for i, source in enumerate(sources):
            for fault in {self.faults[w] for w in words(source) if w in self.faults}:
                found = _spoil(found, fault, i)
        return found


def _spoil(found: Any, fault: str, i: int) -> Any:
    if fault == "raise":
        raise RuntimeError("a word nobody knows")
    if fault in ("nan", "inf"):
        found = np.array(found)
        if found.ndim == 2 and i < len(found):
            found[i, 0] = float(fault)
        return found
    if fault == "memory":
        raise OutOfMemory("not even alone")
    if fault == "shape":
        return np.asarray(found).ravel()
    if fault == "few":
        return found[:-1]
    if fault == "many":
        return np.concatenate([found, found[:1]])
    if fault == "strings":
        return np.asarray(found).astype(str)
    assert fault == "nothing"
    return None


class Blurred(Double):
    """A word model in small: words outside the vocabulary are one to it, batches have float noise."""

    def __init__(
        self,
        weights: Mapping[str, float],
        *,
        noise: float = 0.0,
        merge: bool = True,
        bias: float = 0.0,
    ) -> None:
        super().__init__(linear(weights, bias))
        self.weights, self.noise, self.merge = weights, noise, merge
        self._rng = np.random.default_rng()

    def scores(self, sources: Sequence[Source]) -> Floats:
        found = super().scores(sources)
        return found + self._rng.uniform(-self.noise, self.noise, size=found.shape)

    def prepare(self, space: Space) -> Prepared:
        prepared = Measured(space)
        if self.merge:
            prepared.canon = self._merged(space)
        return prepared

    def _merged(self, space: Space) -> np.ndarray:
        width = max(space.counts, default=0) + 3
        canon = np.zeros((len(space.counts), width), dtype=np.int16)
        for column, found in enumerate(space.candidates):
            known = [space.original.words[space.positions[column]], *found]
            ids = [w if w in self.weights else None for w in known]
            canon[column, : len(ids)] = [ids.index(i) for i in ids]
            canon[column, DELETED] = DELETED
            canon[column, UNKNOWN] = ids.index(None) if None in ids else UNKNOWN
        return canon


class Sloped(Double, Differentiable):
    """A victim with gradients: the change that each swap makes to a linear score."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        super().__init__(linear(weights), name="sloped")
        self.weights = weights
        self.broken: str | None = None  # an error for every text with this word

    def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
        answers = []
        for part, label in zip(parts, of, strict=True):
            space = part.prepared.space
            if self.broken in space.original.words:
                raise RuntimeError("no slope here")
            found = np.zeros((len(part.rows), len(space.counts), max(space.counts) + 1))
            for i, row in enumerate(part.rows):
                for c, n in enumerate(space.counts):
                    for k in range(n + 1):
                        other = row.copy()
                        other[c] = k
                        found[i, c, k] = self._at(space, other, label) - self._at(space, row, label)
            answers.append(found)
        return answers

    def _at(self, space: Space, row: np.ndarray, label: int) -> float:
        return float(self.score(space.text(row).words)[label])


def words(source: Source) -> tuple[str, ...]:
    """The words of what a victim reads; a pair is read as one."""
    text = source if isinstance(source, str) else " ".join(source)
    return Text.parse(text).words


def linear(weights: Mapping[str, float], bias: float = 0.0) -> Score:
    """Scores (0, bias + the sum of the weights of the words)."""
    return lambda found: (0.0, bias + sum(weights.get(w, 0.0) for w in found))


def rule(*triggers: str) -> Score:
    """Class 0 when every one of the words is there, class 1 otherwise."""
    return lambda found: (1.0, 0.0) if set(triggers) <= set(found) else (0.0, 1.0)


def constant(label: int = 1) -> Score:
    """Always the same class."""
    return lambda found: (0.0, 1.0) if label else (1.0, 0.0)


def coin(seed: int = 0) -> Score:
    """Another answer every time."""
    rng = np.random.default_rng(seed)
    return lambda found: rng.random(2).tolist()


def asking(*questions: Question | tuple[Question, ...]) -> Program[list[Any]]:
    """A program that asks these questions and returns the answers."""
    answers = []
    for question in questions:
        answers.append((yield question))
    return answers


def job(space: Space, program: Program[Any], **more: Any) -> Job[Any]:
    """A job named after its text."""
    return Job(str(space.original), space, program, **more)


def attacking(attack: Attack, space: Space, *, label: int = 1, **limits: Any) -> Job[Any]:
    """A job that runs an attack on a text of class `label`."""
    budget = limits.pop("max_queries", None)
    goal = Goal(space, label, **limits)
    program = _row(attack.search(space, goal, np.random.default_rng(0)))
    return job(space, program, goal=goal, max_queries=budget)


def _row(search: Program[Any]) -> Program[Any]:
    found = yield from search
    return found.row if isinstance(found, Finding) else found


def solve(victim: Any, jobs: Iterable[Job[Any]], *, seconds: float = 20, **options: Any) -> Any:
    """The results by key; fails when the engine takes longer than `seconds`."""
    options.setdefault("say", lambda message: None)
    engine = Engine(victim, **options)
    found = within(seconds, lambda: list(engine.run(jobs)))
    keys = [result.job.key for result in found]
    assert len(keys) == len(set(keys)), f"two results for one text: {keys}"
    return {result.job.key: result for result in found}


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What `work` returns; an error when it does not come back in time (a livelock)."""
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the test below
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    assert outcome, f"not done after {seconds} s"
    return outcome[0]


def ends(results: Mapping[str, Result[Any]]) -> dict[str, Any]:
    """What must not depend on batches: value, best row, counts, errors."""
    return {
        key: (_plain(r.value), _plain(r.best), r.queries, r.exhausted, r.error is None)
        for key, r in results.items()
    }


def _plain(row: Any) -> Any:
    if isinstance(row, (list, tuple)):
        return [_plain(part) for part in row]
    return np.round(row, 4).tolist() if isinstance(row, np.ndarray) else row


def members(space: Space, radius: int | None = None) -> list[tuple[int, ...]]:
    """Brute force: every row within a radius."""
    rows = product(*(range(n + 1) for n in space.counts))
    return [r for r in rows if radius is None or sum(k > 0 for k in r) <= radius]


def least_swaps(space: Space, victim: Double, goal: Goal) -> int | None:
    """Brute force: how few swaps meet the goal."""
    every = members(space)
    rows = np.array(every, dtype=np.int16).reshape(len(every), len(space.counts))
    met = goal.met(victim.scores(space.sources(rows)), rows)
    return min((int(np.count_nonzero(r)) for r in rows[met]), default=None)


def scores_of(*rows: Sequence[int], cache: bool = True) -> Scores:
    """A question about these rows."""
    return Scores(np.array(rows, dtype=np.int16), cache=cache)
