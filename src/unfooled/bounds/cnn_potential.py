"""Potential: a lower bound of a lead that falls by no more than the loss of each cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unfooled.bounds.cells import Doubles, Ints, Swaps
from unfooled.bounds.cnn_clusters import Near
from unfooled.bounds.cnn_losses import Levels, Prices, Weights
from unfooled.bounds.cnn_windows import Flags


class Node(NamedTuple):
    """Texts: their swaps, and what is left of the windows."""

    fixed: Ints  # (n, swaps)
    touched: Flags  # (n, words + 2)
    encoded: Doubles  # (n, features)
    made: Doubles  # (n, features): the strongest answer of the windows that the swaps change


class Held(NamedTuple):
    """Features for the label whose strongest windows texts have changed, and what may be lost there."""

    row: Ints  # (hits,) of the text
    feature: Ints
    touch: Doubles  # (hits, ranks): which windows are changed
    lost: Doubles  # (hits, levels): 1 if the others can be changed too
    takes: Flags  # (hits, levels): whether they can be, if none is changed yet
    whole: Doubles  # (hits, levels): what the lead has of each level,
    above: Doubles  # and that part of it that is above the answers of the changed windows


def held(levels: Levels, node: Node) -> Held:
    """What texts hold on to, whatever the weights."""
    touch = node.touched[:, levels.order]  # (n, good, ranks)
    row, feature = np.nonzero(touch.any(axis=2))
    touch = touch[row, feature]
    seen = touch.cumsum(axis=1)
    left = np.arange(1, touch.shape[1] + 1) - seen  # windows still to be changed
    lost = (seen > 0) & (left <= levels.most) & ~levels.never[feature]
    value, good = levels.value[feature], levels.good[feature]
    top = np.minimum(value[:, :-1], node.encoded[row, good][:, None])
    made = np.maximum(value[:, 1:], node.made[row, good][:, None])
    gain = levels.gain[feature][:, None]
    return Held(
        row,
        feature,
        touch[:, : levels.most].astype(np.float64),
        lost.astype(np.float64),
        levels.takes[feature],
        np.maximum(top - value[:, 1:], 0.0) * gain,
        np.maximum(top - made, 0.0) * gain,
    )


class Potential:
    """Bounds over the cells of nodes with one budget, for one choice of weights."""

    def __init__(
        self,
        near: Near,
        swaps: Swaps,
        levels: Levels,
        weights: Weights,
        prices: list[Prices],
    ) -> None:
        self.levels, self.weights, self.swaps = levels, weights, swaps
        self.near, self.budget, self.columns = near, levels.budget, swaps.columns
        alone, *rest = prices
        worst = np.maximum.reduceat(alone.losses(weights), swaps.starts[:-1])
        # What clusters cost at most, and what they cost more than their swaps alone, by their size
        # and by the first column that they swap: any, beside one column, between two.
        sizes = 2, self.budget + 1
        self._free = np.zeros((*sizes, self.columns + 1))
        self._beside = np.zeros((self.columns, *sizes, self.columns + 1))
        self._between = np.zeros((near.pairs, *sizes, 1))  # until the last column of any
        self._until = np.full((near.pairs, 1, self.budget + 1, 1), -1)
        self._extra = np.zeros((len(swaps.column), near.columns.shape[1]))
        for each in rest:
            self._enter(each, each.losses(weights), worst)
        for table in (self._free, self._beside):
            table[:] = _suffix(table)
        self._lone = _sums(worst, self.budget)
        self._most: Doubles = self._total(self._free)  # (columns + 1,)

    def _enter(self, prices: Prices, losses: Doubles, worst: Doubles) -> None:
        """Enters clusters of one size, so many of their swaps made."""
        columns, made = prices.columns, prices.made
        size = columns.shape[1] - made
        excess = losses - worst[columns[:, made:]].sum(axis=1)
        if made == size == 1 and prices.swaps is not None:
            slot = self.near.slot(columns[:, 0], columns[:, 1])
            np.maximum.at(self._extra, (prices.swaps[:, 0], slot), excess)
            return
        pair = self.near.pair[columns[:, 0], columns[:, 1]] if made > 1 else columns[:, 0]
        for kind, values in enumerate((losses, excess)):
            if not made:
                np.maximum.at(self._free[kind, size], columns[:, 0], values)
            elif made == 1:
                table = self._beside[:, kind, size]
                np.maximum.at(table, (columns[:, 0], columns[:, 1]), values)
            else:
                np.maximum.at(self._between[:, kind, size, 0], pair, values)
        if made > 1:
            np.maximum.at(self._until[:, 0, size, 0], pair, columns[:, made])

    def _total(self, clusters: Doubles) -> Doubles:
        """(..., columns + 1): the largest total, of tables (..., 2, budget + 1, columns + 1).

        Clusters are counted with all they cost beside the worst other swaps, or with what they cost
        more beside the worst swaps: both are enough.
        """
        losses, excess = clusters[..., 0, :, :], clusters[..., 1, :, :]
        shape = clusters.shape[:-3] + clusters.shape[-1:]
        apart = [np.zeros(shape)]
        above = [np.zeros(shape)]
        for many in range(1, self.budget + 1):
            first, second = np.broadcast_to(self._lone[many], shape), above[-1]
            for size in range(1, many + 1):
                first = np.maximum(first, losses[..., size, :] + apart[many - size])
                second = np.maximum(second, excess[..., size, :] + above[many - size])
            apart.append(first)
            above.append(second)
        total: Doubles = np.minimum(apart[-1], self._lone[-1] + above[-1])
        return total

    # --- nodes ----------------------------------------------------------------------------------

    def lower(self, node: Node, held: Held, margin: Doubles) -> Doubles:
        """(n, columns + 1): a bound of the lead over the cell from each column on."""
        paid, kept = self._paid(node, held)
        plain = (margin - paid)[:, None] - self._most
        if node.fixed.size and self.near.columns.size:
            last = self.near.columns[self.swaps.column[node.fixed]].max(axis=(1, 2))
            beside = (margin - paid - kept)[:, None] - self._with_near(node.fixed)
            still = np.arange(self.columns + 1) <= last[:, None]
            plain = np.where(still, np.minimum(plain, beside), plain)
        plain[:, -1] = margin
        return plain

    def _paid(self, node: Node, held: Held) -> tuple[Doubles, Doubles]:
        """What the potential of a text is below its lead, and what more if its own windows change."""
        ceiling = self.levels.strongest + self.weights.lift
        below = np.maximum(ceiling - node.encoded[:, self.levels.bad], 0.0)
        paid: Doubles = below @ self.levels.cost
        if not node.fixed.shape[1]:
            return paid, np.zeros_like(paid)
        shared = np.einsum("er,erl->el", held.touch, self.weights.share[held.feature])
        lost = held.lost.copy()
        lost[:, : self.levels.most] *= np.where(held.takes, shared, 1.0)
        first, second = (np.einsum("el,el->e", part, lost) for part in (held.above, held.whole))
        texts = len(paid)
        above, whole = (np.bincount(held.row, part, texts) for part in (first, second))
        return paid + above, np.asarray(whole - above, dtype=np.float64)

    def _with_near(self, fixed: Ints) -> Doubles:
        """(n, columns + 1): the largest total of swaps of which some share windows with those made."""
        column = self.swaps.column[fixed]
        clusters = np.maximum(self._free, self._beside[column[:, 0]])
        for at in range(1, column.shape[1]):
            np.maximum(clusters, self._beside[column[:, at]], out=clusters)
            for before in range(at):
                pair = self.near.pair[column[:, before], column[:, at]]
                row = np.flatnonzero(pair >= 0)
                still = np.arange(self.columns + 1) <= self._until[pair[row]]
                both = np.where(still, self._between[pair[row]], 0.0)
                clusters[row] = np.maximum(clusters[row], both)
        return self._total(clusters) + self._extras(fixed)

    def _extras(self, fixed: Ints) -> Doubles:
        """(n, columns + 1): what the swaps of a set cost more next to single ones that are made."""
        near = self.near.columns[self.swaps.column[fixed]].reshape(len(fixed), -1)
        extra = np.where(near >= 0, self._extra[fixed].reshape(len(fixed), -1), 0.0)
        total, worst = np.zeros((2, len(fixed), self.columns + 1))
        rows = np.arange(len(fixed))
        for column, more in zip(near.T, extra.T, strict=True):
            total[rows, column] += more
            worst[rows, column] = np.maximum(worst[rows, column], more)
        total = np.cumsum(total[:, ::-1], axis=1)[:, ::-1]
        capped: Doubles = np.minimum(total, self.budget * _suffix(worst))
        return capped


def _suffix(values: Doubles) -> Doubles:
    """The largest from each place of the last axis on."""
    found: Doubles = np.maximum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]
    return found


def _sums(values: Doubles, most: int) -> Doubles:
    """(most + 1, n + 1): the sum of the k largest values from each place on, none of them below 0."""
    best, sums = np.zeros(most), np.zeros((most + 1, len(values) + 1))
    for at in range(len(values) - 1, -1, -1):
        best = np.sort(np.append(best, values[at]))[::-1][:most]
        sums[1:, at] = best.cumsum()
    return sums
