"""A certificate that was tampered with is refused, whatever was changed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from exact_toys import label, network
from unfooled.exact.least import least
from unfooled.exact.piecewise import Piecewise
from unfooled.exact.replay import refusal


def proofs(wanted: int) -> list[tuple[Piecewise, dict[str, Any]]]:
    """Arguments with trees of several cells."""
    found, seed = [], 0
    while len(found) < wanted:
        made = network(seed)
        argument = dict(least(made, label(made), time_limit=30, solver=None).argument)
        if any(len(tree) > 2 for tree in argument.get("targets", {}).values()):
            found.append((made, argument))
        seed += 1
    return found


def test_a_missing_cell_is_refused() -> None:
    for made, argument in proofs(20):
        for target, tree in argument["targets"].items():
            for gone in range(len(tree)):
                broken = copy.deepcopy(argument)
                del broken["targets"][target][gone]
                assert refusal(made, broken, label=label(made)) is not None


def test_a_cell_too_many_is_refused() -> None:
    for made, argument in proofs(5):
        for target in argument["targets"]:
            broken = copy.deepcopy(argument)
            broken["targets"][target].append(["slopes", [], []])
            assert "the tree ends" in str(refusal(made, broken, label=label(made)))


def test_a_larger_radius_is_refused_when_it_is_not_so() -> None:
    refused = 0
    for seed in range(300):
        made = network(seed)
        found = least(made, label(made), time_limit=30, solver=None)
        if found.argument["kind"] == "splits" and found.upper not in (None, float("inf")):
            assert refusal(made, found.argument, label=label(made)) is None
            larger = {**found.argument, "radius": found.argument["radius"] + 1}
            assert refusal(made, larger, label=label(made)) is not None
            refused += 1
    assert refused > 10


def test_no_slopes_can_prove_what_is_not_so() -> None:
    """Random slopes, in range or not, never pass for a radius at which a text fools."""
    rng = np.random.default_rng(0)
    tried = 0
    for seed in range(400):
        made = network(seed)
        found = least(made, label(made), time_limit=30, solver=None)
        if found.upper in (None, float("inf")):
            continue
        neurons = list(range(len(made.base)))
        targets = [c for c in range(made.classes) if c != label(made)]
        for _ in range(20):
            trees = {
                str(t): [["slopes", neurons, (10 * rng.normal(size=len(neurons))).tolist()]]
                for t in targets
            }
            argument = {"kind": "splits", "radius": int(found.upper), "targets": trees}
            assert refusal(made, argument, label=label(made)) is not None
            tried += 1
    assert tried > 1000


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "guess"},
        {"kind": None},
        {"radius": -1},
        {"radius": "2"},
        {"radius": True},
        {"targets": {}},
        {"targets": None},
        {"targets": {"0": [], "1": [], "2": []}},
        {"kind": "original"},
    ],
)
def test_malformed_arguments_are_refused(change: dict[str, Any]) -> None:
    for made, argument in proofs(3):
        assert refusal(made, {**argument, **change}, label=label(made)) is not None


@pytest.mark.parametrize(
    "entry",
    [
        None, [], 3, "slopes", ["slopes"], ["slopes", [0]], ["slopes", [0], []],
        ["slopes", [99], [0.0]], ["slopes", [0], ["x"]], ["slopes", [0], [float("nan")]],
        ["neuron", 99], ["neuron", -1], ["neuron", None], ["column", 99], ["column", True],
        ["column"], [["neuron", 0]],
    ],
)  # fmt: skip
def test_malformed_entries_are_refused(entry: Any) -> None:
    for made, argument in proofs(3):
        for target in argument["targets"]:
            broken = copy.deepcopy(argument)
            broken["targets"][target][0] = entry
            assert refusal(made, broken, label=label(made)) is not None


def test_a_network_that_is_not_shallow_has_no_splits() -> None:
    made = network(3, depth=2)
    argument = {"kind": "splits", "radius": 0, "targets": {}}
    assert "one hidden ReLU layer" in str(refusal(made, argument, label=label(made)))


def test_the_wrong_label_is_refused() -> None:
    made, argument = proofs(1)[0]
    wrong = (label(made) + 1) % made.classes
    assert "not clearly classified" in str(refusal(made, argument, label=wrong))
