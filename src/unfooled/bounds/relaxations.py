"""Lines above and below curves, products and maxima, on a box: any slopes, the best intercepts.

Every relaxation here is sound for any slopes whatever, because the intercept that belongs to them is
computed exactly: the least (or greatest) difference between the function and the slopes over the box.
Slopes can therefore be chosen by rule, by gradient, or read from a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

_GRID = (0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 1.0)  # where tangents are tried, from l to u
_TINY = 1e-9  # a narrower interval has no chord worth computing
_HALVINGS = 32  # the intercept's error is the square of that of the point


class Box(NamedTuple):
    """Lower and upper bounds of an array of values."""

    lower: Tensor
    upper: Tensor

    @property
    def middle(self) -> Tensor:
        return (self.lower + self.upper) / 2


@dataclass(frozen=True)
class Curve:
    """A function of one number, and where its slope is what."""

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]
    level: Callable[[Tensor, Box], list[Tensor]]
    """All points within the box where the slope is as given, and kinks; others do no harm."""
    chord_below: bool = False  # concave: no line from below is better than the chord
    chord_above: bool = False  # convex

    def box(self, box: Box) -> Box:
        """The exact range of the function."""
        values = self.value(self._extremes(torch.zeros_like(box.lower), box))
        return Box(values.amin(dim=0), values.amax(dim=0))

    def chord(self, box: Box) -> Tensor:
        """The slope of the chord; of the tangent where the interval is too small for one."""
        width = box.upper - box.lower
        rise = self.value(box.upper) - self.value(box.lower)
        return torch.where(width > _TINY, rise / width.clamp(min=_TINY), self._tangent(box.middle))

    def below(self, slope: Tensor, box: Box) -> Tensor:
        """The greatest intercept with which a line of this slope stays below the function."""
        points = self._extremes(slope, box)
        return (self.value(points) - slope * points).amin(dim=0)

    def above(self, slope: Tensor, box: Box) -> Tensor:
        """The least intercept with which a line of this slope stays above the function."""
        points = self._extremes(slope, box)
        return (self.value(points) - slope * points).amax(dim=0)

    def best_below(self, box: Box) -> Tensor:
        """The slope of a line below that is highest in the middle, of the chord and some tangents."""
        if self.chord_below:
            return self.chord(box)
        return self._best(box, below=True)

    def best_above(self, box: Box) -> Tensor:
        """The slope of a line above that is lowest in the middle, of the chord and some tangents."""
        if self.chord_above:
            return self.chord(box)
        return self._best(box, below=False)

    def _best(self, box: Box, *, below: bool) -> Tensor:
        width = box.upper - box.lower
        tangents = [self._tangent(box.lower + t * width) for t in _GRID]
        slopes = torch.stack([self.chord(box), *tangents])
        wide = Box(box.lower.expand_as(slopes), box.upper.expand_as(slopes))
        intercepts = (self.below if below else self.above)(slopes, wide)
        there = slopes * box.middle + intercepts
        best = _first_highest(there if below else -there, dim=0)
        return slopes.gather(0, best)[0]

    def _tangent(self, point: Tensor) -> Tensor:
        return self.slope(point).nan_to_num(nan=0.0, posinf=1e6, neginf=-1e6)

    def _extremes(self, slope: Tensor, box: Box) -> Tensor:
        """(points, ...): the function minus a line of this slope is least and greatest at some of them."""
        lower, upper = box.lower.expand_as(slope), box.upper.expand_as(slope)
        with (
            torch.no_grad()
        ):  # where the difference is extreme, its derivative by the point is zero
            found = [
                torch.minimum(torch.maximum(p.nan_to_num(nan=0.0), lower), upper)
                for p in self.level(slope, Box(lower, upper))
            ]
        return torch.stack([lower, upper, *found])


def _sigmoid_level(slope: Tensor, box: Box) -> list[Tensor]:
    root = (1 - 4 * slope).clamp(min=0.0).sqrt()
    point = ((1 + root) / (1 - root)).log()  # the slope is s(1 - s)
    return [point, -point]


def _tanh_level(slope: Tensor, box: Box) -> list[Tensor]:
    point = torch.atanh((1 - slope).clamp(0.0, 1.0).sqrt())
    return [point, -point]


def _gelu(z: Tensor) -> Tensor:
    return torch.nn.functional.gelu(z)


def _gelu_slope(z: Tensor) -> Tensor:
    density = torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    slope: Tensor = torch.special.ndtr(z) + z * density
    return slope


def _gelu_level(slope: Tensor, box: Box) -> list[Tensor]:
    """One point in each stretch where the slope is monotone: it turns at the square roots of 2."""
    turns = [torch.full_like(slope, t) for t in (-math.inf, -math.sqrt(2), math.sqrt(2), math.inf)]
    found = []
    for start, stop, sign in zip(turns, turns[1:], (-1.0, 1.0, -1.0), strict=False):
        low = torch.minimum(torch.maximum(start, box.lower), box.upper)
        high = torch.minimum(torch.maximum(stop, box.lower), box.upper)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            less = sign * (_gelu_slope(middle) - slope) < 0
            low, high = torch.where(less, middle, low), torch.where(less, high, middle)
        found.append((low + high) / 2)
    return found


def _kink(slope: Tensor, box: Box) -> list[Tensor]:
    return [torch.zeros_like(slope)]


RELU = Curve(torch.relu, lambda z: (z > 0).to(z.dtype), _kink, chord_above=True)
ABSOLUTE = Curve(torch.abs, torch.sign, _kink, chord_above=True)
SIGMOID = Curve(torch.sigmoid, lambda z: torch.sigmoid(z) * (1 - torch.sigmoid(z)), _sigmoid_level)
TANH = Curve(torch.tanh, lambda z: 1 - torch.tanh(z) ** 2, _tanh_level)
GELU = Curve(_gelu, _gelu_slope, _gelu_level)
EXP = Curve(torch.exp, torch.exp, lambda a, _: [a.log()], chord_above=True)
SQUARE = Curve(torch.square, lambda z: 2 * z, lambda a, _: [a / 2], chord_above=True)
# On positive numbers alone: elsewhere nothing is known, which is what not-a-number says.
RECIPROCAL = Curve(
    lambda z: torch.where(z > 0, 1 / z, torch.nan),
    lambda z: -1 / (z * z),
    lambda a, _: [(-a).rsqrt()],
    chord_above=True,
)
ROOT = Curve(
    lambda z: torch.where(z >= 0, z.sqrt(), torch.nan),
    lambda z: 0.5 * z.rsqrt(),
    lambda a, _: [(0.25 / (a * a)).masked_fill(a <= 0, math.inf)],
    chord_below=True,
)
CURVES = {
    "relu": RELU,
    "absolute": ABSOLUTE,
    "sigmoid": SIGMOID,
    "tanh": TANH,
    "gelu": GELU,
    "exp": EXP,
    "square": SQUARE,
    "reciprocal": RECIPROCAL,
    "root": ROOT,
}


def _first_highest(values: Tensor, *, dim: int) -> Tensor:
    """The first index along `dim` that is highest but for rounding, kept as a dimension.

    Rounding differs between batches, and a choice must not.
    """
    top = values.amax(dim=dim, keepdim=True)
    near = values >= top - 1e-10 * top.abs().clamp(min=1.0)
    return near.to(torch.int8).argmax(dim=dim, keepdim=True)


# --- products -----------------------------------------------------------------------------------


def corners(one: Box, two: Box) -> list[tuple[Tensor, Tensor]]:
    """The four corners of a box of two numbers."""
    return [(a, b) for a in one for b in two]


def product_box(one: Box, two: Box) -> Box:
    """The exact range of a product."""
    values = torch.stack([a * b for a, b in corners(one, two)])
    return Box(values.amin(dim=0), values.amax(dim=0))


class Plane(NamedTuple):
    """first * x + second * y + intercept."""

    first: Tensor
    second: Tensor
    intercept: Tensor


def product_below(mix: Tensor, one: Box, two: Box) -> Plane:
    """A plane below x * y, between McCormick's two: `mix` 0 touches at the low corner, 1 at the high."""
    first = two.lower + mix * (two.upper - two.lower)
    second = one.lower + mix * (one.upper - one.lower)
    gaps = [a * b - first * a - second * b for a, b in corners(one, two)]
    return Plane(first, second, torch.stack(gaps).amin(dim=0))


