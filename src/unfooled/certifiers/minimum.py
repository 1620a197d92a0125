"""The least number of swaps that fools a piecewise-linear network, with proof (ILP paper)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from unfooled import registry
from unfooled.errors import InputError
from unfooled.evidence import margins, tolerance
from unfooled.exact.least import least
from unfooled.exact.opened import opened
from unfooled.exact.solvers import described
from unfooled.levels import Levels
from unfooled.program import Goal, Layers, Program, Scores, Spent
from unfooled.proof import Least, Minimiser, Needs
from unfooled.space import Space

_TIE = "near-tie: the text itself has a margin within float noise of zero"
_FEW = 50_000  # texts within a radius that are evaluated rather than argued about
_MANY = (
    "some candidates are not single words to the network, and there are too many texts to evaluate"
)


@dataclass(frozen=True)
class Minimum(Minimiser):
    """The exact minimum, or a bracket when `time_limit` seconds for a text do not suffice.

    Greedy and beam search give an upper bound. That fewer swaps do not fool is proved by a dual bound
    over all texts with one swap fewer, and branch and bound over the signs of neurons where that does
    not suffice. Networks with more layers or a maximum over time, and texts with candidates of several
    words, are evaluated text by text as far as there are few. What is left goes to a solver of integer
    programs; with candidates of several words PDP gives the upper bound instead.

    Differs from the paper: instead of minimising swaps, one swap fewer than the upper bound is refuted.
    """

    needs: ClassVar[Needs] = "piecewise layers"

    time_limit: float = 30.0
    solver: Literal["highs", "gurobi", "scip", "none"] = "highs"

    def __post_init__(self) -> None:
        if not self.time_limit >= 0:
            raise InputError(f"time_limit is a number of seconds, 0 or more, not {self.time_limit}")
        if self.solver in ("gurobi", "scip"):
            described(self.solver)  # who asks for one learns now that it is not installed

    def minimise(self, space: Space, label: int, rng: np.random.Generator) -> Program[Least]:
        reading = yield Layers()
        network = None if reading is None else opened(reading)
        scores = yield Scores(space.rows(space.origin))
        lead, noise = margins(scores, label)[0], tolerance(scores)[0]
        if lead < -noise:
            return Least(0, 0)
        if lead <= noise:
            return Least(0, None, reason=_TIE)
        known: Least | None = None
        if network is None or not network.shallow:
            known = yield from self._listed(space, label)
            if known.lower in (known.upper, math.inf):
                return known
            if network is None:
                return (yield from _attacked(space, label, known, rng=rng))
        assert reading is not None
        assert network is not None
        began = time.perf_counter()  # other texts had their turn in between
        solver = None if self.solver == "none" else self.solver
        found = least(network, label, time_limit=self.time_limit, solver=solver)
        row = None if found.picks is None else reading.row(found.picks)
        seconds = time.perf_counter() - began
        solved = Least(
            found.lower, found.upper, row, found.method, found.reason, seconds, found.argument
        )
        return solved if known is None else _joined(known, solved)

    def _listed(self, space: Space, label: int) -> Program[Least]:
        """What evaluating all texts says, radius by radius, as far as there are few."""
        levels, columns = Levels(space, label), tuple(range(len(space.counts)))
        spent = 0.0
        for swaps in range(len(columns) + 1):
            if levels.ended or levels.tie is not None or space.size(swaps) > _FEW:
                break
            began = time.perf_counter()
            try:
                yield from levels.level(swaps, columns, seconds=self.time_limit - spent)
            except Spent:
                break
            sweep = levels.sweeping  # knows its own seconds; else other texts share the batches
            spent += time.perf_counter() - began if sweep is None else sweep.seconds
        proved, row = levels.proved, levels.witness
        lower = math.inf if proved == len(columns) else proved + 1
        upper = lower if lower == math.inf else None
        upper = upper if row is None else int(np.count_nonzero(row))
        reason = "" if lower == upper else _MANY
        if levels.tie is not None:
            reason = f"near-tie: a text with {np.count_nonzero(levels.tie)} swaps could have either label"
        argument = levels.proof(max(proved, 0)).argument
        return Least(lower, upper, row, "enumeration", reason, spent, argument)


def _attacked(
    space: Space, label: int, known: Least, *, rng: np.random.Generator
) -> Program[Least]:
    """What is known with the swaps of a text that PDP finds, where none was found so far."""
    if known.upper is not None:
        return known
    try:
        found = yield from registry.build("attacks", "pdp").search(space, Goal(space, label), rng)
    except Spent:
        return known
    if found.row is None:
        return known
    swaps = int(np.count_nonzero(found.row))
    reason = "" if swaps == known.lower else known.reason
    return replace(known, upper=swaps, witness=found.row, reason=reason)


def _joined(one: Least, two: Least) -> Least:
    """The tighter bounds of both, each with what it rests on."""
    below = one if one.lower >= two.lower else two
    uppers = [found for found in (one, two) if found.upper is not None]
    above = min(uppers, key=lambda found: found.upper or math.inf, default=two)
    reason = "" if below.lower == above.upper else two.reason or one.reason
    return replace(
        below,
        upper=above.upper,
        witness=above.witness,
        reason=reason,
        seconds=one.seconds + two.seconds,
    )


METHOD = Minimum
