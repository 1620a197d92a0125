"""The battery for bounds of whole networks: never above the truth, however it is looked for."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from bound_cases import MOST, Case, bound, cases, members

from sweep_toys import BOUNDED
from unfooled.bounds.margins import METHODS, Method, margins
from unfooled.bounds.region import Region
from unfooled.errors import InputError

NETWORKS = 13  # for each architecture, of 30 texts at 4 radii: 21,840 cases in all
ALL = [(arch, pair) for arch in BOUNDED for pair in (False, True)]
CLOSE = 1e-9


def sizes(found: list[Case]) -> torch.Tensor:
    """(cases, 1): how far rounding may reach in the oracle."""
    return torch.stack([torch.cat(c.leads).abs().amax() for c in found]).clamp(min=1)[:, None]


@pytest.mark.parametrize(("arch", "pair"), ALL)
def test_bounds_are_never_above_the_exact_minimum(arch: str, pair: bool) -> None:
    """And equal it without swaps; linear bounds are never below intervals."""
    for seed in range(NETWORKS):
        found = cases(arch, seed=seed, pair=pair)
        near = CLOSE * sizes(found)
        for swaps in range(MOST + 1):
            exact = torch.stack([case.least(swaps) for case in found])
            boxed = bound(found, [swaps] * len(found), "intervals").lower
            lines = bound(found, [swaps] * len(found), "crown-ibp").lower
            assert bool((boxed <= exact + near).all())
            assert bool((lines <= exact + near).all())
            assert bool((lines >= boxed - near).all())
            if swaps == 0:
                assert bool(((lines - exact).nan_to_num(nan=0.0).abs() <= near).all())
                assert bool(((boxed - exact).nan_to_num(nan=0.0).abs() <= near).all())


@pytest.mark.parametrize(("arch", "pair"), ALL)
@pytest.mark.parametrize("method", ["crown", "optimised"])
def test_so_are_the_dearer_ones(arch: str, pair: bool, method: Method) -> None:
    found = cases(arch, seed=1, pair=pair, count=4)
    near = CLOSE * sizes(found)
    for swaps in (0, 2):
        exact = torch.stack([case.least(swaps) for case in found])
        lower = bound(found, [swaps] * len(found), method).lower
        assert bool((lower <= exact + near).all())
        if method == "optimised":  # but for the digits that a certificate drops
            before = bound(found, [swaps] * len(found), "crown-ibp").lower
            assert bool((lower >= before - 1e-4 * sizes(found)).all())


@pytest.mark.parametrize(("arch", "pair"), ALL)
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_is_bounded_as_its_texts_are_alone(arch: str, pair: bool, method: Method) -> None:
    found = cases(arch, seed=2, pair=pair, count=3)
    budgets = [2, 3, 0]
    together = bound(found, budgets, method, steps=3).lower
    alone = [bound([c], [b], method, steps=3).lower for c, b in zip(found, budgets, strict=True)]
    apart = (together - torch.cat(alone)).nan_to_num(nan=0.0).abs()
    # Where a bound has a kink, rounding decides which way its ascent takes.
    near = 1e-2 if method == "optimised" else 1e-7
    assert bool((apart <= near * sizes(found)).all())


@pytest.mark.parametrize("arch", BOUNDED)
def test_more_swaps_and_more_candidates_never_raise_interval_bounds(arch: str) -> None:
    """For linear bounds that is not promised: a wider box may bring a line that fits better."""
    found = cases(arch, seed=4, count=10)
    lower = [bound(found, [k] * len(found), "intervals").lower for k in range(MOST + 1)]
    for fewer, more in pairwise(lower):
        assert bool((more <= fewer + CLOSE * sizes(found)).all())
    for case in found:
        whole = Region.of([case.reading], [2])
        part = whole.nodes([[]], [1], budget=[2])  # without the first column
        ask = {"labels": [case.label], "method": "intervals"}
        less, all_ = (margins(case.reading.network, r, **ask).lower for r in (part, whole))
        assert bool((all_ <= less + CLOSE).all())


@pytest.mark.parametrize("arch", BOUNDED)
def test_with_the_same_lines_more_swaps_never_raise_linear_bounds(arch: str) -> None:
    """The boxes and slopes of the widest region hold in those within it."""
    from unfooled.bounds import linear
    from unfooled.bounds.intervals import boxes
    from unfooled.bounds.margins import differences
    from unfooled.bounds.networks import graph_of

    for case in cases(arch, seed=5, count=6):
        regions = [Region.of([case.reading], [k]) for k in range(MOST + 1)]
        graph = graph_of(case.reading.network, regions[-1])
        found = boxes(graph, regions[-1])
        slopes = linear.default_slopes(graph, found)
        ask = {"found": found, "slopes": slopes, "weights": differences(torch.tensor([0]), 3)}
        lower = [linear.lower_bounds(graph, region, **ask) for region in regions]
        for fewer, more in pairwise(lower):
            assert bool((more <= fewer + CLOSE * fewer.abs().clamp(min=1)).all())


@pytest.mark.parametrize(("arch", "pair"), ALL)
def test_descent_in_the_hull_of_the_candidates_never_falls_below_linear_bounds(
    arch: str, pair: bool
) -> None:
    """Boxes and lines hold for mixtures of the candidates too, of at most so many swaps in all."""
    for case in cases(arch, seed=6, pair=pair, count=4):
        reading = case.reading
        if not reading.choices:
            continue
        region = Region.of([reading], [2])
        free = torch.zeros(region.points.shape[1:3], dtype=torch.float64, requires_grad=True)
        lower = float(bound([case], [2], "crown-ibp").margin[0])
        network = reading.network.train()  # recurrent networks differentiate in this mode alone
        network.dropout.eval()
        for _ in range(15):
            shares = torch.where(region.real[0], free, -torch.inf).softmax(dim=1)
            moved = (shares.unsqueeze(2) * region.points[0]).sum(dim=1)
            moved = moved * min(1.0, 2 / len(moved))
            vectors = region.base[0].index_add(0, region.places[0], moved).unsqueeze(0)
            logits = reading.classify(network.encode(vectors, region.mask))[0]
            rest = torch.cat([logits[: case.label], logits[case.label + 1 :]])
            margin = logits[case.label] - rest.max()
            assert float(margin.detach()) >= lower - CLOSE * max(1.0, abs(lower))
            (slope,) = torch.autograd.grad(margin, free)
            free = (free - 50 * slope).detach().requires_grad_()
        reading.network.eval()


@pytest.mark.parametrize(("arch", "pair"), ALL)
def test_nodes_of_one_text_are_bounded_below_what_they_hold(arch: str, pair: bool) -> None:
    for case in cases(arch, seed=7, pair=pair, count=5):
        reading, columns = case.reading, len(case.reading.choices)
        root = Region.of([reading], [0])
        every = members(reading)
        order = list(range(columns))[::-1]
        fixed = [picks for picks in every if len(picks) <= 1][:6]
        start = [columns - min((c for c, _ in p), default=columns) for p in fixed]
        nodes = root.nodes(fixed, start, budget=[2] * len(fixed), order=order)
        other = None if reading.other is None else reading.other.expand(len(fixed), -1)
        lower = margins(
            reading.network,
            nodes,
            labels=[case.label] * len(fixed),
            other=other,
            second=reading.second,
        ).margin
        for row, (picks, first) in enumerate(zip(fixed, start, strict=True)):
            free = set(order[first:])
            inside = [m for m in every if set(picks) <= set(m)]
            inside = [m for m in inside if {c for c, _ in set(m) - set(picks)} <= free]
            logits = reading.logits([m for m in inside if len(m) <= len(picks) + 2])
            leads = logits[:, case.label, None] - logits
            leads[:, case.label] = torch.inf
            assert float(lower[row]) <= float(leads.min()) + CLOSE * float(logits.abs().max() + 1)


def test_an_unknown_method_is_named() -> None:
    (case,) = cases("mlp", seed=0, count=1)
    with pytest.raises(InputError, match=r"'crowns'.*crown-ibp"):
        bound([case], [1], "crowns")  # type: ignore[arg-type]
