"""The least number of swaps that fools a piecewise-linear network, with proof (ILP paper)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unfooled.errors import InputError
from unfooled.evidence import margins, tolerance
from unfooled.exact.least import least
from unfooled.exact.opened import opened
from unfooled.exact.solvers import described
from unfooled.program import Layers, Program, Scores
from unfooled.proof import Least, Minimiser
from unfooled.space import Space

_TIE = "near-tie: the text itself has a margin within float noise of zero"
_SPELLED = (
    "some candidates are not single words to the network, so its layers say nothing about them: "
    "exhaustive decides such texts"
)


@dataclass(frozen=True)
class Minimum(Minimiser):
    """The exact minimum, or a bracket when `time_limit` seconds for a text do not suffice.

    Greedy and beam search give an upper bound. That fewer swaps do not fool is proved by a dual bound
    over all texts with one swap fewer, and branch and bound over the signs of neurons where that does
    not suffice. Networks with more layers or a maximum over time, and one-layer networks that branch and
    bound does not decide in time, go to a solver of integer programs.

    Differs from the paper: instead of minimising swaps, one swap fewer than the upper bound is refuted.
    """

    time_limit: float = 30.0
    solver: Literal["highs", "gurobi", "scip", "none"] = "highs"

    def __post_init__(self) -> None:
        if not self.time_limit >= 0:
            raise InputError(f"time_limit is a number of seconds, 0 or more, not {self.time_limit}")
        if self.solver in ("gurobi", "scip"):
            described(self.solver)  # who asks for one learns now that it is not installed

    def minimise(self, space: Space, label: int, rng: np.random.Generator) -> Program[Least]:
        reading = yield Layers()
        scores = yield Scores(space.rows(space.origin))
        began = time.perf_counter()
        lead, noise = margins(scores, label)[0], tolerance(scores)[0]
        if lead < -noise:
            return Least(0, 0)
        if lead <= noise:
            return Least(0, None, reason=_TIE)
        if reading is None:
            return Least(1, None, reason=_SPELLED, argument={"kind": "original"})
        solver = None if self.solver == "none" else self.solver
        found = least(opened(reading), label, time_limit=self.time_limit, solver=solver)
        row = None if found.picks is None else reading.row(found.picks)
        seconds = time.perf_counter() - began
        return Least(
            found.lower, found.upper, row, found.method, found.reason, seconds, found.argument
        )


METHOD = Minimum
