"""Backward linear bounds (CROWN, Zhang et al. 2018): what a score is at least, as a function of words.

From the output back to the word vectors, every step is replaced by the line that bounds it on the side
that matters; what is left is linear in the words, and its least value over a region is exact.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unfooled.bounds.graph import Entry, Graph, Operation, Slopes
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import Box

_ROWS = 2**24  # numbers of one array carried backwards: 128 MB
_WIDEST = 4096  # nodes with more numbers keep the box they have
_ROUNDING = 1e-14  # of the parts of a sum: a hundred times that of one float64 operation


def default_slopes(graph: Graph, found: list[Box]) -> dict[int, Slopes]:
    """Slopes by rule for every node that has any to choose."""
    chosen: dict[int, Slopes] = {}
    for number, node in enumerate(graph.nodes):
        if isinstance(node.step, Operation):
            free = node.step.slopes(*(found[i] for i in node.inputs))
            if free:
                chosen[number] = free
    return chosen


def lower_bounds(
    graph: Graph,
    region: Region,
    *,
    found: list[Box],
    slopes: Mapping[int, Slopes],
    weights: Tensor,
    of: int | None = None,
) -> Tensor:
    """(batch, k): lower bounds of <weights, node>, the logits unless `of` says another node.

    Less what rounding may have added: slopes far from the curve cancel in exact arithmetic alone.
    """
    last = len(graph.nodes) - 1 if of is None else of
    carried: dict[int, Tensor] = {last: weights}
    total: Tensor | float = 0.0
    for number in range(last, -1, -1):
        here = carried.pop(number, None)
        if here is None:
            continue
        step, inputs = graph.nodes[number].step, graph.nodes[number].inputs
        total = total - _ROUNDING * _size(here, found[number])
        if isinstance(step, Entry):
            (at_words,), constant = step.back(here)
            words = region.base.shape[1]
            if at_words.shape[2] != words:  # a map of more words than any text here has, or of one
                at_words = at_words[:, :, :words].expand(-1, -1, words, -1)
            total = total + constant
            carried[-1] = at_words + carried[-1] if -1 in carried else at_words
            continue
        passed, constant = step.back(here, slopes.get(number, ()), *(found[i] for i in inputs))
        total = total + constant
        for parent, part in zip(inputs, passed, strict=True):
            carried[parent] = carried[parent] + part if parent in carried else part
    bound = region.minimum(carried[-1]) + total
    return bound.nan_to_num(nan=-torch.inf, posinf=-torch.inf, neginf=-torch.inf)


def _size(weights: Tensor, box: Box) -> Tensor:
    """(batch, k): how large the parts of <weights, node> can be."""
    largest = torch.maximum(box.lower.abs(), box.upper.abs()).unsqueeze(1)
    return (weights.abs() * largest).flatten(2).sum(dim=2)


def tightened(graph: Graph, region: Region, found: list[Box]) -> list[Box]:
    """The boxes with those that lines are drawn on bounded by full backward passes."""
    tight = list(found)
    for number, node in enumerate(graph.nodes):
        step = node.step
        if isinstance(step, Entry):
            continue
        if step.slopes(*(tight[i] for i in node.inputs)):
            for parent in node.inputs:
                size = tight[parent].lower[0].numel()
                if size <= _WIDEST and not isinstance(graph.nodes[parent].step, Entry):
                    tight[parent] = _tightened(graph, region, tight, parent)
        tight[number] = _met(tight[number], step.box(*(tight[i] for i in node.inputs)))
    return tight


def _tightened(graph: Graph, region: Region, found: list[Box], of: int) -> Box:
    """The box of one node, by a backward pass for each of its numbers."""
    shape = found[of].lower.shape[1:]
    size = shape.numel()
    slopes = default_slopes(Graph(graph.nodes[: of + 1]), found)
    lows, highs = [], []
    chunk = max(1, _ROWS // max(1, len(region) * size))
    for start in range(0, size, chunk):
        kept = torch.eye(size, dtype=torch.float64)[start : start + chunk]
        unit = kept.reshape(1, -1, *shape).expand(len(region), -1, *shape)
        ask = {"found": found, "slopes": slopes, "of": of}
        lows.append(lower_bounds(graph, region, weights=unit, **ask))  # type: ignore[arg-type]
        highs.append(-lower_bounds(graph, region, weights=-unit, **ask))  # type: ignore[arg-type]
    low = torch.cat(lows, dim=1).reshape(len(region), *shape)
    high = torch.cat(highs, dim=1).reshape(len(region), *shape)
    return _met(found[of], Box(low, high))


def _met(one: Box, two: Box) -> Box:
    """What two boxes of the same values have in common."""
    low, high = torch.maximum(one.lower, two.lower), torch.minimum(one.upper, two.upper)
    return Box(torch.minimum(low, high), torch.maximum(low, high))  # rounding may cross them
