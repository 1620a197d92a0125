"""The least number of swaps that fools a piecewise network on one text: upper bound first, then proof."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unfooled.errors import MissingExtra
from unfooled.evidence import margins, tolerance
from unfooled.exact import beam, branch, solvers
from unfooled.exact.milp import cut_form
from unfooled.exact.piecewise import Piecewise
from unfooled.exact.shallow import Shallow, threshold
from unfooled.sweeps.regions import Pick

_WIDTH = 16  # of the beam
_SEARCH_SHARE = 0.6  # of the time that branch and bound has before a solver is tried
_FEASIBILITY = 1e-6  # of a row, to a solver: texts so little above the level are looked at too
_SAME = 64  # solutions of a program that are refused, because their texts lie above the level


@dataclass(frozen=True)
class Solution:
    """Bounds of the least fooling swaps, a text that takes `upper`, and why fewer do not suffice."""

    lower: float
    upper: float | None
    picks: tuple[Pick, ...] | None = None
    method: str = ""
    reason: str = ""
    argument: Mapping[str, Any] = field(default_factory=dict)


def least(
    network: Piecewise, label: int, *, time_limit: float, solver: str | None = "highs"
) -> Solution:
    """The bracket of a text that is itself classified correctly; `solver` None: without one."""
    return _Pursuit(network, label, time_limit, solver).run()


class _Pursuit:
    """What is known so far about one text."""

    def __init__(
        self, network: Piecewise, label: int, time_limit: float, solver: str | None
    ) -> None:
        self.network, self.label, self.solver = network, label, solver
        self.began = time.perf_counter()
        self.deadline = self.began + time_limit
        self.targets = [c for c in range(network.classes) if c != label]
        self.problems = (
            {t: Shallow.of(network, label, t) for t in self.targets} if network.shallow else {}
        )
        self.best: beam.Fooling | None = None
        self.proved = 0  # the largest radius without a text at or below the threshold
        self.argument: Mapping[str, Any] = {"kind": "original", "radius": 0}
        self.tie: int | None = None  # the fewest swaps of a near-tie
        self.method = "beam+root"
        self.missing = ""  # what to install, where a solver was needed and is not there
        self.failure = ""  # why a solver gave up before its time

    @property
    def open(self) -> int:
        """The largest radius that is worth refuting: the whole space has as many as columns."""
        radius = self.network.columns
        if self.best is not None:
            radius = min(radius, len(self.best.picks) - 1)
        if self.tie is not None:
            radius = min(radius, self.tie - 1)
        return radius

    def run(self) -> Solution:
        self._attack(width=1)
        if self.problems:
            if self._refuted(cells=1):
                return self._solution()
            self._attack(width=_WIDTH)
            if self._refuted(cells=1):
                return self._solution()
            self._climb()
            share = 1.0 if self.solver is None else _SEARCH_SHARE
            until = self.began + share * (self.deadline - self.began)
            if self._refuted(cells=None, until=until) or self.solver is None:
                return self._solution()
        else:
            self._attack(width=_WIDTH)
        if self.solver is not None and time.perf_counter() < self.deadline:
            try:
                self._programmed(self.solver)
            except MissingExtra as error:  # what is known without a solver stays known
                self.missing = str(error)
        return self._solution()

    def _attack(self, *, width: int) -> None:
        most = self.open if self.best is not None else self.network.columns
        found = beam.search(
            self.network, self.label, width=width, most_swaps=most, deadline=self.deadline
        )
        if found is not None and (self.best is None or len(found.picks) < len(self.best.picks)):
            self.best = found

    def _climb(self) -> None:
        """Raises what is proved as far as roots reach, so that a search that is cut short has it."""
        while self.proved < self.open and self._try(self.proved + 1, cells=1):
            pass

    def _refuted(self, *, cells: int | None, until: float | None = None) -> bool:
        """Refutes the open radius, which falls whenever a text turns up that fools with fewer."""
        while self.proved < self.open:
            before = self.open
            if self._try(before, cells=cells, until=until):
                break
            if self.open == before:
                return False
        return True

    def _try(self, radius: int, *, cells: int | None, until: float | None = None) -> bool:
        """Whether the radius was refuted; a text that stands in the way is noted."""
        level, trees = threshold(self.network, radius), {}
        for target in self.targets:
            found = branch.refute(
                self.problems[target], radius, threshold=level,
                deadline=self.deadline if until is None else until, most_cells=cells,
            )  # fmt: skip
            if found.cells > 1:
                self.method = "branch-and-bound"
            if found.picks is not None:
                self._note(found.picks)
            if found.tree is None:
                return False
            trees[str(target)] = found.tree
        self.proved = radius
        self.argument = {"kind": "splits", "radius": radius, "targets": trees}
        return True

    def _programmed(self, solver: str) -> None:
        """Has a solver refute the open radius; what it finds is evaluated here and decides."""
        while self.proved < self.open:
            before = self.open
            if all(self._infeasible(solver, before, target) for target in self.targets):
                self.proved, self.method = before, "milp"
                self.argument = {
                    "kind": "solver", "radius": before, "solver": solvers.described(solver),
                }  # fmt: skip
            elif self.open == before:
                return

    def _infeasible(self, solver: str, radius: int, target: int) -> bool:
        """Whether the solver says that no text within the radius is at or below the threshold."""
        level = threshold(self.network, radius)
        program = cut_form(
            self.network, self.label, target, radius=radius, level=level + _FEASIBILITY
        )
        refused: list[tuple[Pick, ...]] = []
        while len(refused) < _SAME:
            left = self.deadline - time.perf_counter()
            found = solvers.solve(program.without(refused).program, solver, time_limit=left)
            if found.outcome == "infeasible":
                return not refused or self._clear(refused)
            if found.solution is None:
                if found.outcome == "failed":
                    self.failure = f"{solver} ended with: {found.reason}"
                return False
            picks = program.picks(found.solution)
            scores = self.network.scores([picks])
            if scores[0, self.label] - scores[0, target] <= level:
                self._note(picks)
                self.method = "milp"
                return False
            refused.append(picks)
        self.failure = f"{solver} takes {_SAME} texts for fooling that lie above the tolerance"
        return False

    def _clear(self, texts: list[tuple[Pick, ...]]) -> bool:
        """Whether texts that a solver took for fooling clearly do not."""
        scores = self.network.scores(texts)
        return bool((margins(scores, self.label) > tolerance(scores)).all())

    def _note(self, picks: tuple[Pick, ...]) -> None:
        """A text at or below the threshold: it fools, or it is too near to a tie to tell."""
        scores = self.network.scores([picks])
        lead, noise = margins(scores, self.label), tolerance(scores)
        if lead[0] < -noise[0]:
            if self.best is None or len(picks) < len(self.best.picks):
                self.best = beam.Fooling(picks, float(lead[0]))
        elif self.tie is None or len(picks) < self.tie:
            self.tie = len(picks)

    def _unsolved(self) -> str:
        if self.solver is None and not self.problems:
            return "solver: networks with more than one bend need one, and none was asked for"
        if self.failure:
            return f"solver: {self.failure}"
        return "time: the limit ended before it was decided"

    def _solution(self) -> Solution:
        whole = self.proved >= self.network.columns
        lower = math.inf if whole else self.proved + 1
        upper: float | None = math.inf if whole else None
        if self.best is not None:
            upper = len(self.best.picks)
        reason = ""
        if lower != upper:
            reason = self.missing or self._unsolved()
            if self.tie is not None and self.tie == lower:
                reason = f"near-tie: a text with {self.tie} swaps has a margin within float noise of zero"
        picks = None if self.best is None else self.best.picks
        return Solution(lower, upper, picks, self.method, reason, self.argument)
