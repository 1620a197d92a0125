"""The least fooling swaps against looking at every text, on thousands of small networks."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from exact_toys import label, least_swaps, network, texts
from unfooled.evidence import margins
from unfooled.exact import beam, branch
from unfooled.exact.least import least
from unfooled.exact.piecewise import Affine, Effect, Piecewise
from unfooled.exact.replay import refusal
from unfooled.exact.shallow import Shallow, bound, lines, threshold, whole


@pytest.mark.parametrize("block", range(10))
def test_minimum_of_one_layer_is_that_of_brute_force(block: int) -> None:
    for seed in range(300 * block, 300 * (block + 1)):
        made = network(seed)
        wanted = least_swaps(made)
        if math.isnan(wanted):
            continue
        found = least(made, label(made), time_limit=30, solver=None)
        assert (found.lower, found.upper) == (wanted, wanted), seed
        if found.picks is not None:
            assert len(found.picks) == wanted
            assert margins(made.scores([found.picks]), label(made))[0] < 0
        argument = {**found.argument, "radius": min(int(min(wanted, 99)) - 1, made.columns)}
        assert refusal(made, argument, label=label(made)) is None, seed


@pytest.mark.parametrize(("depth", "windows"), [(2, None), (3, None), (1, 3), (2, 2)])
def test_minimum_of_other_networks_by_integer_programs(depth: int, windows: int | None) -> None:
    for seed in range(60):
        made = network(seed, depth=depth, windows=windows, columns=4, units=5)
        wanted = least_swaps(made)
        if not math.isnan(wanted):
            found = least(made, label(made), time_limit=30)
            assert (found.lower, found.upper) == (wanted, wanted), seed


def test_branch_and_bound_agrees_with_the_solver() -> None:
    """Larger texts than brute force reaches."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        effects = tuple(Effect(0, 0.3 * rng.normal(size=(4, 12))) for _ in range(12))
        made = Piecewise(
            rng.normal(size=12), effects, (Affine(rng.normal(size=(2, 12)), np.zeros(2)),)
        )
        ours = least(made, label(made), time_limit=30, solver=None)
        twice = (*made.layers[:0], Affine(np.eye(12), np.zeros(12)), *made.layers)
        theirs = least(
            Piecewise(made.base, made.effects, twice), label(made), time_limit=60
        )  # one more layer that changes nothing sends it to the solver
        assert ours.lower == ours.upper
        assert (ours.lower, ours.upper) == (theirs.lower, theirs.upper), seed


def test_what_branch_and_bound_leaves_open_goes_to_the_solver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("unfooled.exact.least._SEARCH_SHARE", 0.0)
    solved = 0
    for seed in range(400):
        made = network(seed)
        wanted = least_swaps(made)
        if not math.isnan(wanted):
            found = least(made, label(made), time_limit=30)
            assert (found.lower, found.upper) == (wanted, wanted), seed
            solved += found.method == "milp"
            if found.argument["kind"] == "solver":
                assert found.argument["solver"].startswith("HiGHS 1.")
    assert solved > 5


def test_no_time_leaves_a_valid_bracket() -> None:
    undecided = 0
    for seed in range(200):
        made = network(seed)
        wanted = least_swaps(made)
        if math.isnan(wanted):
            continue
        found = least(made, label(made), time_limit=0)
        assert found.lower <= wanted
        assert found.upper is None or found.upper >= wanted
        if found.lower != found.upper:
            undecided += 1
            assert found.reason.startswith("time")
    assert undecided


def test_the_bound_is_never_above_a_margin_and_exact_at_radius_0() -> None:
    for seed in range(200):
        made = network(seed)
        problem = Shallow.of(made, 0, 1)
        rng = np.random.default_rng(seed)
        for radius in range(made.columns + 1):
            cells = whole(problem, radius)
            limits = lines(problem, cells)
            slopes = np.clip(rng.normal(size=(1, len(made.base))), limits.least, limits.most)
            value = bound(problem, cells, slopes, constant=limits.constant).values[0]
            inside = [picks for picks in texts(made) if len(picks) <= radius]
            scores = made.scores(inside)
            least_margin = (scores[:, 0] - scores[:, 1]).min()
            assert value <= least_margin + 1e-9
            if radius == 0:
                assert value == pytest.approx(least_margin, abs=1e-9)


def test_a_refuted_radius_has_no_text_below_the_threshold() -> None:
    for seed in range(200):
        made = network(seed)
        problem, level = Shallow.of(made, 0, 1), threshold(made, made.columns)
        found = branch.refute(
            problem, made.columns, threshold=level, deadline=time.perf_counter() + 30
        )
        scores = made.scores(texts(made))
        clear = bool((scores[:, 0] - scores[:, 1] > level).all())
        assert (found.tree is not None) == clear
        if found.picks is not None:
            shown = made.scores([found.picks])[0]
            assert shown[0] - shown[1] <= level


def test_a_near_tie_is_bracketed() -> None:
    made = Piecewise(
        np.array([1.0]),
        (Effect(0, np.array([[-0.5]])), Effect(0, np.array([[-0.5]]))),
        (Affine(np.array([[1.0], [0.0]]), np.zeros(2)),),
    )  # two swaps bring the margin to zero exactly
    found = least(made, 0, time_limit=30)
    assert (found.lower, found.upper) == (2, None)
    assert "near-tie: a text with 2 swaps" in found.reason
    assert refusal(made, {**found.argument, "radius": 1}, label=0) is None


def test_a_beam_finds_what_greedy_misses() -> None:
    effects = (
        Effect(0, np.array([[-0.6, 0.0], [-0.4, -0.8]])),
        Effect(0, np.array([[0.0, -0.3], [-0.7, 0.1]])),
    )
    made = Piecewise(
        np.ones(2), effects, (Affine(np.array([[1.0, 1.0], [0.0, 0.0]]), np.full(2, 0.0)),)
    )
    wanted = least_swaps(made)
    found = least(made, 0, time_limit=30)
    assert (found.lower, found.upper) == (wanted, wanted)


def test_a_search_keeps_to_its_swaps_and_its_columns() -> None:
    for seed in range(100):
        made = network(seed)
        found = beam.search(
            made, label(made), width=4, most_swaps=2, deadline=time.perf_counter() + 30
        )
        if found is not None:
            assert len({pick.column for pick in found.picks}) == len(found.picks) <= 2
            assert margins(made.scores([found.picks]), label(made))[0] == pytest.approx(
                found.margin
            )
