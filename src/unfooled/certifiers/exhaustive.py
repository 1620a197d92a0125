"""The simple prover: every text within a radius, fewer swaps first (PDP paper, Type-3 problem)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfooled.errors import InputError
from unfooled.levels import Levels, Order
from unfooled.program import Program, Spent
from unfooled.proof import Proof
from unfooled.space import Space


@dataclass(frozen=True)
class Exhaustive:
    """Scores every text within `radius` swaps; stops at the first that fools.

    Texts with fewer swaps come first, so a radius that is refuted or not finished still leaves the
    one below proved. Among them the more sensitive positions come first. Margins within the
    tolerance of the project are near-ties: neither proof nor counterexample, so the radius stays
    unknown unless a clear counterexample turns up.

    Differs from the paper: victims without gradients are ordered by leave-one-out scores; spaces
    too small for the order to matter are not ordered at all; word models compute only what a swap
    changes.
    """

    radius: int = 3
    order: Order = "auto"

    def __post_init__(self) -> None:
        if self.radius < 0:
            raise InputError(f"radius is a number of swaps, 0 or more, not {self.radius}")

    def prove(self, space: Space, label: int, rng: np.random.Generator) -> Program[Proof]:
        """The proof for one text whose label is `label`; nothing is drawn from `rng`."""
        search = Levels(space, label)
        try:
            yield from search.run(self.radius, self.order)
        except Spent:
            search.spent = True
        return search.proof(self.radius)


METHOD = Exhaustive
