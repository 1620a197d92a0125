"""Weights of a certificate: whatever they are, bounds are sound; those of the prover come back as they were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from test_cnn_cells import SEEDS, asked, assert_below, brute

from unfooled.bounds.cnn_cells import CNNCells
from unfooled.bounds.cnn_clusters import Clusters
from unfooled.bounds.cnn_losses import Levels, Weights
from unfooled.bounds.cnn_weights import Stored, read, rounded, stored
from unfooled.errors import InputError


def drawn(seed: int) -> Any:
    """Someone who chooses weights at random, many of them extreme."""
    rng = np.random.default_rng(seed)

    def choose(
        levels: Levels, singles: Clusters, *, other: int, starts: Sequence[int]
    ) -> list[Weights]:
        shape = levels.simple().share.shape
        found = []
        for _ in starts:
            lift = rng.exponential(10.0 ** rng.integers(-3, 3), len(levels.bad))
            share = rng.random(shape) ** rng.integers(1, 9) * np.triu(np.ones(shape[1:]))
            share += 0.01 * np.eye(shape[1])  # somebody pays
            found.append(Weights(lift * (rng.random(len(lift)) < 0.5), share))
        return [rounded(levels, each) for each in found]

    return choose


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_no_weights_prove_what_is_not_so(seed: int) -> None:
    found = brute(seed)
    cells = found.cells
    other = CNNCells(cells.reading, cells.label, radius=found.radius, weigh=drawn(seed))
    assert_below(found._replace(cells=other))


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_what_is_stored_gives_the_same_bounds(seed: int) -> None:
    found = brute(seed)
    cells = found.cells
    before = [bounded.lower for *_, bounded in asked(found)]
    told = json.loads(json.dumps(cells.weights(range(found.radius + 1))))
    kept = Stored(told)
    again = CNNCells(cells.reading, cells.label, radius=found.radius, weigh=kept)
    for old, (*_, bounded) in zip(before, asked(found._replace(cells=again)), strict=True):
        np.testing.assert_allclose(bounded.lower, old, atol=1e-12)
    assert not kept.idle


def levels_of(seed: int) -> tuple[Levels, dict[str, list[Any]]]:
    """Levels of a text that has something to share, and the weights found for it."""
    while True:
        found = brute(seed)
        cells = found.cells
        root = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        cells.lower(*root, budget=found.radius)
        for levels, _, (chosen, *_) in cells._chosen.values():
            told = stored(levels, chosen)
            if told["lift"] and any(told["share"]):
                return levels, told
        seed += 1


@pytest.mark.parametrize("key", ["lift", "share"])
@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf"), 2**70, "1", True, None])
def test_numbers_that_could_prove_anything_are_refused(key: str, wrong: Any) -> None:
    levels, told = levels_of(0)
    read(levels, told)
    if (key, wrong) != ("lift", 2**70):  # a ceiling may be as high as it likes
        with pytest.raises(InputError, match=key):
            read(levels, told | {key: [wrong, *told[key][1:]]})


def test_nor_shares_that_are_no_whole_numbers_too_few_or_not_all() -> None:
    levels, told = levels_of(0)
    with pytest.raises(InputError, match="whole"):
        read(levels, told | {"share": [0.5, *told["share"][1:]]})
    with pytest.raises(InputError, match="list of"):
        read(levels, told | {"share": told["share"][1:]})
    with pytest.raises(InputError, match="sum 1000"):
        read(levels, told | {"share": [0] * len(told["share"])})
    with pytest.raises(InputError, match="lifts and shares"):
        read(levels, {"lift": told["lift"]})


def test_weights_twice_or_of_no_class_are_refused_and_idle_ones_are_known() -> None:
    one = {"against": 1, "budget": 1, "choices": []}
    assert Stored([one]).idle
    assert not Stored([]).idle
    for wrong in (None, [one, one], [one | {"budget": "1"}], [one | {"more": 1}], [1]):
        with pytest.raises(InputError):
            Stored(wrong)


def test_the_prover_rounds_what_it_uses() -> None:
    levels, told = levels_of(5)
    assert stored(levels, read(levels, told)) == told
