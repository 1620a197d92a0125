"""Every line is on its side of its function, whatever the slope; the best ones are tight."""

from __future__ import annotations

import math

import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor

from unfooled.bounds import relaxations as r
from unfooled.bounds.relaxations import Box

POSITIVE = {"reciprocal", "root"}
NOISE = 1e-9


def boxes(name: str, count: int, seed: int) -> Box:
    """Intervals wide and narrow, on both sides of zero and across it."""
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randn(2, count, generator=generator, dtype=torch.float64) * 3
    ends[:, ::7] = ends[:1, ::7] + 1e-7 * torch.rand(2, len(ends[0, ::7]), dtype=torch.float64)
    ends[1, ::11] = ends[0, ::11]  # a single point
    if name in POSITIVE:
        ends = ends.abs() + 0.05
    return Box(ends.amin(dim=0), ends.amax(dim=0))


def inside(box: Box, points: int = 41) -> Tensor:
    """(points, ...): from end to end of each interval."""
    steps = torch.linspace(0, 1, points, dtype=torch.float64)
    return box.lower + steps.reshape(-1, *(1,) * box.lower.dim()) * (box.upper - box.lower)


@pytest.mark.parametrize("name", r.CURVES)
@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0])
def test_lines_stay_on_their_side_whatever_their_slope(name: str, spread: float) -> None:
    curve, box = r.CURVES[name], boxes(name, 700, seed=3)
    generator = torch.Generator().manual_seed(5)
    noise = spread * torch.randn(700, generator=generator, dtype=torch.float64)
    points = inside(box, 401)
    for slope, sign in ((curve.best_below(box), 1), (curve.best_above(box), -1)):
        slope = slope + noise
        intercept = curve.below(slope, box) if sign > 0 else curve.above(slope, box)
        gap = sign * (curve.value(points) - slope * points - intercept)
        size = 1 + (slope * points).abs() + curve.value(points).abs()
        assert float((gap / size).min()) > -NOISE
        assert float((gap / size).amin(dim=0).max()) < 0.06  # and it touches, but for the grid


@pytest.mark.parametrize("name", r.CURVES)
def test_boxes_are_the_exact_range(name: str) -> None:
    curve, box = r.CURVES[name], boxes(name, 500, seed=8)
    values, found = curve.value(inside(box, 401)), curve.box(box)
    assert bool((found.lower <= values.amin(dim=0) + NOISE).all())
    assert bool((found.upper >= values.amax(dim=0) - NOISE).all())
    width = (box.upper - box.lower) / 400
    steep = curve.slope(inside(box)).abs().amax(dim=0)
    assert bool((values.amin(dim=0) - found.lower <= width * steep + NOISE).all())


@pytest.mark.parametrize("name", r.CURVES)
def test_a_line_below_is_the_best_there_is_in_the_middle(name: str) -> None:
    """An LP over slope and intercept, below the curve at many points, is at most a little higher."""
    curve, box = r.CURVES[name], boxes(name, 40, seed=13)
    for i in range(40):
        one = Box(box.lower[i : i + 1], box.upper[i : i + 1])
        if float(one.upper - one.lower) < 1e-3:
            continue
        points = inside(one, 101)[:, 0]
        values = curve.value(points)
        middle = float(one.middle)
        best = linprog(
            [-middle, -1.0],
            A_ub=torch.stack([points, torch.ones_like(points)], dim=1).numpy(),
            b_ub=values.numpy(),
            bounds=[(None, None)] * 2,
        )
        slope = curve.best_below(one)
        ours = float(slope * middle + curve.below(slope, one))
        assert ours <= -best.fun + 2e-2 * float(values.max() - values.min()) + 1e-6
        assert ours >= -best.fun - 0.1 * float(values.max() - values.min()) - 1e-6


def test_a_negative_number_has_neither_a_reciprocal_nor_a_root() -> None:
    box = Box(torch.tensor([-1.0]).double(), torch.tensor([2.0]).double())
    for name in POSITIVE:
        found = r.CURVES[name].box(box)
        assert bool(found.lower.isnan())
        assert bool(r.CURVES[name].below(torch.zeros(1).double(), box).isnan())


