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

from unfooled.bounds.cells import Doubles, Ints
from unfooled.bounds.cnn_clusters import Clusters, kept
from unfooled.bounds.cnn_windows import Flags, Windows

_STEPS, _NOISE = 60, 1e-9


class Weights(NamedTuple):
    """How far ceilings are above what the text has, and who pays for what counts for the label."""

    lift: Doubles  # (bad,)
    share: Doubles  # (good, ranks, levels): with the window of a rank, of the level below each rank


class Levels:
    """The features of one lead, and which parts of them a number of swaps can take away."""

    def __init__(
        self, windows: Windows, weight: Doubles, *, needed: Ints, radius: int, budget: int
    ) -> None:
        self.good, self.bad = np.flatnonzero(weight > 0), np.flatnonzero(weight < 0)
        self.gain, self.cost = weight[self.good], -weight[self.bad]
        self.budget, self.most = budget, 3 * budget  # windows that so many swaps can touch
        self.value: Doubles = windows.value[: 3 * radius + 1, self.good].T  # (good, ranks)
        self.order: Ints = windows.order[: 3 * radius, self.good].T
        self.takes: Flags = (needed[: self.most, self.good] <= budget).T
        self.never: Flags = (needed[:, self.good] > len(windows.places)).T
        self.strongest: Doubles = windows.value[0, self.bad]
        self.rank = np.full((windows.words + 2, len(self.good)), self.most, dtype=np.int8)
        ranks = np.arange(self.most, dtype=np.int8)[:, None]
        np.put_along_axis(self.rank, self.order[:, : self.most].T, ranks, axis=0)
        self.rank[windows.words :] = self.most

    def simple(self) -> Weights:
        """Ceilings at what the text has; the weakest window pays."""
        shape = len(self.good), self.most, self.most
        return Weights(np.zeros(len(self.bad)), np.broadcast_to(np.eye(self.most), shape).copy())


class Prices:
    """What clusters may have to pay; most pay for few features, so these are listed."""

    def __init__(self, levels: Levels, clusters: Clusters) -> None:
        self.levels, self.columns = levels, clusters.columns
        self.made, self.swaps = clusters.made, clusters.swaps
        above = np.maximum(clusters.high[:, levels.bad] - levels.strongest, 0.0)
        self.over, self.against = np.nonzero(above)  # cluster and feature
        self.above = above[self.over, self.against]
        self._list(clusters)
        self._fixed = np.zeros(len(above))
        if clusters.made:  # answers of their own that were above all of the text
            still = np.maximum(clusters.low[:, levels.good], levels.value[:, 0])
            lost = np.maximum(clusters.lost[:, levels.good] - still, 0.0)
            self._fixed = lost @ levels.gain

    def _list(self, clusters: Clusters) -> None:
        levels, hits = self.levels, []
        for at in clusters.touched.T:
            rank = levels.rank[at]  # -1 is a window that has none
            cluster, feature = np.nonzero(rank < levels.most)
            hits.append((cluster, feature, rank[cluster, feature].astype(np.int64)))
        cluster, feature, rank = (np.concatenate(each) for each in zip(*hits, strict=True))
        value = levels.value[feature, : levels.most + 1]
        low = clusters.low[cluster, levels.good[feature]][:, None]
        part = np.maximum(value[:, :-1] - np.maximum(value[:, 1:], low), 0.0)
        part[(np.arange(levels.most) < rank[:, None]) | ~levels.takes[feature]] = 0.0
        pays = np.flatnonzero(part.any(axis=1))
        self.cluster, self.feature, self.rank = cluster[pays], feature[pays], rank[pays]
        self.part: Doubles = part[pays] * levels.gain[feature[pays]][:, None]

    def losses(self, weights: Weights) -> Doubles:
        """(n,): what each cluster costs at most."""
        over = np.maximum(self.above - weights.lift[self.against], 0.0)
        paid = np.einsum("el,el->e", self.part, weights.share[self.feature, self.rank])
        against = np.bincount(self.over, over * self.levels.cost[self.against], len(self._fixed))
        good = np.bincount(self.cluster, paid, len(self._fixed))
        return self._fixed + against + good  # counts of nothing are whole numbers


class _Descent:
    """A subgradient method on the sum of the largest losses of single swaps from a column on."""

    def __init__(self, levels: Levels, singles: Clusters, *, start: int) -> None:
        self.levels = levels
        self.prices = Prices(levels, kept(singles, singles.columns[:, 0] >= start))
        self.column = self.prices.columns[:, 0] - start
        self.highest = np.zeros(len(levels.bad))  # what a swap brings above what the text has
        np.maximum.at(self.highest, self.prices.against, self.prices.above)

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
        levels, prices = self.levels, self.prices
        ranks = np.triu(np.ones((levels.most, levels.most)))
        score = np.where(ranks > 0, 0.0, -np.inf) + 2 * np.eye(levels.most)
        score = np.broadcast_to(score, (len(levels.good), *score.shape)).copy()
        lift, least, best = np.zeros(len(levels.bad)), np.inf, levels.simple()
        for step in range(_STEPS):
            share = np.exp(score - score.max(axis=1, keepdims=True))
            found = Weights(lift, share / share.sum(axis=1, keepdims=True))
            total, part = self.chosen(prices.losses(found), width=0.05 / (1 + step / 20))
            total += float(lift @ levels.cost)
            if total < least - _NOISE * max(1.0, abs(total)):  # a checker has other last digits
                least, best = total, found
            lift = self._lifted(lift, part, length=0.3 / (1 + step / 10))
            slope = np.zeros(score.shape)
            pays = part[prices.cluster][:, None] * prices.part
            np.add.at(slope, (prices.feature, prices.rank), pays)
            slope[slope < _NOISE] = 0.0
            score -= slope * (10 / (slope.max(initial=_NOISE) * (1 + step / 20)))
        return best

    def _lifted(self, lift: Doubles, part: Doubles, *, length: float) -> Doubles:
        """A step of the ceilings: up where the swaps that count bring more than one is paid for."""
        prices = self.prices
        over = part[prices.over] * (prices.above > lift[prices.against] + _NOISE)
        slope = 1.0 - np.bincount(prices.against, over, len(lift))
        lifted: Doubles = np.clip(lift - length * slope * self.highest, 0.0, self.highest)
        return lifted


def weights(levels: Levels, singles: Clusters, *, start: int) -> Weights:
    """Lifts and shares for swaps from a column on."""
    return _Descent(levels, singles, start=start).run()
