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
        sizes = self.budget + 1, self.columns + 1
        free = np.zeros(sizes)  # what clusters cost more than their swaps alone, by size and start
        self._extra = np.zeros((len(swaps.column), near.columns.shape[1]))
        self._beside = np.zeros((self.columns, *sizes))  # the same, next to one column,
        self._between = np.zeros((near.pairs + 1, *sizes))  # and next to two; the last is for none
        for each in rest:
            self._enter(each, each.losses(weights), worst, free)
        self._beside, self._between = _suffix(self._beside), _suffix(self._between)
        self._lone = _sums(worst, self.budget)
        self._free = _suffix(free)
        self._most: Doubles = self._lone[-1] + _packed(self._free)[-1]  # (columns + 1,)

    def _enter(self, prices: Prices, losses: Doubles, worst: Doubles, free: Doubles) -> None:
        """Enters clusters of one size, so many of their swaps made."""
        columns, made = prices.columns, prices.made
        size = columns.shape[1] - made
        excess = losses - worst[columns[:, made:]].sum(axis=1)
        if not made:
            np.maximum.at(free[size], columns[:, 0], excess)
        elif made == 1 and prices.swaps is not None and columns.shape[1] == 2:
            slot = self.near.slot(columns[:, 0], columns[:, 1])
            np.maximum.at(self._extra, (prices.swaps[:, 0], slot), excess)
        elif made == 1:
            np.maximum.at(self._beside, (columns[:, 0], size, columns[:, 1]), excess)
        else:
            pair = self.near.pair[columns[:, 0], columns[:, 1]]
            np.maximum.at(self._between, (pair, size, columns[:, made]), excess)

    # --- nodes ----------------------------------------------------------------------------------

    def lower(self, node: Node, margin: Doubles) -> Doubles:
        """(n, columns + 1): a bound of the lead over the cell from each column on."""
        paid, kept = self._paid(node)
        plain = (margin - paid)[:, None] - self._most
        if node.fixed.size and self.near.columns.size:
            last = self.near.columns[self.swaps.column[node.fixed]].max(axis=(1, 2))
            beside = (margin - paid - kept)[:, None] - self._with_near(node.fixed)
            still = np.arange(self.columns + 1) <= last[:, None]
            plain = np.where(still, np.minimum(plain, beside), plain)
        plain[:, -1] = margin
        return plain

    def _paid(self, node: Node) -> tuple[Doubles, Doubles]:
        """What the potential of a text is below its lead, and what more if its own windows change."""
        levels = self.levels
        bad = node.encoded[:, levels.bad]
        paid = np.maximum(levels.strongest + self.weights.lift - bad, 0.0) @ levels.cost
        if not node.fixed.shape[1]:
            return paid, np.zeros_like(paid)
        touch = node.touched[:, levels.order]  # (n, for, ranks)
        row, feature = np.nonzero(touch.any(axis=2))
        touch = touch[row, feature]  # (hits, ranks)
        seen = touch.cumsum(axis=1)
        lost = (seen > 0).astype(np.float64)
        most = levels.most
        few = np.where(
            levels.takes[feature],
            np.einsum(
                "er,erl->el", touch[:, :most].astype(np.float64), self.weights.share[feature]
            ),
            lost[:, :most],
        )
        lost[:, :most] = few
        lost[levels.never[feature]] = 0.0
        lost[np.arange(1, touch.shape[1] + 1) - seen > most] = 0.0  # more than can be touched
        value, gain = levels.value[feature], levels.gain[feature]
        top = np.minimum(value[:, :-1], node.encoded[:, levels.good][row, feature][:, None])
        made = node.made[:, levels.good][row, feature][:, None]
        whole = np.maximum(top - value[:, 1:], 0.0)
        above = np.maximum(top - np.maximum(value[:, 1:], made), 0.0)
        first = np.bincount(row, (above * lost).sum(axis=1) * gain, len(bad))
        second = np.bincount(row, (whole * lost).sum(axis=1) * gain, len(bad))
        return paid + first, second - first

    def _with_near(self, fixed: Ints) -> Doubles:
        """(n, columns + 1): the largest total of swaps of which some share windows with those made."""
        column = self.swaps.column[fixed]
        excess = np.maximum(self._free, self._beside[column[:, 0]])
        for at in range(1, column.shape[1]):
            np.maximum(excess, self._beside[column[:, at]], out=excess)
            for before in range(at):
                pair = self.near.pair[column[:, before], column[:, at]]
                row = np.flatnonzero(pair >= 0)
                excess[row] = np.maximum(excess[row], self._between[pair[row]])
        best: Doubles = self._lone[-1] + _packed(excess)[:, -1] + self._extras(fixed)
        return best

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


def _packed(excess: Doubles) -> Doubles:
    """(..., budget + 1, columns + 1): the largest sums of clusters whose sizes have at most each sum."""
    found = excess.copy()
    for many in range(1, found.shape[-2]):
        np.maximum(found[..., many, :], found[..., many - 1, :], out=found[..., many, :])
        for size in range(1, many):
            both = found[..., many - size, :] + excess[..., size, :]
            np.maximum(found[..., many, :], both, out=found[..., many, :])
    return found


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
