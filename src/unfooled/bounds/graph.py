"""A network as a list of operations, each of which knows its boxes and its lines.

Values have the shape (batch, ...), what is carried backwards (batch, k, ...) with one row for each of k
wanted bounds. Operations are written so that they work on the last dimensions of both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import (
    Box,
    Curve,
    maximum_above,
    maximum_below,
    maximum_slopes,
    maximum_weights,
    product_above,
    product_below,
    product_box,
)

Slopes = tuple[Tensor, ...]
"""What an operation leaves free: (batch, 1 or k, ...) each."""


class Back(NamedTuple):
    """A lower bound of <weights, output>: <weights, inputs> with these, plus a constant (batch, k)."""

    weights: Sequence[Tensor]
    constant: Tensor | float


class Operation(ABC):
    """One step of a network."""

    @abstractmethod
    def box(self, *inputs: Box) -> Box:
        """Bounds of the output from bounds of the inputs."""

    @abstractmethod
    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        """A linear lower bound of <weights, output> in the inputs, for inputs in these boxes."""

    def slopes(self, *inputs: Box) -> Slopes:
        """Slopes that are good in general for inputs in these boxes; none where nothing is free."""
        return ()


class Entry(ABC):
    """A first step, which reads word vectors: its boxes know about the candidates and the budget."""

    @abstractmethod
    def box(self, region: Region) -> Box:
        """Bounds over a region."""

    @abstractmethod
    def back(self, weights: Tensor) -> Back:
        """<weights, output> as weights (batch, k, words, d) of the word vectors, and a constant."""


@dataclass(frozen=True)
class Node:
    """A step and the numbers of the nodes that it reads; an entry reads none."""

    step: Operation | Entry
    inputs: tuple[int, ...] = ()


@dataclass
class Graph:
    """The nodes of a network, every one after those it reads; the last gives the logits."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, step: Operation | Entry, *inputs: int) -> int:
        """The number of a new node."""
        self.nodes.append(Node(step, inputs))
        return len(self.nodes) - 1


# --- affine steps ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linear(Operation):
    """x W^T + b over the last dimension."""

    weight: Tensor  # (out, in)
    bias: Tensor | None = None  # (out,)

    def box(self, *inputs: Box) -> Box:
        (box,) = inputs
        middle = box.middle @ self.weight.T
        if self.bias is not None:
            middle = middle + self.bias
        spread = (box.upper - box.lower) / 2 @ self.weight.abs().T
        return Box(middle - spread, middle + spread)

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        constant: Tensor | float = 0.0
        if self.bias is not None:
            constant = (weights * self.bias).flatten(2).sum(dim=2)
        return Back([weights @ self.weight], constant)


@dataclass(frozen=True)
class Rescale(Operation):
    """scale * x + shift, element by element, with a row for each text (or one for all)."""

    scale: Tensor  # (batch or 1, ...)
    shift: Tensor | None = None

    def box(self, *inputs: Box) -> Box:
        (box,) = inputs
        ends = self.scale * box.lower, self.scale * box.upper
        low, high = ends[0].minimum(ends[1]), ends[0].maximum(ends[1])
        return Box(low, high) if self.shift is None else Box(low + self.shift, high + self.shift)

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        constant: Tensor | float = 0.0
        if self.shift is not None:
            constant = (weights * self.shift.unsqueeze(1)).flatten(2).sum(dim=2)
        return Back([weights * self.scale.unsqueeze(1)], constant)


@dataclass(frozen=True)
class Rearrange(Operation):
    """A linear map of zeros and ones (a slice, a copy, a sum), given with its transpose."""

    forward: Callable[[Tensor], Tensor]
    transpose: Callable[[Tensor], Tensor]

    def box(self, *inputs: Box) -> Box:
        (box,) = inputs
        return Box(self.forward(box.lower), self.forward(box.upper))

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        return Back([self.transpose(weights)], 0.0)


@dataclass(frozen=True)
class Sum(Operation):
    """The sum of inputs of one shape."""

    def box(self, *inputs: Box) -> Box:
        low, high = inputs[0]
        for box in inputs[1:]:
            low, high = low + box.lower, high + box.upper
        return Box(low, high)

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        return Back([weights] * len(inputs), 0.0)


