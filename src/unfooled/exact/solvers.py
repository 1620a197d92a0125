"""Adapters from the sparse form to solvers: HiGHS built in, Gurobi and SCIP where installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from unfooled.errors import InputError, MissingExtra, UnfooledError
from unfooled.exact.milp import Milp
from unfooled.exact.piecewise import Floats

Outcome = Literal["solved", "infeasible", "time", "failed"]
NAMES = ("highs", "gurobi", "scip")


@dataclass(frozen=True)
class Solved:
    """How a solver ended, and the solution it has; where it failed, why."""

    outcome: Outcome
    solution: Floats | None = None
    reason: str = ""


def solve(program: Milp, solver: str = "highs", *, time_limit: float) -> Solved:
    """Solves to the end, or for so many seconds; one thread.

    What a solver raises (a licence for small programs alone, say) is how it ended, not the end of all.
    """
    if solver not in NAMES:
        raise InputError(f"there is no solver {solver!r}; known: {', '.join(NAMES)}")
    if time_limit <= 0:
        return Solved("time")
    try:
        return {"highs": _highs, "gurobi": _gurobi, "scip": _scip}[solver](program, time_limit)
    except UnfooledError:
        raise
    except Exception as error:
        return Solved("failed", reason=f"{type(error).__name__}: {error}")


def described(solver: str) -> str:
    """The solver with its version."""
    package = {"highs": "highspy", "gurobi": "gurobipy", "scip": "pyscipopt"}[solver]
    shown = {"highs": "HiGHS", "gurobi": "Gurobi", "scip": "SCIP (pyscipopt)"}[solver]
    _module(package)
    return f"{shown} {version(package)}"


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        if name == "highspy":
            raise MissingExtra("solving integer programs with HiGHS", "exact") from error
        raise InputError(
            f"the solver needs the package {name}, which is not installed: pip install {name}, or "
            "leave the solver at highs"
        ) from error


def _highs(program: Milp, time_limit: float) -> Solved:
    highspy = _module("highspy")
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(program.cost), len(program.row_low)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, program.low, program.high
    lp.row_lower_, lp.row_upper_ = program.row_low, program.row_high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = program.starts, program.columns
    lp.a_matrix_.value_ = program.values
    kinds = highspy.HighsVarType
    lp.integrality_ = [kinds.kInteger if w else kinds.kContinuous for w in program.whole]
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("time_limit", float(time_limit))
    model.passModel(lp)
    model.run()
    status, states = model.getModelStatus(), highspy.HighsModelStatus
    if status == states.kInfeasible:
        return Solved("infeasible")
    if status == states.kOptimal:
        return Solved("solved", np.array(model.getSolution().col_value))
    if status == states.kTimeLimit:
        return Solved("time")
    return Solved("failed", reason=model.modelStatusToString(status))


def _gurobi(program: Milp, time_limit: float) -> Solved:
    gurobipy = _module("gurobipy")
    with (
        gurobipy.Env(params={"OutputFlag": 0, "Threads": 1}) as env,
        gurobipy.Model(env=env) as model,
    ):
        kinds = np.where(program.whole, "B", "C")
        x = model.addMVar(len(program.cost), lb=program.low, ub=program.high, vtype=kinds)
        matrix = _matrix(program)
        for sense, ends in ((">", program.row_low), ("<", program.row_high)):
            rows = np.flatnonzero(np.isfinite(ends))
            if len(rows):
                model.addMConstr(matrix[rows], x, sense, ends[rows])
        model.setObjective(program.cost @ x)
        model.Params.TimeLimit = time_limit
        model.optimize()
        # Every variable has two ends, so what is infeasible or unbounded is infeasible.
        if model.Status in (gurobipy.GRB.INFEASIBLE, gurobipy.GRB.INF_OR_UNBD):
            return Solved("infeasible")
        if model.Status == gurobipy.GRB.OPTIMAL:
            return Solved("solved", np.array(x.X))
        if model.Status == gurobipy.GRB.TIME_LIMIT:
            return Solved("time")
        return Solved("failed", reason=f"status {model.Status}")


def _scip(program: Milp, time_limit: float) -> Solved:
    pyscipopt = _module("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", float(time_limit))
    x = [
        model.addVar(lb=low, ub=high, vtype="B" if whole else "C", obj=cost)
        for low, high, whole, cost in zip(
            program.low, program.high, program.whole, program.cost, strict=True
        )
    ]
    for row, (low, high) in enumerate(zip(program.row_low, program.row_high, strict=True)):
        span = slice(program.starts[row], program.starts[row + 1])
        terms = zip(program.columns[span], program.values[span], strict=True)
        total = pyscipopt.quicksum(value * x[column] for column, value in terms)
        if np.isfinite(low):
            model.addCons(total >= low)
        if np.isfinite(high):
            model.addCons(total <= high)
    model.optimize()
    if model.getStatus() == "infeasible":
        return Solved("infeasible")
    if model.getStatus() == "optimal":
        return Solved("solved", np.array([model.getVal(v) for v in x]))
    if model.getStatus() == "timelimit":
        return Solved("time")
    return Solved("failed", reason=str(model.getStatus()))


def _matrix(program: Milp) -> Any:
    from scipy.sparse import csr_matrix

    shape = (len(program.row_low), len(program.cost))
    return csr_matrix((program.values, program.columns, program.starts), shape=shape)
