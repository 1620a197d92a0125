"""Linear bounds against the linear program that they are the dual of, solved by HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from bound_cases import Case, bound, cases
from scipy.optimize import linprog

from unfooled.bounds.entries import Flat
from unfooled.bounds.networks import graph_of
from unfooled.bounds.region import Region


def program(case: Case, swaps: int, other: int) -> float:
    """The least logit[label] - logit[other] of an mlp with triangles for its ReLUs.

    Variables: how much of each choice is taken (of a column at most one, of all at most `swaps`), and
    the hidden units h >= 0, h >= z, h <= the chord from (l, 0) to (u, u), z linear in the choices.
    """
    reading, region = case.reading, Region.of([case.reading], [swaps])
    entry = graph_of(reading.network, region).nodes[0].step
    assert isinstance(entry, Flat)
    low, high = (part[0].numpy() for part in entry.box(region))
    start = entry.box(Region.of([reading], [0])).lower[0].numpy()
    blocks = [
        ((choice - reading.text[place]) @ entry.weight[place]).numpy()
        for place, choice in zip(reading.plan.places, reading.choices, strict=True)
    ]
    moves = np.concatenate([*blocks, np.zeros((0, len(low)))])  # (taken, units)
    taken, units = moves.shape
    eye, none = np.eye(units), np.zeros((units, taken))
    steep = np.where(high > 0, high / np.maximum(high - np.minimum(low, 0), 1e-12), 0.0)
    steep = np.where(low >= 0, 1.0, steep)
    floor = np.where(low >= 0, 0.0, -steep * low)
    rows = [np.hstack([moves.T, -eye]), np.hstack([-steep[:, None] * moves.T, eye])]
    limits = [-start, steep * start + floor]
    columns = np.repeat(np.arange(len(blocks)), [len(b) for b in blocks])
    for c in range(len(blocks)):
        rows.append(np.hstack([(columns == c).astype(float), np.zeros(units)])[None])
        limits.append(np.ones(1))
    rows.append(np.hstack([np.ones(taken), np.zeros(units)])[None])
    limits.append(np.array([float(swaps)]))
    output = reading.network.output
    weight = (output.weight[case.label] - output.weight[other]).numpy()
    found = linprog(
        np.concatenate([none[0], weight]),
        A_ub=np.vstack(rows),
        b_ub=np.concatenate(limits),
        bounds=[(0, None)] * (taken + units),
        method="highs",
    )
    assert found.success, found.message
    return float(found.fun + output.bias[case.label] - output.bias[other])


@pytest.mark.parametrize("seed", range(6))
def test_any_slopes_are_below_the_program_and_good_ones_reach_it(seed: int) -> None:
    found = cases("mlp", seed=seed, count=8)
    for swaps in (1, 2):
        plain = bound(found, [swaps] * 8, "crown-ibp").lower
        steep = bound(found, [swaps] * 8, "optimised", steps=300).lower
        for i, case in enumerate(found):
            for other in {0, 1, 2} - {case.label}:
                best = program(case, swaps, other)
                exact = float(case.least(swaps)[other])
                assert float(plain[i, other]) <= best + 1e-7
                assert float(steep[i, other]) <= best + 1e-7
                assert float(steep[i, other]) >= best - 0.02 * max(1.0, abs(best))
                assert best <= exact + 1e-7


def test_the_program_is_exact_without_swaps() -> None:
    (case,) = cases("mlp", seed=1, count=1)
    other = (case.label + 1) % 3
    assert program(case, 0, other) == pytest.approx(float(case.least(0)[other]))
    assert torch.isinf(case.least(0)[case.label])