def product_above(mix: Tensor, one: Box, two: Box) -> Plane:
    """A plane above x * y, between McCormick's two: `mix` 0 is b_l x + a_u y, 1 is b_u x + a_l y."""
    first = two.lower + mix * (two.upper - two.lower)
    second = one.upper - mix * (one.upper - one.lower)
    gaps = [a * b - first * a - second * b for a, b in corners(one, two)]
    return Plane(first, second, torch.stack(gaps).amax(dim=0))


# --- maxima -------------------------------------------------------------------------------------


def maximum_below(weights: Tensor, allowed: Tensor, *, dim: int) -> Tensor:
    """Slopes of a line through the origin below the maximum over `dim`: weights made shares.

    Only numbers that are `allowed` (1, others 0) take part in the maximum.
    """
    weights = weights.clamp(min=0.0) * allowed
    total = weights.sum(dim=dim, keepdim=True)
    even = allowed / allowed.sum(dim=dim, keepdim=True)
    return torch.where(total > 0, weights / total.clamp(min=1e-300), even)


def maximum_above(slopes: Tensor, box: Box, *, dim: int) -> Tensor:
    """The least intercept of a line with slopes in [0, 1] above the maximum over `dim`.

    The difference is greatest where one of the numbers is highest and all others are lowest.
    """
    high = slopes * box.lower + (1 - slopes) * box.upper
    return high.amax(dim=dim) - (slopes * box.lower).sum(dim=dim)


def maximum_weights(box: Box, *, dim: int) -> Tensor:
    """Weights for a line below: all on the number with the highest lower bound."""
    best = _first_highest(box.lower, dim=dim)
    return torch.zeros_like(box.lower).scatter(dim, best, 1.0)


def maximum_slopes(box: Box, *, dim: int) -> Tensor:
    """Slopes for a line above: constant, one chord or all chords, whichever is lowest in the middle."""
    floor = box.lower.amax(dim=dim, keepdim=True)
    chords = (box.upper - floor) / (box.upper - box.lower).clamp(min=_TINY)
    chords = chords.clamp(0.0, 1.0)
    best = _first_highest(box.upper, dim=dim)
    single = torch.zeros_like(chords).scatter(dim, best, 1.0)
    others = box.upper.scatter(dim, best, -math.inf).amax(dim=dim, keepdim=True)
    top = torch.maximum(others, floor)
    single = single * ((box.upper - top) / (box.upper - box.lower).clamp(min=_TINY)).clamp(0.0, 1.0)
    options = torch.stack([torch.zeros_like(chords), single, chords])
    there = torch.stack(
        [(s * box.middle).sum(dim=dim) + maximum_above(s, box, dim=dim) for s in options]
    )
    chosen = _first_highest(-there, dim=0).unsqueeze(dim if dim < 0 else dim + 1)
    return options.gather(0, chosen.expand(1, *chords.shape))[0]
