"""The paper's own program (ILP paper, equations 1-5, 11 and 12), for comparison.

Variables for every choice and for the vector of every word with candidates, two big-M rows and a binary
for every neuron whose sign is open, ranges of neurons over the whole space, and swaps are minimised.

Differs from the paper: words without candidates are constants, and the program is for two classes, or
for one other class of several.
"""

from __future__ import annotations

import numpy as np

from unfooled.bounds.reading import Reading
from unfooled.errors import Unsupported
from unfooled.exact.milp import Builder, Sum, Swapped
from unfooled.exact.opened import opened
from unfooled.exact.piecewise import Floats
from unfooled.models.mlp import Affine as AffineNetwork


def paper_form(reading: Reading, label: int, target: int, *, level: float) -> Swapped:
    """The fewest swaps with a margin of `label` over `target` at or below the level."""
    network, function = reading.network, opened(reading)
    if not isinstance(network, AffineNetwork) or not function.shallow:
        raise Unsupported("the paper's program is for single texts and one hidden layer")
    made, swaps, places = Builder(), [], []
    rest = function.base.copy()  # the first layer without the words that have candidates
    for place, vectors in zip(reading.plan.places, reading.choices, strict=True):
        share: Floats = network.share(place, len(reading.text)).detach().numpy()
        points = np.concatenate((reading.text[place][None].numpy(), vectors.numpy()))
        chosen = [made.binary(cost=float(choice > 0)) for choice in range(len(points))]
        made.row(Sum(np.array(chosen), np.ones(len(chosen))), low=1.0, high=1.0)
        vector = [made.add(*_ends(points[:, i])) for i in range(points.shape[1])]
        for i, variable in enumerate(vector):
            made.row(Sum(np.array(chosen), points[:, i].copy()).plus(variable, -1.0), 0.0, 0.0)
        rest -= share @ points[0]
        swaps.append(tuple(chosen[1:]))
        places.append((share, vector))
    low, high = function.extremes(function.columns)
    output = function.layers[0]
    weights = output.weight[label] - output.weight[target]
    where = np.array([v for _, vector in places for v in vector], dtype=np.int64)
    shares = np.concatenate([np.empty((len(rest), 0)), *(share for share, _ in places)], axis=1)
    hidden = [
        _relu(made, Sum(where, shares[k].copy(), float(rest[k])), float(low[k]), float(high[k]))
        for k in range(len(rest))
    ]
    constant = float(output.bias[label] - output.bias[target])
    made.row(Sum(np.array(hidden), weights.copy(), constant), high=level)
    return Swapped(made.milp(), tuple(swaps))


def _ends(values: Floats) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _relu(made: Builder, inner: Sum, low: float, high: float) -> int:
    """Equation 11: y >= z, y >= 0, y <= z - l (1 - a), y <= u a; stable neurons are replaced."""
    out = made.add(max(low, 0.0), max(high, 0.0))
    if high <= 0:
        return out
    below = inner.plus(out, -1.0)
    if low >= 0:
        made.row(below, 0.0, 0.0)
        return out
    on = made.binary()
    made.row(below, high=0.0)
    made.row(below.plus(on, low), low=low)
    made.row(Sum(np.array([out, on]), np.array([1.0, -high])), high=0.0)
    return out
