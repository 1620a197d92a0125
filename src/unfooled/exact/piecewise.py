"""Piecewise: what a ReLU network computes on one text, as a function of the swaps made in it.

The first pre-activations are linear in the swaps: those of the text plus what each swap adds. All
that follows is ReLU, at most one maximum over time, and affine layers, in numpy and float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.sweeps.regions import Pick

Floats = NDArray[np.float64]


class Effect(NamedTuple):
    """What the choices of a column add to a stretch of the first pre-activations."""

    start: int
    values: Floats  # (choices, width)

    @property
    def stop(self) -> int:
        return self.start + int(self.values.shape[1])


class Affine(NamedTuple):
    """y = weight x + bias."""

    weight: Floats  # (out, in)
    bias: Floats  # (out,)

    def __call__(self, inputs: Floats) -> Floats:
        found: Floats = inputs @ self.weight.T + self.bias
        return found


@dataclass(frozen=True)
class Piecewise:
    """Logits as a function of swaps: ReLU of the first layer, a pool, affine layers with ReLU between.

    With `windows`, the first pre-activations are (windows, features) flattened, and the features are
    the maximum over windows of their ReLU. Columns and choices are those of the reading's plan.
    """

    base: Floats  # (n,): the first pre-activations of the text itself
    effects: tuple[Effect, ...]  # one for each column
    layers: tuple[Affine, ...]  # the last one makes the logits
    windows: int | None = None

    @property
    def classes(self) -> int:
        return len(self.layers[-1].bias)

    @property
    def columns(self) -> int:
        return len(self.effects)

    @property
    def shallow(self) -> bool:
        """Whether there is one hidden ReLU layer and nothing else that bends."""
        return self.windows is None and len(self.layers) == 1

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The choices of each column."""
        return tuple(len(effect.values) for effect in self.effects)

    def first(self, picks: Iterable[Pick]) -> Floats:
        """(n,): the first pre-activations with these swaps."""
        found = self.base.copy()
        for column, choice in picks:
            effect = self.effects[column]
            found[effect.start : effect.stop] += effect.values[choice]
        return found

    def features(self, first: Floats) -> Floats:
        """(texts, features): the ReLU of first pre-activations (texts, n), pooled."""
        bent = np.maximum(first, 0.0)
        if self.windows is None:
            return bent
        pooled: Floats = bent.reshape(len(bent), self.windows, -1).max(axis=1)
        return pooled

    def logits(self, first: Floats) -> Floats:
        """(texts, classes) of first pre-activations (texts, n)."""
        now = self.features(np.atleast_2d(first))
        for layer in self.layers[:-1]:
            now = np.maximum(layer(now), 0.0)
        return self.layers[-1](now)

    def scores(self, picks: Sequence[Sequence[Pick]]) -> Floats:
        """(texts, classes): the logits of the texts with these swaps."""
        return self.logits(np.stack([self.first(swaps) for swaps in picks]))

    def extremes(self, radius: int) -> tuple[Floats, Floats]:
        """The exact range of each first pre-activation over all texts within `radius` swaps.

        It is linear in the swaps, so the least value takes the `radius` columns that lower it most,
        each with its best choice: a sum of the smallest per-column minima.
        """
        lows, highs = self._pushes
        kept = min(radius, self.columns)
        if kept == 0:
            return self.base, self.base
        low = lows if kept == len(lows) else np.partition(lows, kept - 1, axis=0)[:kept]
        high = highs if kept == len(highs) else -np.partition(-highs, kept - 1, axis=0)[:kept]
        return self.base + low.sum(axis=0), self.base + high.sum(axis=0)

    @cached_property
    def _pushes(self) -> tuple[Floats, Floats]:
        """(columns, n) each: the most that a swap at a column lowers and raises a pre-activation."""
        lows, highs = np.zeros((2, self.columns, len(self.base)))
        for column, effect in enumerate(self.effects):
            where = slice(effect.start, effect.stop)
            lows[column, where] = np.minimum(effect.values.min(axis=0), 0.0)
            highs[column, where] = np.maximum(effect.values.max(axis=0), 0.0)
        return lows, highs
