"""Descent: ceilings and shares that make the bounds of a convolutional network high.

Any are sound, so the search may end anywhere. What it finds is rounded to what a certificate keeps of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unfooled.bounds.cells import Doubles
from unfooled.bounds.cnn_clusters import Clusters, kept
from unfooled.bounds.cnn_losses import Levels, Prices, Weights
from unfooled.bounds.cnn_weights import rounded

_STEPS, _NOISE = 60, 1e-9


def weigh(levels: Levels, singles: Clusters, *, other: int, starts: Sequence[int]) -> list[Weights]:
    """Lifts and shares for single swaps from each of these columns on, whichever the other class."""
    return [rounded(levels, _Descent(levels, singles, start=start).run()) for start in starts]


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
            if total < least - _NOISE * max(1.0, abs(total)):
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
