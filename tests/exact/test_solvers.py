"""Adapters against scipy's own way to HiGHS, and what is said when a solver is not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from exact_toys import label, network
from unfooled.errors import InputError, MissingExtra
from unfooled.exact import solvers
from unfooled.exact.least import least
from unfooled.exact.milp import Builder, Milp, Sum, cut_form
from unfooled.sweeps.regions import Pick

INSTALLED = {"highs": "highspy", "gurobi": "gurobipy", "scip": "pyscipopt"}


def program(seed: int) -> Milp:
    """Some binaries, some numbers, rows with one end or two."""
    rng = np.random.default_rng(seed)
    made = Builder()
    count = int(rng.integers(2, 7))
    for _ in range(count):
        cost = float(rng.normal())
        if rng.random() < 0.5:
            made.binary(cost=cost)
        else:
            made.add(-1.0, float(rng.uniform(0, 2)), cost=cost)
    for _ in range(int(rng.integers(1, 5))):
        where = rng.permutation(count)[: int(rng.integers(1, count + 1))]
        low = float(rng.normal())
        high = low + 1.0 if rng.random() < 0.3 else np.inf
        made.row(Sum(where.astype(np.int64), rng.normal(size=len(where)), 0.1), low, high)
    return made.milp()


@pytest.mark.parametrize("solver", solvers.NAMES)
def test_optima_are_scipys(solver: str) -> None:
    pytest.importorskip(INSTALLED[solver])
    outcomes = set()
    for seed in range(60):
        given = program(seed)
        found = solvers.solve(given, solver, time_limit=30)
        matrix = solvers._matrix(given)
        expected = milp(
            given.cost,
            constraints=LinearConstraint(matrix, given.row_low, given.row_high),
            bounds=Bounds(given.low, given.high),
            integrality=given.whole.astype(int),
        )
        outcomes.add(found.outcome)
        assert (found.outcome == "solved") == (expected.x is not None), seed
        if found.solution is not None:
            assert given.cost @ found.solution == pytest.approx(expected.fun, abs=1e-6)
    assert outcomes == {"solved", "infeasible"}


def test_no_time_is_no_answer() -> None:
    assert solvers.solve(program(0), time_limit=0).outcome == "time"


def test_an_unknown_solver_is_named() -> None:
    with pytest.raises(InputError, match="no solver 'cplex'; known: highs, gurobi, scip"):
        solvers.solve(program(0), "cplex", time_limit=1)


def test_a_solver_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(solvers, "import_module", absent)
    with pytest.raises(MissingExtra, match=r"unfooled\[exact\]"):
        solvers.described("highs")
    with pytest.raises(InputError, match="pip install gurobipy"):
        solvers.described("gurobi")
    made = next(
        m for m in (network(s, depth=2, columns=4, units=5) for s in range(99)) if m.columns
    )
    found = least(made, label(made), time_limit=30)
    assert found.lower == 1  # what is known without a solver stays known
    assert found.upper == 1 or "unfooled[exact]" in found.reason


def test_without_a_solver_deeper_networks_stay_open() -> None:
    open_ones = 0
    for seed in range(30):
        made = network(seed, depth=2, columns=4, units=5)
        found = least(made, label(made), time_limit=30, solver=None)
        if found.lower != found.upper:
            assert found.reason.startswith("solver:")
            open_ones += 1
    assert open_ones


def test_a_text_that_is_ruled_out_is_not_found_again() -> None:
    for seed in range(60):
        made = network(seed, columns=3)
        if not made.columns:
            continue
        given = cut_form(made, 0, 1, radius=made.columns, level=np.inf)
        seen: list[tuple[Pick, ...]] = []
        texts = int(np.prod([size + 1 for size in made.sizes]))
        while len(seen) < texts:
            found = solvers.solve(given.without(seen).program, time_limit=30)
            assert found.solution is not None
            picks = given.picks(found.solution)
            assert picks not in seen
            seen.append(picks)
        assert solvers.solve(given.without(seen).program, time_limit=30).outcome == "infeasible"
