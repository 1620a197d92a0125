"""Interval bounds over what candidates do to the first layer (Jia et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unfooled.certifiers._bounded import checked_radius, proved
from unfooled.program import Program
from unfooled.proof import Needs, Proof
from unfooled.space import Space


@dataclass(frozen=True)
class Intervals:
    """Proves by boxes that no text within `radius` swaps fools: the cheapest proof, and the loosest.

    Needs a word model. What it cannot prove stays unknown; it finds no counterexamples.

    Differs from the paper: at most `radius` words are swapped, and the boxes of the first layer count
    only so many of them.
    """

    needs: ClassVar[Needs] = "layers"

    radius: int = 3

    def __post_init__(self) -> None:
        checked_radius(self.radius)

    def prove(self, space: Space, label: int, rng: np.random.Generator) -> Program[Proof]:
        """The proof for one text whose label is `label`; nothing is drawn from `rng`."""
        return (yield from proved(space, label, radius=self.radius, method="intervals"))


METHOD = Intervals
