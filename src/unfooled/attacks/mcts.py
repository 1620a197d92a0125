"""Monte Carlo tree search (La Malfa et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unfooled import spellings
from unfooled.counting import Rows
from unfooled.errors import AssetError, InputError, MissingExtra
from unfooled.importance import most_swaps
from unfooled.lexicon import resources, vectors
from unfooled.populations import at_least, sigmoid
from unfooled.program import (
    Attack,
    Finding,
    Floats,
    Goal,
    Program,
    Scores,
    Spent,
    are_distributions,
)
from unfooled.space import Space
from unfooled.tree import Tree, Vertex

_AT_ONCE = 4096  # rows of one question: a vertex of a long text has a million


@dataclass(frozen=True)
class MCTS(Attack):
    """Grows a tree of positions to swap, most promising vertex first, and returns all successes.

    Algorithm 1 of La Malfa et al. (2020). A vertex is a set of positions: its parent's and one more. The
    leaf with the highest UCT is expanded; each child is tried with `simulations` draws of candidates for
    its positions, and is worth the maximum drop of the label's probability (or rise of the target's)
    among them. A candidate is drawn with the paper's `pickup` weight, more often the nearer it is to
    the word, or uniformly. The search ends when `share` of all vertices have been simulated or
    `expansions` vertices expanded. Of all successes the one with the fewest swaps, then the closest, is
    returned, and the rest, or the `keep` closest of them, are its `others`, closest first.
    "single" substitutions simulate the first level alone; "multiple" ones go down to `depth` swaps.

    Distances are Euclidean in the word `vectors` of that name, a word without a vector being as far as
    the farthest candidate beside it. With None a candidate is as far as its place in the list: sources
    put the nearest first.

    Differs from the paper: a set of positions is visited once, in whatever order (its figure 2 allows
    that). Where a vertex has no more texts than `simulations`, each is tried once. The paper names
    no share, and a long text has too many vertices for any: hence `expansions`. Vectors are the smallest
    GloVe has, of 50 numbers, which are also those of its own candidates. Neighbours and
    filters are the source's: `embedding:k=1000,metric=euclidean|pos:noun_to_adjective=true`, with
    `& wordnet` for synonyms alone. Differs from the authors' code, where the drop is divided by the
    number of simulations and so hardly weighs against the visits, is a mean for LSTMs, and where
    further positions are drawn at random instead of by the tree.
    """

    source: ClassVar[str] = spellings.MCTS

    substitutions: Literal["single", "multiple"] = "multiple"
    simulations: int = 1000
    alpha: float = 0.5
    depth: int = 4
    share: float = 1.0
    expansions: int = 20
    pickup: Literal["weighted", "uniform"] = "weighted"
    vectors: str | None = "glove-50"
    keep: int | None = None

    def __post_init__(self) -> None:
        at_least(self, simulations=1, alpha=0, depth=1, expansions=1)
        if self.keep is not None:
            at_least(self, keep=0)
        if not 0 < self.share <= 1:
            raise InputError(f"share is above 0 and at most 1, not {self.share}")
        if self.substitutions not in ("single", "multiple"):
            raise InputError(f"substitutions are single or multiple, not {self.substitutions!r}")
        if self.pickup not in ("weighted", "uniform"):
            raise InputError(f"pickup is weighted or uniform, not {self.pickup!r}")
        if self.vectors is not None:
            resources.check(self.vectors)

    def ready(self) -> None:
        if self.vectors is None:
            return
        try:
            vectors.load(self.vectors)
        except (AssetError, MissingExtra) as error:
            raise AssetError(
                f"mcts measures distances in the vectors {self.vectors}, which are not here: get them with "
                f"unfooled assets get {self.vectors}, or have the place in the list as the distance with "
                f"--vectors none. {error}"
            ) from error

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Finding]:
        deepest = 1 if self.substitutions == "single" else self.depth
        depth = min(most_swaps(space, goal), deepest)
        if not depth:
            return Finding(None)
        loaded = None if self.vectors is None else vectors.load(self.vectors)
        trials = Trials(
            space,
            goal,
            word_distances(space, loaded),
            most=None if self.keep is None else self.keep + 1,
        )
        try:
            yield from self._grow(trials, depth, rng=rng)
        except Spent as end:
            trials.learn(end.rows, end.scores)
        best = trials.successes[0] if len(trials.successes) else None
        return Finding(best, others=tuple(trials.successes[1:]))

    def _grow(self, trials: Trials, depth: int, *, rng: np.random.Generator) -> Program[None]:
        tree = Tree(len(trials.space.positions), depth, alpha=self.alpha)
        expansions = 0
        while (leaf := tree.select()) is not None:
            children = tree.expand(leaf)
            yield from self._simulate(trials, children, rng=rng)
            tree.backpropagate(leaf, max((child.value for child in children), default=0.0))
            expansions += bool(children)
            if expansions >= self.expansions or tree.explored >= self.share * tree.size:
                return

    def _simulate(
        self, trials: Trials, children: list[Vertex], *, rng: np.random.Generator
    ) -> Program[None]:
        """Gives every child its value; many children share a question."""
        drawn: list[Rows] = []
        first = 0
        for i, child in enumerate(children, start=1):
            drawn.append(self._draw(trials, child.columns, rng=rng))
            if i == len(children) or sum(map(len, drawn)) >= _AT_ONCE:
                drops = yield from trials.drops(np.concatenate(drawn))
                starts = np.cumsum([0, *map(len, drawn[:-1])])
                best = np.maximum.reduceat(drops, starts).tolist()
                for vertex, drop in zip(children[first:i], best, strict=True):
                    vertex.value = drop
                first, drawn = i, []

    def _draw(self, trials: Trials, columns: tuple[int, ...], *, rng: np.random.Generator) -> Rows:
        """Different texts with a candidate at each of the columns: all, or as many as are drawn."""
        space = trials.space
        counts = [space.counts[c] for c in columns]
        if math.prod(counts) <= self.simulations:
            choices = 1 + np.indices(counts).reshape(len(counts), -1).T
        else:
            weigh = pickup if self.pickup == "weighted" else uniform
            chances = [weigh(trials.distances[c, 1 : space.counts[c] + 1]) for c in columns]
            choices = 1 + np.stack(
                [rng.choice(len(p), size=self.simulations, p=p) for p in chances], axis=1
            )
        rows = np.zeros((len(choices), len(space.counts)), dtype=np.int16)
        rows[:, columns] = choices
        return space.unique(rows)


class Trials:
    """What was asked about one text: drops of the label's probability, and the closest successes."""

    def __init__(self, space: Space, goal: Goal, distances: Floats, *, most: int | None) -> None:
        self.space, self.goal, self.distances, self.most = space, goal, distances, most
        self.successes: Rows = np.empty((0, len(space.positions)), dtype=np.int16)  # closest first
        self._odds = True  # so far every row of scores was a distribution
        self._original: Floats | None = None  # its scores

    def drops(self, rows: Rows) -> Program[Floats]:
        """How much more probable the goal is for each row than for the original text."""
        if self._original is None:  # goes along with the first question
            rows = np.concatenate([self.space.rows(self.space.origin), rows])
        scores = yield Scores(rows)
        self.learn(rows, scores)
        if self._original is None:
            self._original, scores = scores[:1], scores[1:]
        probable = self._probable(scores)
        found: Floats = probable - self._probable(self._original)
        return found

    def _probable(self, scores: Floats) -> Floats:
        found: Floats = sigmoid(self.goal.log_odds(scores, distributions=self._odds))
        return found

    def learn(self, rows: Rows, scores: Floats) -> None:
        """Keeps the successes among the rows, fewest swaps first, then closest."""
        if not len(rows):
            return
        self._odds &= are_distributions(scores)
        found = np.concatenate([self.successes, rows[self.goal.met(scores, rows)]])
        apart = np.square(self.distances[np.arange(rows.shape[1]), found]).sum(axis=1)
        order = np.lexsort((np.round(apart, 9), np.count_nonzero(found, axis=1)))
        self.successes = found[order[: self.most]]


