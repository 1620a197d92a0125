"""Backward linear bounds over candidate points (CROWN, Zhang et al. 2018; Xu et al. 2020 for swaps)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from unfooled.certifiers._bounded import checked_radius, proved
from unfooled.errors import InputError
from unfooled.program import Program
from unfooled.proof import Needs, Proof
from unfooled.space import Space


@dataclass(frozen=True)
class Linear:
    """Proves by linear bounds of the margin that no text within `radius` swaps fools.

    Needs a word model. `crown-ibp` takes the ranges inside the network from intervals, `crown` bounds
    these linearly too (slower, tighter), `optimised` improves the slopes of `crown-ibp` by `steps` of
    gradient. What it cannot prove stays unknown; it finds no counterexamples.

    Differs from the papers: the least value over the words is exact for the candidates and the number
    of swaps, not for a hull of them; any slope gets the best intercept that is sound.
    """

    needs: ClassVar[Needs] = "layers"

    radius: int = 3
    bounds: Literal["crown-ibp", "crown", "optimised"] = "crown-ibp"
    steps: int = 20

    def __post_init__(self) -> None:
        checked_radius(self.radius)
        if self.steps < 1:
            raise InputError(f"steps is a number of at least 1, not {self.steps}")

    def prove(self, space: Space, label: int, rng: np.random.Generator) -> Program[Proof]:
        """The proof for one text whose label is `label`; nothing is drawn from `rng`."""
        from unfooled.ascent import optimised

        ascend = partial(optimised, steps=self.steps)
        return (
            yield from proved(space, label, radius=self.radius, method=self.bounds, ascend=ascend)
        )


METHOD = Linear