def test_relu_is_known_by_hand() -> None:
    box = Box(
        torch.tensor([-1.0, -3.0, 1.0, -2.0]).double(), torch.tensor([3.0, 1, 2, -1]).double()
    )
    assert r.RELU.best_below(box).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert r.RELU.chord(box).tolist() == [0.75, 0.25, 1.0, 0.0]
    assert r.RELU.above(r.RELU.chord(box), box).tolist() == [0.75, 0.75, 0.0, 0.0]


@pytest.mark.parametrize("mix", [-0.5, 0.0, 0.3, 0.5, 1.0, 1.7])
def test_planes_stay_on_their_side_of_a_product(mix: float) -> None:
    one, two = boxes("relu", 600, seed=1), boxes("relu", 600, seed=2)
    mixes = torch.full((600,), mix, dtype=torch.float64)
    x, y = inside(one, 9).unsqueeze(0), inside(two, 9).unsqueeze(1)
    for plane, sign in ((r.product_below, 1), (r.product_above, -1)):
        a, b, c = plane(mixes, one, two)
        gap = sign * (x * y - a * x - b * y - c)
        assert float(gap.min()) > -1e-9
        assert float(gap.amin(dim=(0, 1)).max()) < 1e-9  # and it touches
    box = r.product_box(one, two)
    assert bool((x * y >= box.lower - NOISE).all())
    assert bool((x * y <= box.upper + NOISE).all())


def test_the_planes_of_mccormick() -> None:
    one, two = (
        Box(torch.tensor(a).double(), torch.tensor(b).double()) for a, b in ((-1, 2), (3, 5))
    )
    for mix, want in ((0.0, (3, -1, 3)), (1.0, (5, 2, -10))):
        plane = r.product_below(torch.tensor(mix).double(), one, two)
        assert tuple(map(float, plane)) == want  # b_l x + a_l y - a_l b_l, and with upper ends
    for mix, want in ((0.0, (3, 2, -6)), (1.0, (5, -1, 5))):
        plane = r.product_above(torch.tensor(mix).double(), one, two)
        assert tuple(map(float, plane)) == want


@pytest.mark.parametrize("seed", range(6))
def test_lines_stay_on_their_side_of_a_maximum(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    lower = 4 * draw(300, 5)
    box = Box(lower, lower + 2 * draw(300, 5))
    points = box.lower + draw(200, 300, 5) * (box.upper - box.lower)
    points[:, :, 1] = torch.where(draw(200, 300) < 0.5, box.lower[:, 1], box.upper[:, 1])
    highest = points.amax(dim=2)
    allowed = torch.ones(300, 5, dtype=torch.float64)
    for weights in (r.maximum_weights(box, dim=1), draw(300, 5), torch.zeros(300, 5).double()):
        below = r.maximum_below(weights, allowed, dim=1)
        assert float((highest - (points * below).sum(dim=2)).min()) > -NOISE
    chosen = r.maximum_slopes(box, dim=1)
    for slopes in (chosen, draw(300, 5), torch.zeros(300, 5).double()):
        above = (points * slopes).sum(dim=2) + r.maximum_above(slopes, box, dim=1)
        assert float((above - highest).min()) > -NOISE
    middle = (chosen * box.middle).sum(dim=1) + r.maximum_above(chosen, box, dim=1)
    assert bool((middle <= box.upper.amax(dim=1) + NOISE).all())  # no worse than the constant


def test_a_maximum_that_one_number_always_wins_is_that_number() -> None:
    box = Box(torch.tensor([[1.0, 5.0, 2.0]]).double(), torch.tensor([[4.0, 6.0, 3.0]]).double())
    slopes = r.maximum_slopes(box, dim=1)
    assert slopes.tolist() == [[0.0, 1.0, 0.0]]
    assert float(r.maximum_above(slopes, box, dim=1)) == 0.0
    assert r.maximum_weights(box, dim=1).tolist() == [[0.0, 1.0, 0.0]]


def test_gelu_turns_where_its_slope_is_steepest() -> None:
    z = torch.tensor([math.sqrt(2), -math.sqrt(2)], dtype=torch.float64, requires_grad=True)
    (second,) = torch.autograd.grad(r.GELU.slope(z).sum(), z)
    assert float(second.abs().max()) < 1e-12