def pickup(distances: Floats) -> Floats:
    """The probability of each candidate of a word, greater for nearer ones.

    (sum of all distances - its own) / sum of all / (number of candidates - 1), which has the sum 1.
    """
    total, n = distances.sum(), len(distances)
    if n < 2 or total == 0:
        return uniform(distances)
    found: Floats = (total - distances) / total / (n - 1)
    return found


def uniform(distances: Floats) -> Floats:
    """The same probability for each candidate."""
    return np.full(len(distances), 1 / len(distances))


def word_distances(space: Space, known: vectors.Vectors | None) -> Floats:
    """How far each choice is from the original word, (position, choice), 0 for that word itself.

    Without vectors: its place among the candidates.
    """
    found = np.zeros((len(space.positions), max(space.counts) + 1))
    for column, candidates in enumerate(space.candidates):
        apart = np.arange(1.0, len(candidates) + 1)
        if known is not None:
            word = space.original.words[space.positions[column]].lower()
            apart = _apart(known, word, [c.lower() for c in candidates])
        found[column, 1 : len(candidates) + 1] = apart
    return found


def _apart(known: vectors.Vectors, word: str, candidates: list[str]) -> Floats:
    """Euclidean distances; without a vector as far as the farthest, and 1 where nothing is known."""
    apart = np.full(len(candidates), np.nan)
    if word in known:
        here = known.matrix[known.index[word]].astype(np.float64)
        for i, candidate in enumerate(candidates):
            if candidate in known:
                there = known.matrix[known.index[candidate]].astype(np.float64)
                apart[i] = np.linalg.norm(there - here)
    missing = np.isnan(apart)
    apart[missing] = 1.0 if missing.all() else apart[~missing].max()
    return apart


METHOD = MCTS
