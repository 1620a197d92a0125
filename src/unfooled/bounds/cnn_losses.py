"""Losses: what clusters of swaps can cost a lead, each on its own, so that the sum bounds any set.

A feature that counts against the label is at most a ceiling plus what each cluster brings above it,
whatever the ceiling. A feature that counts for it loses the part of its value between two of its
strongest windows only if all stronger ones are changed; which clusters pay for that part is free, as
long as the shares of the windows have the sum 1. Any ceilings and shares are sound: who looks for good
ones (module `descent`) and who reads them from a certificate (`cnn_weights`) is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from unfooled.bounds.cells import Doubles, Ints
from unfooled.bounds.cnn_clusters import Clusters
from unfooled.bounds.cnn_windows import Flags, Windows


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


class Weigh(Protocol):
    """Who chooses weights for the lead over another class: one for each column to start from."""

    def __call__(
        self, levels: Levels, singles: Clusters, *, other: int, starts: Sequence[int]
    ) -> list[Weights]: ...
