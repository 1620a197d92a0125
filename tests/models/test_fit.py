"""The training loop on problems whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unfooled.errors import InputError
from unfooled.models.fit import Epoch, Measured, Schedule, Task, best_epoch, fit, forked

QUIET = Schedule(epochs=5, batch=4, lr=0.1, progress=False)


class Point(nn.Module):
    """One number that the loss pulls to 3."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.zeros(()))

    def forward(self) -> Tensor:
        return (self.place - 3).square()


def task(point: Point, measures: list[Measured] | None = None, rows: int = 40) -> Task:
    answers = iter(measures or [])
    return Task(
        title="point",
        module=point,
        rows=rows,
        batches=lambda _: [[index] for index in range(rows // 4)],
        loss=lambda _: point(),
        measure=(lambda: next(answers)) if measures else None,
    )


def epochs(*accuracies: tuple[float, float]) -> list[Epoch]:
    return [Epoch(1.0, Measured(loss, accuracy), 0.0) for accuracy, loss in accuracies]


def test_the_minimum_is_found():
    point = Point()
    fitted = fit(task(point), Schedule(epochs=30, batch=4, lr=0.1, progress=False))
    assert point.place.item() == pytest.approx(3, abs=0.02)
    assert (len(fitted.history), fitted.kept) == (30, 29)
    assert fitted.history[0].loss > fitted.history[-1].loss
    assert not point.training


def test_best_is_accuracy_then_loss_then_the_earlier_epoch():
    assert best_epoch(epochs((0.5, 1.0), (0.7, 2.0), (0.6, 0.1))) == 1
    assert best_epoch(epochs((0.7, 1.0), (0.7, 0.5), (0.7, 0.8))) == 1
    assert best_epoch(epochs((0.7, 1.0), (0.7, 1.0))) == 0
    assert best_epoch([Epoch(1.0, None, 0.0)] * 4) == 3


def test_early_stopping_keeps_the_best_weights_and_ends_after_patience():
    scores = [Measured(1.0, accuracy) for accuracy in (0.5, 0.8, 0.7, 0.6, 0.5, 0.9)]
    point, other = Point(), Point()
    fitted = fit(task(point, scores), Schedule(6, 4, 0.1, patience=2, progress=False))
    assert (len(fitted.history), fitted.kept) == (4, 1)
    fit(task(other), Schedule(2, 4, 0.1, progress=False))
    assert point.place.item() == other.place.item()  # the weights after the second epoch


def test_without_patience_every_epoch_is_run_and_the_last_weights_stay():
    scores = [Measured(1.0, accuracy) for accuracy in (0.9, 0.1, 0.1, 0.1, 0.1)]
    point, other = Point(), Point()
    fitted = fit(task(point, scores), Schedule(5, 4, 0.1, patience=None, progress=False))
    fit(task(other), QUIET)
    assert (len(fitted.history), fitted.kept) == (5, 4)
    assert point.place.item() == other.place.item()


def test_a_frozen_parameter_stays():
    point = Point()
    point.fixed = nn.Parameter(torch.ones(2), requires_grad=False)
    fit(task(point), QUIET)
    assert point.fixed.tolist() == [1, 1]
    assert point.place.item() != 0


def test_the_rate_climbs_and_falls():
    class Line(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.place = nn.Parameter(torch.zeros(()))

    line, places = Line(), [0.0]

    def loss(_: list[int]) -> Tensor:
        places.append(line.place.item())
        return -line.place

    shape = Schedule(1, 1, 1.0, warmup=0.2, decay=True, progress=False)
    fit(Task("line", line, 10, lambda _: [[n] for n in range(10)], loss), shape)
    # A constant gradient makes every step of Adam as long as its learning rate.
    steps = np.diff([*places[1:], line.place.item()])
    expected = [0.5, 1.0, *(np.arange(8, 0, -1) / 8)]
    np.testing.assert_allclose(steps, expected, atol=1e-5)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_explodes_is_reported(value: float):
    point = Point()
    broken = Task("broken", point, 4, lambda _: [[0]], lambda _: point() * value)
    with pytest.raises(InputError, match="smaller learning rate"):
        fit(broken, QUIET)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epochs": 0}, "epochs"),
        ({"batch": -1}, "batch"),
        ({"lr": 0.0}, "rate"),
        ({"lr": math.nan}, "rate"),
    ],
)
def test_an_impossible_schedule_is_refused(values: dict, message: str):
    with pytest.raises(InputError, match=message):
        Schedule(**({"epochs": 1, "batch": 1, "lr": 0.1} | values))


def test_forked_is_seeded_inside_and_leaves_no_trace():
    before = torch.get_rng_state()
    with forked(5):
        first = torch.rand(3)
    with forked(5):
        assert torch.equal(torch.rand(3), first)
    assert torch.equal(torch.get_rng_state(), before)
