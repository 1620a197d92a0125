"""One sparse form for mixed-integer programs, and the programs that say: a text within r swaps fools.

The cut form has no variables for word vectors (effects of swaps go straight into the first layer), at
most r swaps, ranges of neurons over texts within r swaps, and no binaries where ReLU or a maximum is on
the convex side of the margin. It asks for any text with a margin at or below a level.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unfooled.exact.piecewise import Affine, Floats, Piecewise
from unfooled.sweeps.regions import Pick


@dataclass(frozen=True)
class Milp:
    """Minimise cost . x with row_low <= A x <= row_high, low <= x <= high, some x whole numbers."""

    cost: Floats
    starts: NDArray[np.int32]  # A by rows: where each row starts in the next two
    columns: NDArray[np.int32]
    values: Floats
    row_low: Floats
    row_high: Floats
    low: Floats
    high: Floats
    whole: NDArray[np.bool_]


@dataclass
class Builder:
    """Collects variables and rows."""

    cost: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[NDArray[np.int64], Floats, float, float]] = field(default_factory=list)

    def add(self, low: float, high: float, *, whole: bool = False, cost: float = 0.0) -> int:
        """The number of a new variable."""
        self.low.append(low)
        self.high.append(high)
        self.whole.append(whole)
        self.cost.append(cost)
        return len(self.low) - 1

    def binary(self, *, cost: float = 0.0) -> int:
        return self.add(0.0, 1.0, whole=True, cost=cost)

    def row(self, sum_: Sum, low: float = -np.inf, high: float = np.inf) -> None:
        """low <= the sum <= high."""
        self.rows.append((sum_.where, sum_.values, low - sum_.constant, high - sum_.constant))

    def milp(self) -> Milp:
        sizes = [len(where) for where, *_ in self.rows]
        empty = np.empty(0)
        return Milp(
            np.array(self.cost),
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
            np.concatenate([empty, *(where for where, *_ in self.rows)]).astype(np.int32),
            np.concatenate([empty, *(values for _, values, *_ in self.rows)]),
            np.array([low for *_, low, _ in self.rows]),
            np.array([high for *_, high in self.rows]),
            np.array(self.low),
            np.array(self.high),
            np.array(self.whole, dtype=bool),
        )


@dataclass(frozen=True)
class Sum:
    """A weighted sum of variables and a constant."""

    where: NDArray[np.int64]
    values: Floats
    constant: float = 0.0

    def plus(self, variable: int, value: float, *, constant: float = 0.0) -> Sum:
        """It with one more variable."""
        return Sum(
            np.append(self.where, variable),
            np.append(self.values, value),
            self.constant + constant,
        )


@dataclass(frozen=True)
class Swapped:
    """A program whose solutions are texts: which variable stands for which swap."""

    program: Milp
    swaps: tuple[tuple[int, ...], ...]  # the variable of each choice, column by column

    def picks(self, solution: Floats) -> tuple[Pick, ...]:
        """The swaps of a solution."""
        return tuple(
            Pick(column, choice)
            for column, variables in enumerate(self.swaps)
            for choice, variable in enumerate(variables)
            if solution[variable] > 0.5
        )

    def without(self, texts: list[tuple[Pick, ...]]) -> Swapped:
        """The program that has none of these texts as a solution: one row for each."""
        program, every = self.program, np.array([v for vs in self.swaps for v in vs], np.int32)
        starts, columns, values = program.starts, program.columns, program.values
        low = program.row_low
        for picks in texts:
            made = [self.swaps[column][choice] for column, choice in picks]
            signs = np.where(np.isin(every, made), -1.0, 1.0)
            starts = np.append(starts, starts[-1] + len(every)).astype(np.int32)
            columns, values = np.append(columns, every), np.append(values, signs)
            low = np.append(low, 1.0 - len(picks))
        high = np.append(program.row_high, np.full(len(texts), np.inf))
        made_of = (program.cost, starts, columns, values, low, high)
        return Swapped(Milp(*made_of, program.low, program.high, program.whole), self.swaps)


def cut_form(network: Piecewise, label: int, target: int, *, radius: int, level: float) -> Swapped:
    """A text within the radius whose margin of `label` over `target` is at or below the level."""
    made = Builder()
    swaps = tuple(tuple(made.binary() for _ in range(size)) for size in network.sizes)
    for variables in swaps:
        made.row(Sum(np.array(variables), np.ones(len(variables))), high=1.0)
    every = np.array([v for variables in swaps for v in variables], dtype=np.int64)
    made.row(Sum(every, np.ones(len(every))), high=float(radius))
    output = network.layers[-1]
    margin = Affine(
        (output.weight[label] - output.weight[target])[None],
        (output.bias[label] - output.bias[target])[None],
    )
    layers = (*network.layers[:-1], margin)
    sums, low, high = _first(network, swaps, radius=radius)
    signs = _signs(layers[0]) if len(layers) == 1 else None
    if network.windows is None:
        inputs = [_relu(made, s, low[k], high[k], sign=_at(signs, k)) for k, s in enumerate(sums)]
    else:
        inputs = _pooled(made, sums, low, high, windows=network.windows, signs=signs)
    for depth, layer in enumerate(layers):
        sums = [_combined(layer, k, inputs) for k in range(len(layer.bias))]
        if depth == len(layers) - 1:
            made.row(sums[0], high=level)
            break
        low, high = _ranges(layer, inputs, made)
        signs = _signs(layers[-1]) if depth == len(layers) - 2 else None
        inputs = [_relu(made, s, low[k], high[k], sign=_at(signs, k)) for k, s in enumerate(sums)]
    return Swapped(made.milp(), swaps)


def _first(
    network: Piecewise, swaps: tuple[tuple[int, ...], ...], *, radius: int
) -> tuple[list[Sum], Floats, Floats]:
    """The first pre-activations as sums over swaps, and their ranges within the radius."""
    size = len(network.base)
    where: list[list[NDArray[np.int64]]] = [[] for _ in range(size)]
    values: list[list[Floats]] = [[] for _ in range(size)]
    for effect, variables in zip(network.effects, swaps, strict=True):
        at = np.array(variables, dtype=np.int64)
        for k in range(effect.start, effect.stop):
            where[k].append(at)
            values[k].append(effect.values[:, k - effect.start])
    none, zero = np.empty(0, np.int64), np.empty(0)
    sums = [
        Sum(np.concatenate([none, *w]), np.concatenate([zero, *v]), float(base))
        for w, v, base in zip(where, values, network.base, strict=True)
    ]
    return (sums, *network.extremes(radius))


def _signs(last: Affine) -> Floats:
    """How the margin depends on each feature."""
    found: Floats = np.sign(last.weight[0])
    return found


def _at(signs: Floats | None, k: int) -> float | None:
    return None if signs is None else float(signs[k])


def _relu(made: Builder, inner: Sum, low: float, high: float, *, sign: float | None) -> int:
    """A variable that is ReLU of the sum, or above it where only that matters."""
    if high <= 0 or sign == 0:
        return made.add(0.0, 0.0)
    out = made.add(max(low, 0.0), high)
    below = inner.plus(out, -1.0)  # z - y
    if low >= 0:
        made.row(below, low=0.0, high=0.0)
        return out
    made.row(below, high=0.0)
    if sign is None or sign < 0:
        on = made.binary()
        made.row(below.plus(on, low), low=low)  # y <= z - l (1 - a)
        made.row(Sum(np.array([out, on]), np.array([1.0, -high])), high=0.0)  # y <= u a
    return out


def _pooled(
    made: Builder, sums: list[Sum], low: Floats, high: Floats, *, windows: int, signs: Floats | None
) -> list[int]:
    """A variable for each feature: the maximum of zero and of its windows."""
    features = len(sums) // windows
    lows, highs = low.reshape(windows, features), high.reshape(windows, features)
    found = []
    for k in range(features):
        floor = max(0.0, float(lows[:, k].max()))  # the feature is at least that
        rivals = np.flatnonzero(highs[:, k] > floor)
        ceiling = max(floor, float(highs[:, k].max()))
        out = made.add(floor, ceiling)
        found.append(out)
        sign = _at(signs, k)
        for w in rivals:
            made.row(sums[w * features + k].plus(out, -1.0), high=0.0)
        if len(rivals) and (sign is None or sign < 0):
            _chosen(made, out, [sums[w * features + k] for w in rivals], lows[rivals, k],
                    floor=floor, ceiling=ceiling)  # fmt: skip
    return found


def _chosen(
    made: Builder, out: int, rivals: list[Sum], lows: Floats, *, floor: float, ceiling: float
) -> None:
    """The variable is no more than the rival that is chosen, or than the floor."""
    choice = [made.binary() for _ in range(len(rivals) + 1)]
    made.row(Sum(np.array(choice), np.ones(len(choice))), low=1.0, high=1.0)
    for chosen, rival, low in zip(choice, rivals, lows, strict=False):
        slack = ceiling - float(low)  # y <= z + (1 - a)(u - l)
        made.row(rival.plus(out, -1.0).plus(chosen, -slack), low=-slack)
    last = np.array([out, choice[-1]])
    made.row(Sum(last, np.array([1.0, ceiling - floor])), high=ceiling)


def _combined(layer: Affine, k: int, inputs: list[int]) -> Sum:
    return Sum(np.array(inputs, dtype=np.int64), layer.weight[k].copy(), float(layer.bias[k]))


def _ranges(layer: Affine, inputs: list[int], made: Builder) -> tuple[Floats, Floats]:
    low = np.array([made.low[i] for i in inputs])
    high = np.array([made.high[i] for i in inputs])
    middle, half = (low + high) / 2, (high - low) / 2
    centre, spread = layer(middle[None])[0], np.abs(layer.weight) @ half
    return centre - spread, centre + spread
