"""Ascent: slopes of linear bounds, improved by gradient. Any are sound; a certificate keeps those found."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unfooled.bounds.graph import Graph, Slopes
from unfooled.bounds.linear import lower_bounds
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import Box

STEPS = 20
_RATE = 0.1  # of Adam
_STILL = 1e-6  # gradients much smaller than this are rounding, and move nothing
_DIGITS = 6  # of a slope that was searched for: a certificate holds it in full


def optimised(
    graph: Graph,
    region: Region,
    *,
    found: list[Box],
    slopes: Mapping[int, Slopes],
    weights: Tensor,
    steps: int = STEPS,
) -> dict[int, Slopes]:
    """Slopes after so many steps of Adam up the bounds, those that were best for each bound."""
    k = weights.shape[1]
    free = {
        number: tuple(
            part.expand(-1, k, *part.shape[2:]).clone().requires_grad_() for part in parts
        )
        for number, parts in slopes.items()
    }
    leaves = [part for parts in free.values() for part in parts]
    if not leaves:
        return dict(slopes)
    adam = torch.optim.Adam(leaves, lr=_RATE, eps=_STILL, maximize=True)
    best = [part.detach().clone() for part in leaves]
    highest = torch.full(weights.shape[:2], -torch.inf, dtype=torch.float64)
    for step in range(steps + 1):
        with torch.enable_grad():
            bound = lower_bounds(graph, region, found=found, slopes=free, weights=weights)
            reach = bound.masked_fill(~bound.isfinite(), 0.0).sum()
        better = bound.detach() > highest
        highest = torch.where(better, bound.detach(), highest)
        for kept, part in zip(best, leaves, strict=True):
            rows = better.reshape(*better.shape, *(1,) * (part.dim() - 2))
            kept.copy_(torch.where(rows, part.detach(), kept))
        if step < steps and reach.requires_grad:
            adam.zero_grad()
            reach.backward()  # type: ignore[no-untyped-call]
            for part in leaves:
                if part.grad is not None:
                    part.grad.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
            adam.step()
    rest = iter(best)
    return {number: tuple(_stored(next(rest)) for _ in parts) for number, parts in free.items()}


def _stored(slopes: Tensor) -> Tensor:
    """Slopes with few digits; where that overflows, and where there is none, a finite one is as sound."""
    return slopes.round(decimals=_DIGITS).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
