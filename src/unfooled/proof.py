"""What a certifier says: a Proof about the texts within a radius, or Least, bounds of the least swaps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from unfooled.counting import Rows

if TYPE_CHECKING:
    from unfooled.program import Program
    from unfooled.space import Space

Verdict = Literal["certified", "falsified", "unknown"]
Needs = Literal["scores", "layers", "piecewise layers"]
"""What a certifier asks of a victim: its scores, its layers, or layers of ReLU and maxima alone."""


@dataclass(frozen=True)
class Proof:
    """The verdict on the texts within the radius asked for.

    `argument` is the part of the certificate that is the method's own, as JSON values: its `kind`
    says how a checker re-verifies that no text within the proved radius fools.
    """

    verdict: Verdict
    radius: int  # the largest that is proved; -1: not even the original has its label
    witness: Rows | None  # the row of a text that fools
    reason: str  # why it is unknown
    size: int  # texts within the radius asked for
    argument: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Least:
    """Bounds of the least number of swaps that fools the victim on one text.

    `lower` is proved by `argument`, whose `kind` says how a checker re-verifies it; `witness` takes
    `upper` swaps (None: not known). Both 0: the text itself is misclassified. Both infinite: no text
    of the whole space fools.
    """

    lower: float
    upper: float | None
    witness: Rows | None = None
    method: str = ""
    reason: str = ""  # why the two differ
    seconds: float = 0.0
    argument: Mapping[str, Any] = field(default_factory=dict)


class Minimiser(ABC):
    """A certifier that is asked for the least fooling swaps of a text, not for a radius."""

    lacks: ClassVar[Mapping[str, str]] = {
        "radius": "it looks for the least number of swaps that fools, over all radii"
    }
    """Why it has not what others have."""

    @abstractmethod
    def minimise(self, space: Space, label: int, rng: np.random.Generator) -> Program[Least]:
        """The bounds for one text whose label is `label`."""


def enumeration(evaluated: int, least: float | None, where: Rows | None) -> dict[str, Any]:
    """The argument of a proof that looked at every text: how many, the least margin and where."""
    return {
        "kind": "enumeration",
        "evaluated": evaluated,
        "least_margin": least,
        "least_row": listed(where),
    }


def tree(
    order: Sequence[int],
    cells: Sequence[tuple[Sequence[Sequence[int]], Sequence[int], Sequence[float]]],
    *,
    weights: Sequence[Mapping[str, Any]],
    leaves: int,
    least: float | None,
    where: Rows | None,
) -> dict[str, Any]:
    """The argument of a branch and bound: cells that partition the region, with their bounds.

    Swaps are numbered through the columns in this order (of columns of the space), as far as the
    victim tells them apart. `cells` has, for each number of swaps made, these swaps, the column from
    which on others are free, counted in the order, and the bound. What cells leave over are leaves.
    `weights` are what the bounds rest on beside the network.
    """
    names = ("fixed", "start", "bound")
    return {
        "kind": "tree",
        "order": list(order),
        "cells": [dict(zip(names, map(list, level), strict=True)) for level in cells],
        "weights": list(weights),
        "leaves": leaves,
        "least_margin": least,
        "least_row": listed(where),
    }


def listed(row: Rows | None) -> list[int] | None:
    """A row as JSON values."""
    return None if row is None else [int(choice) for choice in row]
