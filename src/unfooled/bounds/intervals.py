"""Interval propagation: a box for every node of a graph."""

from __future__ import annotations

from torch import Tensor

from unfooled.bounds.graph import Entry, Graph, Linear
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import Box


def boxes(graph: Graph, region: Region) -> list[Box]:
    """Bounds of every node over the region."""
    found: list[Box] = []
    for step, inputs in ((node.step, node.inputs) for node in graph.nodes):
        if isinstance(step, Entry):
            found.append(step.box(region))
        else:
            found.append(step.box(*(found[i] for i in inputs)))
    return found


def lowest(graph: Graph, found: list[Box], weights: Tensor) -> Tensor:
    """(batch, k): lower bounds of <weights, logits>, weights (batch, k, classes), from boxes.

    Differences of logits are formed before boxing, so what they share cancels.
    """
    last = graph.nodes[-1]
    if not isinstance(last.step, Linear):
        return _over(found[-1], weights)
    (before,) = last.inputs
    (carried,), constant = last.step.back(weights, (), found[before])
    return _over(found[before], carried) + constant


def _over(box: Box, weights: Tensor) -> Tensor:
    lower, upper = box.lower.unsqueeze(1), box.upper.unsqueeze(1)
    ends = weights.clamp(min=0.0) * lower + weights.clamp(max=0.0) * upper
    return ends.flatten(2).sum(dim=2)