@dataclass(frozen=True)
class Stack(Operation):
    """Inputs (batch, units) as one (batch, words, units)."""

    def box(self, *inputs: Box) -> Box:
        return Box(*(torch.stack(ends, dim=-2) for ends in zip(*inputs, strict=True)))

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        return Back(weights.unbind(dim=-2), 0.0)


@dataclass(frozen=True)
class Join(Operation):
    """Inputs one after the other in the last dimension."""

    sizes: tuple[int, ...]

    def box(self, *inputs: Box) -> Box:
        return Box(*(torch.cat(ends, dim=-1) for ends in zip(*inputs, strict=True)))

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        return Back(torch.split(weights, list(self.sizes), dim=-1), 0.0)


# --- steps that are relaxed -----------------------------------------------------------------------


@dataclass(frozen=True)
class Bend(Operation):
    """A curve, element by element. Free: the slopes of the lines below and above, if not chords."""

    curve: Curve

    def box(self, *inputs: Box) -> Box:
        return self.curve.box(inputs[0])

    def slopes(self, *inputs: Box) -> Slopes:
        wide = _rows(inputs[0])
        found = []
        if not self.curve.chord_below:
            found.append(self.curve.best_below(wide))
        if not self.curve.chord_above:
            found.append(self.curve.best_above(wide))
        return tuple(found)

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        box, free = _rows(inputs[0]), iter(slopes)
        below = self.curve.chord(box) if self.curve.chord_below else next(free)
        above = self.curve.chord(box) if self.curve.chord_above else next(free)
        up, down = weights.clamp(min=0.0), weights.clamp(max=0.0)
        constant = up * self.curve.below(below, box) + down * self.curve.above(above, box)
        return Back([up * below + down * above], constant.flatten(2).sum(dim=2))


@dataclass(frozen=True)
class Product(Operation):
    """The product of two inputs. Free: where between McCormick's planes, below and above."""

    def box(self, *inputs: Box) -> Box:
        one, two = inputs
        return product_box(one, two)

    def slopes(self, *inputs: Box) -> Slopes:
        half = (inputs[0].lower * inputs[1].lower).mul(0.0).add(0.5).unsqueeze(1)
        return half, half.clone()

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        one, two = map(_rows, inputs)
        below = product_below(slopes[0], one, two)
        above = product_above(slopes[1], one, two)
        up, down = weights.clamp(min=0.0), weights.clamp(max=0.0)
        constant = (up * below.intercept + down * above.intercept).flatten(2).sum(dim=2)
        first = up * below.first + down * above.first
        return Back([first, up * below.second + down * above.second], constant)


@dataclass(frozen=True)
class Highest(Operation):
    """The maximum over words (..., words, units) of a text. Free: shares below, slopes above."""

    allowed: Tensor  # (batch, words, 1): 1 on words, 0 on padding

    def _real(self, box: Box) -> Box:
        """The boxes with padding below every word, where it can win nothing."""
        padding = self.allowed == 0
        least = box.lower.masked_fill(padding, float("inf")).amin(dim=-2, keepdim=True) - 1
        lower, upper = (part.where(~padding, least) for part in box)
        return Box(lower, upper)

    def box(self, *inputs: Box) -> Box:
        box = self._real(inputs[0])
        return Box(box.lower.amax(dim=-2), box.upper.amax(dim=-2))

    def slopes(self, *inputs: Box) -> Slopes:
        box = _rows(self._real(inputs[0]))
        return maximum_weights(box, dim=-2), maximum_slopes(box, dim=-2)

    def back(self, weights: Tensor, slopes: Slopes, *inputs: Box) -> Back:
        box, allowed = _rows(self._real(inputs[0])), self.allowed.unsqueeze(1)
        below = maximum_below(slopes[0], allowed.expand_as(box.lower), dim=-2)
        above = slopes[1].clamp(0.0, 1.0) * allowed
        up, down = weights.clamp(min=0.0), weights.clamp(max=0.0)
        constant = (down * maximum_above(above, box, dim=-2)).flatten(2).sum(dim=2)
        found = up.unsqueeze(-2) * below + down.unsqueeze(-2) * above
        return Back([found], constant)


def _rows(box: Box) -> Box:
    """A box with a dimension for the k wanted bounds."""
    return Box(box.lower.unsqueeze(1), box.upper.unsqueeze(1))
