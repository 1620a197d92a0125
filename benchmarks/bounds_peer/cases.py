"""Random small networks and boxes around random texts: what both sides bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLASSES = 3


@dataclass(frozen=True)
class Layer:
    """The weight and the bias of an affine layer, as torch keeps them."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True)
class Case:
    """A network of a family and a box: every number of every word vector moves by itself.

    `layers` are in the order of the network, the last gives the logits. Of `cnn` and `convolution`
    the first has the weight (filters, d, 3) of a convolution over words, of `lstm` the first two
    read a word and the state.
    """

    family: str
    layers: tuple[Layer, ...]
    lower: Floats  # (words, d)
    upper: Floats

    @property
    def words(self) -> int:
        return self.lower.shape[0]

    @property
    def dimensions(self) -> int:
        return self.lower.shape[1]

    @property
    def middle(self) -> Floats:
        return (self.lower + self.upper) / 2

    def message(self) -> dict[str, Any]:
        """It as JSON values; they keep every bit."""
        layers = [[layer.weight.tolist(), layer.bias.tolist()] for layer in self.layers]
        box = {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
        return {"family": self.family, "layers": layers, **box}


@dataclass(frozen=True)
class Sizes:
    """How large a network is."""

    words: int
    dimensions: int
    units: int
    layers: int  # with a curve


Shapes = list[tuple[int, ...]]


def _dense(sizes: Sizes, *, inputs: int) -> Shapes:
    hidden = [(sizes.units, sizes.units)] * (sizes.layers - 1)
    return [(sizes.units, inputs), *hidden, (CLASSES, sizes.units)]


def _flat(sizes: Sizes) -> Shapes:
    return _dense(sizes, inputs=sizes.words * sizes.dimensions)


def _mean(sizes: Sizes) -> Shapes:
    return _dense(sizes, inputs=sizes.dimensions)


def _windows(sizes: Sizes) -> Shapes:
    answers = sizes.units * sizes.words
    return [(sizes.units, sizes.dimensions, 3), (sizes.units, answers), (CLASSES, sizes.units)]


def _strongest(sizes: Sizes) -> Shapes:
    return [(sizes.units, sizes.dimensions, 3), (CLASSES, sizes.units)]


def _gates(sizes: Sizes) -> Shapes:
    gates = 4 * sizes.units
    return [(gates, sizes.dimensions), (gates, sizes.units), (CLASSES, sizes.units)]


FAMILIES: dict[str, Callable[[Sizes], Shapes]] = {
    "mlp": _flat,
    "dan": _mean,
    "tanh": _flat,
    "sigmoid": _flat,
    "convolution": _windows,
    "cnn": _strongest,
    "lstm": _gates,
}
"""ReLU networks of all words and of their mean, the first with other curves, a convolution with ReLU
and two affine layers, a convolution with the maximum over words, an LSTM: and the shapes of their weights."""


def draw(family: str, rng: Generator) -> Case:
    """A case with one to five words of one or two numbers, so that its corners can be listed.

    Weights and boxes are large in some and small in others; a fifth of the numbers does not move.
    """
    words, dimensions = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    sizes = Sizes(words, dimensions, int(rng.integers(2, 9)), int(rng.integers(1, 4)))
    scale = float(rng.choice([0.5, 1.0, 2.0]))
    layers = []
    for shape in FAMILIES[family](sizes):
        weight = rng.normal(size=shape) * scale * np.sqrt(2 / np.prod(shape[1:]))
        layers.append(Layer(weight, rng.normal(size=shape[0]) * 0.3))
    middle = rng.normal(size=(words, dimensions))
    reach = 10 ** rng.uniform(-2, 0.3) * rng.uniform(0.2, 1, size=middle.shape)
    reach = np.where(rng.random(middle.shape) < 0.2, 0.0, reach)
    return Case(family, tuple(layers), middle - reach, middle + reach)


def cases(family: str, *, count: int, seed: int) -> list[Case]:
    """The first cases of a family: more of them begin with the same ones."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    return list(islice(_endless(family, rng), count))


def _endless(family: str, rng: Generator) -> Iterator[Case]:
    while True:
        yield draw(family, rng)
