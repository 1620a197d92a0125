"""An LSTM, word by word, as steps that can be bounded (POPQORN, Ko et al. 2019, with planes of McCormick)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from unfooled.bounds.entries import Windows
from unfooled.bounds.graph import Bend, Graph, Linear, Product, Rearrange, Sum
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import SIGMOID, TANH
from unfooled.models.recurrent import reverse as turned


def unrolled(lstm: nn.LSTM, graph: Graph, region: Region, *, reverse: bool) -> list[int]:
    """The node of the state (batch, units) after each word; padding is read after the words."""
    units, words = lstm.hidden_size, region.base.shape[1]
    # Torch has the gates in, forget, cell, out; the three of one curve belong together.
    order = torch.cat([torch.arange(units) + g * units for g in (0, 1, 3, 2)])
    weights = {name: weight.detach()[order] for name, weight in lstm.named_parameters()}
    inward, bias = weights["weight_ih_l0"], weights["bias_ih_l0"] + weights["bias_hh_l0"]
    onward = Linear(weights["weight_hh_l0"])
    reads = graph.add(Windows(inward.T.unsqueeze(0), bias))
    if reverse:
        lengths = region.mask.sum(dim=1)
        reads = graph.add(_reversed(lengths, words), reads)
    states: list[int] = []
    cell = -1
    for word in range(words):
        before = graph.add(word_at(word, words), reads)
        if states:
            before = graph.add(Sum(), before, graph.add(onward, states[-1]))
        cell, state = _step(graph, before, cell, units=units)
        states.append(state)
    return states


def _step(graph: Graph, before: int, cell: int, *, units: int) -> tuple[int, int]:
    """The cell and the state after one word, from its pre-activations; cell -1: there was no word."""
    gates = graph.add(Bend(SIGMOID), graph.add(part(0, 3 * units, 4 * units), before))
    inner = graph.add(Bend(TANH), graph.add(part(3 * units, 4 * units, 4 * units), before))
    enter = graph.add(part(0, units, 3 * units), gates)
    leave = graph.add(part(2 * units, 3 * units, 3 * units), gates)
    new = graph.add(Product(), enter, inner)
    if cell >= 0:
        keep = graph.add(part(units, 2 * units, 3 * units), gates)
        new = graph.add(Sum(), new, graph.add(Product(), keep, cell))
    return new, graph.add(Product(), leave, graph.add(Bend(TANH), new))


def part(start: int, stop: int, size: int) -> Rearrange:
    """Some of the last dimension."""
    return Rearrange(lambda x: x[..., start:stop], lambda w: pad(w, (start, size - stop)))


def word_at(word: int, words: int) -> Rearrange:
    """One word of (..., words, units)."""
    return Rearrange(
        lambda x: x[..., word, :],
        lambda w: pad(w.unsqueeze(-2), (0, 0, word, words - 1 - word)),
    )


def _reversed(lengths: Tensor, words: int) -> Rearrange:
    """The words of each text in reverse order, padding in place: its own transpose."""
    places = torch.arange(words).expand(len(lengths), -1)
    order = turned(places, lengths)

    def swapped(x: Tensor) -> Tensor:
        index = order.reshape(len(order), *(1,) * (x.dim() - 3), words, 1)
        return x.gather(-2, index.expand_as(x))

    return Rearrange(swapped, swapped)
