"""A sweep: every member with exactly so many swaps, region by region, judged as it is computed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from unfooled.counting import ways
from unfooled.errors import VictimError
from unfooled.evidence import NOISE
from unfooled.program import Swept
from unfooled.sweeps.plan import Plan
from unfooled.sweeps.regions import Pick, Region, Regions

_KEPT = 64  # rows in doubt that are spelled out for each region


class Leaves(NamedTuple):
    """The features of the texts of a region, and which swaps each of them has."""

    features: Tensor  # (n, features)
    picks: Callable[[int], list[Pick]]


class Walker(ABC):
    """One network on one text: the features of whole regions at once."""

    least: int = 128  # texts of the first region
    most: int = 4096  # and of later ones
    most_free: int = 1

    @abstractmethod
    def leaves(self, regions: Regions, region: Region) -> Leaves:
        """The features of every text of a region."""


def sweep(
    plan: Plan,
    walker: Walker,
    *,
    label: int,
    swaps: int,
    head: Callable[[Tensor], Tensor],
    limit: int | None,
) -> Iterator[Swept]:
    """Stretches of the members with exactly `swaps` swaps, up to the first that clearly fools.

    `head` makes logits of features. Ends without a complete stretch when the limit is reached.
    """
    regions = Regions(plan.weights, swaps)
    blind, total = plan.blind(swaps), ways(plan.counts, swaps)[swaps]
    seen = blind if limit is None else min(blind, limit)
    yield Swept(seen, 0, complete=seen == total)
    left = None if limit is None else limit - seen
    lowest = math.inf
    for region in regions.walk(
        least=walker.least, most=walker.most, most_free=walker.most_free, limit=left
    ):
        with torch.inference_mode():
            features, picks = walker.leaves(regions, region)
            verdict = judge(head(features), label)
        members = regions.members(region)
        seen += members
        lower = verdict.least < lowest  # else it is not worth spelling out
        lowest = min(lowest, verdict.least)
        doubtful = [plan.row(picks(i)) for i in verdict.doubtful[:_KEPT]]
        yield Swept(
            members,
            len(features),
            least=verdict.least if lower else math.inf,
            least_row=plan.row(picks(verdict.where)) if lower else None,
            fooled=None if verdict.fooled is None else plan.row(picks(verdict.fooled)),
            doubtful=np.stack(doubtful) if doubtful else None,
            doubts=len(verdict.doubtful),
            complete=seen == total and verdict.fooled is None,
        )
        if verdict.fooled is not None:
            return


class Verdict(NamedTuple):
    """What the logits of some texts say: all numbers but the margin are indices of texts."""

    least: float
    where: int
    fooled: int | None
    doubtful: list[int]


def judge(logits: Tensor, label: int) -> Verdict:
    """The least margin of the label, the first text that clearly has another, those in doubt."""
    if logits.shape[1] == 2:  # the usual case, without a copy
        others = logits[:, 1 - label]
    else:
        others = logits.index_fill(1, torch.tensor([label], device=logits.device), -torch.inf)
        others = others.amax(dim=1)
    margins = logits[:, label] - others
    least, where = margins.min(dim=0)
    # Twice the tolerance: these are not the sums of the victim's own forwards.
    doubt = 2 * NOISE * logits.abs().max().clamp(min=1.0)
    if bool(least > doubt):  # with the widest tolerance of all
        return Verdict(float(least), int(where), None, [])
    if not bool(logits.isfinite().all()):
        raise VictimError("it computed scores that are not finite")
    doubts = 2 * NOISE * logits.abs().amax(dim=1).clamp(min=1.0)
    fooled = (margins < -doubts).nonzero()
    doubtful = (margins.abs() <= doubts).nonzero()[:, 0].tolist()
    return Verdict(float(least), int(where), int(fooled[0, 0]) if len(fooled) else None, doubtful)
