"""Lower bounds of margins over regions: the one door for certifiers and for the checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import torch
from torch import Tensor

from unfooled.bounds import linear
from unfooled.bounds.graph import Graph, Slopes
from unfooled.bounds.intervals import boxes, lowest
from unfooled.bounds.networks import graph_of
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import Box
from unfooled.errors import InputError
from unfooled.evidence import SURE
from unfooled.models.networks import Network

Method = Literal["intervals", "crown-ibp", "crown", "optimised"]
METHODS: tuple[Method, ...] = get_args(Method)


class Ascend(Protocol):
    """Who improves slopes for `optimised`; the checker, which is given them, needs nobody."""

    def __call__(
        self,
        graph: Graph,
        region: Region,
        *,
        found: list[Box],
        slopes: Mapping[int, Slopes],
        weights: Tensor,
    ) -> dict[int, Slopes]: ...


@dataclass(frozen=True)
class Bounds:
    """What is known of the margins of a batch of regions.

    `lower[b, k]` is a lower bound of logit[label] - logit[k] over region b, infinite for its label.
    `scale[b]` bounds the size of its logits, from which the width of a near-tie follows. `slopes`
    are those that were found by optimising, (batch, classes - 1, ...) each; None: they follow a rule.
    """

    lower: Tensor  # (batch, classes)
    scale: Tensor  # (batch,)
    slopes: Mapping[int, Slopes] | None = None

    @property
    def margin(self) -> Tensor:
        """(batch,): a lower bound of the margin."""
        return self.lower.amin(dim=1)

    @property
    def tolerance(self) -> Tensor:
        """(batch,): the width of a near-tie, at least that of every text of the region."""
        return SURE * self.scale.clamp(min=1.0)

    @property
    def holds(self) -> Tensor:
        """(batch,): whether every text of the region clearly has the label."""
        return self.margin > self.tolerance


def margins(
    network: Network,
    region: Region,
    *,
    labels: Sequence[int] | Tensor,
    method: Method = "crown-ibp",
    other: Tensor | None = None,
    second: bool = False,
    slopes: Mapping[int, Slopes] | None = None,
    ascend: Ascend | None = None,
) -> Bounds:
    """Bounds of the margin of each region's label over each other class.

    `intervals`: boxes alone. `crown-ibp`: backward linear bounds on boxes from intervals. `crown`: the
    boxes by backward bounds as well. `optimised`: as `crown-ibp` with slopes that `ascend` improves;
    given `slopes` are used as they are, nothing is searched.
    """
    if method not in METHODS:
        raise InputError(f"unknown method of bounds {method!r}; there are {', '.join(METHODS)}")
    labels = torch.as_tensor(labels)
    with torch.no_grad():
        graph = graph_of(network, region, other=other, second=second)
        found = boxes(graph, region)
        weights = differences(labels, network.config.classes)
        if method == "intervals":
            lower, used = lowest(graph, found, weights), None
        else:
            lower, used = _backward(
                graph, region, found, weights=weights, method=method, slopes=slopes, ascend=ascend
            )
    lower = lower.nan_to_num(nan=-torch.inf, posinf=-torch.inf, neginf=-torch.inf)
    scale = torch.maximum(found[-1].lower.abs(), found[-1].upper.abs()).amax(dim=1)
    whole = torch.full((len(region), network.config.classes), torch.inf, dtype=torch.float64)
    whole.scatter_(1, others(labels, network.config.classes), lower)
    return Bounds(whole, scale.nan_to_num(nan=torch.inf), used)


def _backward(
    graph: Graph,
    region: Region,
    found: list[Box],
    *,
    weights: Tensor,
    method: Method,
    slopes: Mapping[int, Slopes] | None,
    ascend: Ascend | None,
) -> tuple[Tensor, Mapping[int, Slopes] | None]:
    """The bounds, and the slopes that were searched for."""
    plain = lowest(graph, found, weights).nan_to_num(nan=-torch.inf)
    if method == "crown":
        found[:] = linear.tightened(graph, region, found)
    chosen = linear.default_slopes(graph, found) if slopes is None else slopes
    if method == "optimised" and slopes is None:
        if ascend is None:
            raise InputError(
                "optimised bounds take slopes, or who improves them: neither was given"
            )
        chosen = ascend(graph, region, found=found, slopes=chosen, weights=weights)
    lower = linear.lower_bounds(graph, region, found=found, slopes=chosen, weights=weights)
    return torch.maximum(lower, plain), chosen if method == "optimised" else None


def others(labels: Tensor, classes: int) -> Tensor:
    """(batch, classes - 1): the classes that are not the label, in order."""
    rest = torch.arange(classes - 1).expand(len(labels), -1)
    return rest + (rest >= labels[:, None]).long()


def differences(labels: Tensor, classes: int) -> Tensor:
    """(batch, classes - 1, classes): the weights of logit[label] - logit[k], for every other k."""
    unit = torch.eye(classes, dtype=torch.float64)
    return unit[labels].unsqueeze(1) - unit[others(labels, classes)]
