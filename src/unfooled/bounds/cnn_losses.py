"""Losses: what clusters of swaps can cost a lead, each on its own, so that the sum bounds any set.

A feature that counts against the label is at most a ceiling plus what each cluster brings above it,
whatever the ceiling. A feature that counts for it loses the part of its value between two of its
strongest windows only if all stronger ones are changed; which clusters pay for that part is free, as
long as the shares of the windows have the sum 1. Ceilings and shares are chosen so that the
sum of the largest losses is small: any choice is sound, so the search may end anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.bounds.cells import Doubles, Ints
from unfooled.bounds.cnn_clusters import Clusters
from unfooled.bounds.cnn_windows import Windows

_STEPS = 60
_BLOCK = 1 << 20  # numbers of clusters times features


class Weights(NamedTuple):
    """The ceilings of the features against the label, and who pays for those that are for it."""

    ceiling: Doubles  # (against,)
    share: Doubles  # (for, windows, levels): with the window of a rank, of the level below each rank


class Charges(NamedTuple):
    """What clusters may have to pay for features that are for the label; most pay for few."""

    cluster: Ints  # (charges,)
    feature: Ints
    rank: Ints  # of the window that is changed
    part: Doubles  # (charges, levels): of every level, what lies above the cluster's own answers


class Levels:
    """The features of one lead, and which parts of them a number of swaps can take away."""

    def __init__(
        self, windows: Windows, weight: Doubles, *, needed: Ints, radius: int, budget: int
    ) -> None:
        self.good, self.bad = np.flatnonzero(weight > 0), np.flatnonzero(weight < 0)
        self.gain, self.cost = weight[self.good], -weight[self.bad]
        self.budget, self.most = budget, 3 * budget  # windows that so many swaps can touch
        self.value: Doubles = windows.value[: 3 * radius + 1, self.good].T  # (for, ranks)
        self.order: Ints = windows.order[: 3 * radius, self.good].T
        self.takes: NDArray[np.bool_] = (needed[: self.most, self.good] <= budget).T
        self.never: NDArray[np.bool_] = (needed[:, self.good] > len(windows.places)).T
        self.strongest: Doubles = windows.value[0, self.bad]
        self._rank = np.full((windows.words + 2, len(self.good)), self.most, dtype=np.int8)
        np.put_along_axis(
            self._rank, self.order[:, : self.most].T, np.arange(self.most, dtype=np.int8)[:, None], 0
        )
        self._rank[windows.words :] = self.most

    def charges(self, clusters: Clusters) -> Charges:
        """The charges of all clusters."""
        size = max(1, _BLOCK // max(1, len(self.good)))
        blocks = [slice(at, at + size) for at in range(0, len(clusters.high), size)]
        parts = [self._charges(clusters, block) for block in blocks]
        none = np.empty(0, dtype=np.int64)
        parts.append(Charges(none, none, none, np.empty((0, self.most))))
        return Charges(*(np.concatenate(field) for field in zip(*parts, strict=True)))

    def _charges(self, clusters: Clusters, block: slice) -> Charges:
        hits = []
        for at in clusters.touched[block].T:
            rank = self._rank[at]  # -1 is a window that nothing ranks
            cluster, feature = np.nonzero(rank < self.most)
            hits.append((cluster, feature, rank[cluster, feature].astype(np.int64)))
        cluster, feature, rank = (np.concatenate(field) for field in zip(*hits, strict=True))
        value, low = self.value[feature, : self.most + 1], clusters.low[block][:, self.good]
        part = value[:, :-1] - np.maximum(value[:, 1:], low[cluster, feature][:, None])
        part[(np.arange(self.most) < rank[:, None]) | ~self.takes[feature]] = 0.0
        np.maximum(part, 0.0, out=part)
        part *= self.gain[feature][:, None]
        kept = np.flatnonzero(part.any(axis=1))
        begin = block.start
        return Charges(cluster[kept] + begin, feature[kept], rank[kept], part[kept])

    def losses(self, weights: Weights, clusters: Clusters) -> Doubles:
        """(n,): what each cluster costs at most."""
        above = np.maximum(clusters.high[:, self.bad] - weights.ceiling, 0.0)
        return above @ self.cost + _paid(self.charges(clusters), weights.share, len(above))

    def simple(self) -> Weights:
        """Ceilings at what the text has; the weakest window pays."""
        share = np.broadcast_to(np.eye(self.most), (len(self.good), self.most, self.most))
        return Weights(self.strongest, share.copy())


def _paid(charges: Charges, share: Doubles, clusters: int) -> Doubles:
    paid = np.einsum("el,el->e", charges.part, share[charges.feature, charges.rank])
    return np.bincount(charges.cluster, paid, clusters)


class _Descent:
    """A subgradient method on the sum of the largest losses of single swaps from a column on."""

    def __init__(self, levels: Levels, singles: Clusters, *, start: int) -> None:
        self.levels = levels
        kept = np.flatnonzero(singles.columns[:, 0] >= start)
        self.clusters = Clusters(*(field[kept] for field in singles))
        self.column = self.clusters.columns[:, 0] - start
        self.charges = levels.charges(self.clusters)
        above = np.maximum(self.clusters.high[:, levels.bad] - levels.strongest, 0.0)
        self.cluster, self.feature = np.nonzero(above)
        self.above = above[self.cluster, self.feature]

    def losses(self, lift: Doubles, share: Doubles) -> Doubles:
        """(n,): with ceilings lifted so much above what the text has."""
        over = np.maximum(self.above - lift[self.feature], 0.0) * self.levels.cost[self.feature]
        found = np.bincount(self.cluster, over, len(self.column))
        return found + _paid(self.charges, share, len(self.column))

    def chosen(self, losses: Doubles, *, width: float) -> tuple[float, Doubles]:
        """The sum of the largest losses in different columns, and how much of it each swap is."""
        worst = np.maximum.reduceat(losses, np.flatnonzero(np.diff(self.column, prepend=-1)))
        ranked = np.sort(worst)[::-1]
        budget = min(self.levels.budget, len(ranked))
        middle = (ranked[budget - 1] + ranked[min(budget, len(ranked) - 1)]) / 2
        blur = max(width * ranked[0], 1e-9)
        taken = 1 / (1 + np.exp(-np.clip((worst - middle) / blur, -30.0, 30.0)))
        taken *= budget / taken.sum()
        within = np.exp(np.clip((losses - worst[self.column]) / blur, -50.0, 0.0))
        within /= np.bincount(self.column, within)[self.column]
        return float(ranked[:budget].sum()), taken[self.column] * within

    def run(self) -> Weights:
        """The best weights on the way."""
        levels = self.levels
        shape = len(levels.good), levels.most, levels.most
        score = np.where(np.triu(np.ones(shape[1:])) > 0, 0.0, -np.inf) + 2 * np.eye(levels.most)
        score = np.broadcast_to(score, shape).copy()
        lift, best = np.zeros(len(levels.bad)), (np.inf, levels.simple())
        for step in range(_STEPS):
            share = np.exp(score - score.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            total, part = self.chosen(self.losses(lift, share), width=0.05 / (1 + step / 20))
            total += float(lift @ levels.cost)
            if total < best[0]:
                best = total, Weights(levels.strongest + lift, share)
            lift = self._lifted(lift, part, total / (10 + step))
            slope = np.zeros(shape)
            np.add.at(
                slope,
                (self.charges.feature, self.charges.rank),
                part[self.charges.cluster][:, None] * self.charges.part,
            )
            score -= slope * (10 / (slope.max(initial=1e-12) * (1 + step / 20)))
        return best[1]

    def _lifted(self, lift: Doubles, part: Doubles, length: float) -> Doubles:
        """A step of the ceilings: up where the swaps that count bring more than one is paid for."""
        over = part[self.cluster] * (self.above > lift[self.feature])
        slope = 1.0 - np.bincount(self.feature, over, len(lift))
        lifted: Doubles = np.maximum(lift - 0.1 * length * slope, 0.0)
        return lifted


def weights(levels: Levels, singles: Clusters, *, start: int) -> Weights:
    """Ceilings and shares for swaps from a column on."""
    if not (singles.columns[:, 0] >= start).any():
        return levels.simple()
    return _Descent(levels, singles, start=start).run()
