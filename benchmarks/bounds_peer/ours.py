"""Our side: the bounds of a case, and the least values that were found inside its box.

A box is a region of ours in which every word has the corners of its own box as candidates and all words
may be swapped: what is linear in the words has the same extremes over both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import product

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from benchmarks.bounds_peer.cases import CLASSES, Case, Floats, Layer
from unfooled.ascent import optimised
from unfooled.bounds import linear
from unfooled.bounds.entries import Flat, Windows
from unfooled.bounds.graph import Bend, Graph, Linear, Rearrange
from unfooled.bounds.intervals import boxes, lowest
from unfooled.bounds.margins import METHODS, Method, differences, margins
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import RELU, SIGMOID, TANH
from unfooled.models.config import ModelConfig
from unfooled.models.networks import Network, build

CURVES = {"tanh": TANH, "sigmoid": SIGMOID, "convolution": RELU}
"""Families that no word network of ours is in: their graphs are put together here."""
_FIRST = {"mlp": "affine.{}", "dan": "affine.{}", "cnn": "filters.{}"}

ROUNDS = 25  # of gradient descent
STARTS = 4  # for each difference of logits
SAMPLES = 256


def bounds(case: Case, *, skip: Collection[str] = ()) -> dict[str, Floats]:
    """Lower bounds of the differences of two logits, every ordered pair of classes, by each method."""
    find = _by_hand if case.family in CURVES else _through_the_door
    return {method: find(case, method).numpy() for method in METHODS if method not in skip}


def middle(case: Case) -> Floats:
    """The differences of logits in the middle of the box."""
    found: Floats = (forward(case)(torch.from_numpy(case.middle)[None]) @ _pairs()[0].T)[0].numpy()
    return found


def region(case: Case, *, batch: int = 1) -> Region:
    """The box, so many times."""
    middle = torch.from_numpy(case.middle)
    ends = np.stack([case.lower, case.upper])
    corners = [
        [[ends[side, word, i] for i, side in enumerate(sides)] for word in range(case.words)]
        for sides in product((0, 1), repeat=case.dimensions)
    ]
    points = torch.tensor(corners, dtype=torch.float64).transpose(0, 1) - middle.unsqueeze(1)
    words = torch.arange(case.words).unsqueeze(0)
    return Region(
        middle.repeat(batch, 1, 1),
        torch.ones(batch, case.words, dtype=torch.bool),
        words,
        points.unsqueeze(0),
        torch.ones(1, *points.shape[:2], dtype=torch.bool),
        torch.full((batch,), case.words),
    )


def network(case: Case) -> Network:
    """The word network with the weights of the case."""
    gates, last = case.family == "lstm", len(case.layers) - 1
    config = ModelConfig(
        case.family,
        entries=2,
        classes=CLASSES,
        dimensions=case.dimensions,
        units=case.layers[-1].weight.shape[1],
        max_words=case.words,
        layers=1 if gates else last,
    )
    made = build(config).double().eval().requires_grad_(False)
    names = ["lstm.{}_ih_l0", "lstm.{}_hh_l0"]
    if not gates:
        names = [_FIRST[case.family], *(f"hidden.{i}.{{}}" for i in range(last - 1))]
    state = {"embedding.weight": made.embedding.weight}
    for name, layer in zip([*names, "output.{}"], case.layers, strict=True):
        state[name.format("weight")] = torch.from_numpy(layer.weight)
        state[name.format("bias")] = torch.from_numpy(layer.bias)
    made.load_state_dict(state)
    return made


def forward(case: Case) -> Callable[[Tensor], Tensor]:
    """The function that is bounded: from texts (n, words, d) to logits (n, classes)."""
    if case.family not in CURVES:
        made = network(case)
        return lambda texts: made.classify(made.encode(texts, torch.ones(texts.shape[:2]).bool()))
    weights = [_tensors(layer) for layer in case.layers]
    curve = CURVES[case.family].value

    def value(texts: Tensor) -> Tensor:
        (weight, bias), *rest = weights
        if case.family == "convolution":
            found = torch.conv1d(texts.transpose(1, 2), weight, bias, padding=1).flatten(1)
        else:
            found = texts.flatten(1) @ weight.T + bias
        for weight, bias in rest:
            found = curve(found) @ weight.T + bias
        return found

    return value


def least(case: Case, rng: Generator) -> Floats:
    """The least values that were found in the box: at its corners, inside, and going downhill."""
    value, weights = forward(case), _pairs()[0]
    low, high = torch.from_numpy(case.lower), torch.from_numpy(case.upper)
    inside = torch.from_numpy(rng.random((SAMPLES, *case.lower.shape)))
    texts = torch.cat([_corners(low, high), low + inside * (high - low), (low + high)[None] / 2])
    with torch.no_grad():
        found = value(texts) @ weights.T  # (texts, pairs)
    best = found.amin(dim=0)
    starts = texts[found.topk(min(STARTS, len(texts)), dim=0, largest=False).indices]
    now, pairs = starts.flatten(0, 1), weights.repeat(len(starts), 1)
    for round_ in range(ROUNDS):
        now = now.detach().requires_grad_()
        leads = (value(now) * pairs).sum(dim=1)
        best = torch.minimum(best, leads.detach().reshape(-1, len(weights)).amin(dim=0))
        (slope,) = torch.autograd.grad(leads.sum(), now)
        step = 0.5 * 0.8**round_ * (high - low)
        now = torch.minimum(torch.maximum(now - step * slope.sign(), low), high)
    return best.numpy()


def _corners(low: Tensor, high: Tensor) -> Tensor:
    """Every corner of the box: there are at most 2^10."""
    sides = torch.cartesian_prod(*[torch.tensor([False, True])] * low.numel())
    return torch.where(sides.reshape(-1, *low.shape), high, low)


def _through_the_door(case: Case, method: Method) -> Tensor:
    """As a certifier asks: the margins of each label over the others."""
    labels = range(CLASSES)
    found = margins(
        network(case),
        region(case, batch=CLASSES),
        labels=list(labels),
        method=method,
        ascend=optimised,
    )
    return found.lower[~torch.eye(CLASSES, dtype=torch.bool)]


def _by_hand(case: Case, method: Method) -> Tensor:
    """The same steps on a graph that no network of ours has."""
    box, graph, weights = region(case), _graph(case), _pairs()
    with torch.no_grad():
        found = boxes(graph, box)
        plain = lowest(graph, found, weights)
        if method == "intervals":
            return plain[0]
        if method == "crown":
            found = linear.tightened(graph, box, found)
        slopes = linear.default_slopes(graph, found)
        ask = {"found": found, "weights": weights}
        if method == "optimised":
            slopes = optimised(graph, box, slopes=slopes, **ask)
        return torch.maximum(linear.lower_bounds(graph, box, slopes=slopes, **ask), plain)[0]


def _pairs() -> Tensor:
    """(1, pairs, classes): the weights of logit[label] - logit[k], label by label."""
    return differences(torch.arange(CLASSES), CLASSES).flatten(0, 1).unsqueeze(0)


def _graph(case: Case) -> Graph:
    graph, curve = Graph(), CURVES[case.family]
    (weight, bias), *rest = map(_tensors, case.layers)
    if case.family == "convolution":
        shape = (len(bias), case.words)
        number = graph.add(Bend(curve), graph.add(Windows(weight.permute(2, 1, 0), bias)))
        turned = Rearrange(
            lambda x: x.transpose(-1, -2).flatten(-2),
            lambda w: w.unflatten(-1, shape).transpose(-1, -2),
        )
        number = graph.add(turned, number)
    else:
        by_word = weight.T.reshape(case.words, case.dimensions, -1)
        number = graph.add(Bend(curve), graph.add(Flat(by_word, bias)))
    for weight, bias in rest[:-1]:
        number = graph.add(Bend(curve), graph.add(Linear(weight, bias), number))
    graph.add(Linear(*rest[-1]), number)
    return graph


def _tensors(layer: Layer) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(layer.weight), torch.from_numpy(layer.bias)
