"""The least value of a linear function over a region is what brute force finds."""

from __future__ import annotations

import pytest
import torch
from bound_cases import Case, cases, members

from unfooled.bounds.entries import Flat, Windows
from unfooled.bounds.region import Region
from unfooled.sweeps.regions import Pick


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def texts(case: Case, swaps: int) -> torch.Tensor:
    """(texts, words, d): all texts within so many swaps."""
    return case.reading.vectors([m for m in members(case.reading) if len(m) <= swaps])


@pytest.mark.parametrize("seed", range(10))
def test_the_minimum_is_exact(seed: int) -> None:
    found = cases("mlp", seed=seed, count=12)
    budgets = [i % 4 for i in range(12)]
    region = Region.of([case.reading for case in found], budgets)
    slopes = drawn(12, 3, *region.base.shape[1:], seed=seed)
    least = region.minimum(slopes)
    for i, (case, budget) in enumerate(zip(found, budgets, strict=True)):
        vectors = texts(case, budget)
        cut = slopes[i, :, : vectors.shape[1]]
        exact = torch.einsum("kwd,twd->tk", cut, vectors).amin(dim=0)
        assert torch.allclose(least[i], exact, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("width", [1, 2, 3])
def test_boxes_of_windows_are_exact(seed: int, width: int) -> None:
    """Each pre-activation alone reaches both of its ends; a window counts only its own words."""
    entry = Windows(drawn(width, 4, 6, seed=seed), drawn(6, seed=seed + 1))
    for case in cases("cnn", seed=seed, count=6):
        for budget in range(4):
            low, high = entry.box(Region.of([case.reading], [budget]))
            values = entry.value(texts(case, budget))
            assert torch.allclose(low[0], values.amin(dim=0), atol=1e-12)
            assert torch.allclose(high[0], values.amax(dim=0), atol=1e-12)


@pytest.mark.parametrize("shared", [False, True])
def test_boxes_of_a_flat_layer_are_exact(shared: bool) -> None:
    weight, bias = drawn(1 if shared else 12, 4, 6, seed=1), drawn(6, seed=2)
    for case in cases("mlp", seed=3, count=10):
        words = len(case.reading.text)
        entry = Flat(weight, bias, torch.full((1, 1), 1 / words, dtype=torch.float64))
        wide = weight.expand(12, -1, -1)[:words]
        for budget in range(4):
            low, high = entry.box(Region.of([case.reading], [budget]))
            values = torch.einsum("twd,wdo->to", texts(case, budget), wide) / words + bias
            assert torch.allclose(low[0], values.amin(dim=0), atol=1e-12)
            assert torch.allclose(high[0], values.amax(dim=0), atol=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_what_goes_back_through_windows_is_their_transpose(width: int) -> None:
    entry = Windows(drawn(width, 4, 6, seed=5), drawn(6, seed=6))
    vectors, weights = drawn(2, 7, 4, seed=7), drawn(2, 3, 7, 6, seed=8)
    (at_words,), constant = entry.back(weights)
    value = torch.einsum("nkwo,nwo->nk", weights, entry.value(vectors))
    assert torch.allclose(torch.einsum("nkwd,nwd->nk", at_words, vectors) + constant, value)


def test_nodes_have_their_swaps_made_and_earlier_columns_closed() -> None:
    case = next(c for c in cases("mlp", seed=1) if len(c.reading.choices) == 3)
    root = Region.of([case.reading], [0])
    nodes = root.nodes([[], [Pick(2, 0)]], [0, 1], budget=[1, 2], order=[2, 0, 1])
    assert torch.equal(nodes.base, case.reading.vectors([[], [Pick(2, 0)]]))
    assert nodes.free is not None
    assert nodes.free[:, :3].tolist() == [[True, True, True], [True, True, False]]
    assert nodes.budget.tolist() == [1, 2]
    part = nodes.rows(1, 2)
    slopes = drawn(2, 2, *nodes.base.shape[1:], seed=4)
    assert torch.equal(part.minimum(slopes[1:]), nodes.minimum(slopes)[1:])


def test_nodes_are_those_of_one_text() -> None:
    found = cases("mlp", seed=1, count=2)
    with pytest.raises(ValueError, match="one text"):
        Region.of([c.reading for c in found], [1, 1]).nodes([[]], [0], budget=[1])


def test_a_text_without_candidates_is_its_own_region() -> None:
    case = next(c for c in cases("cnn", seed=2) if c.reading.choices)
    bare = type(case.reading)(case.reading.network, case.reading.plan, case.reading.text, ())
    object.__setattr__(bare, "plan", type(bare.plan)((), (), (), (), ()))
    region = Region.of([bare], [3])
    slopes = drawn(1, 2, *region.base.shape[1:], seed=3)
    assert torch.allclose(region.minimum(slopes), torch.einsum("nkwd,nwd->nk", slopes, region.base))
