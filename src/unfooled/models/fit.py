"""The training loop that word networks and Hugging Face encoders share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from unfooled.errors import InputError
from unfooled.models.progress import Progress, watched


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train."""

    epochs: int
    batch: int
    lr: float
    seed: int = 0
    patience: int | None = 3  # stop after so many epochs without a better one; None: never
    warmup: float = 0.0  # share of the steps in which the rate climbs to `lr`
    decay: bool = False  # whether it then falls linearly to zero
    weight_decay: float = 0.0
    progress: bool = True

    def __post_init__(self) -> None:
        for name in ("epochs", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is at least 1, not {getattr(self, name)}")
        if not (math.isfinite(self.lr) and self.lr > 0):
            raise InputError(f"the learning rate is a positive number, not {self.lr}")


class Measured(NamedTuple):
    """Mean loss and accuracy on the dev split."""

    loss: float
    accuracy: float


@dataclass(frozen=True)
class Epoch:
    """One epoch of a training."""

    loss: float
    dev: Measured | None
    seconds: float


@dataclass(frozen=True)
class Task:
    """What is trained: a module, its batches, its loss on one of them, and a dev measure."""

    title: str
    module: nn.Module
    rows: int
    batches: Callable[[torch.Generator], Iterable[list[int]]]
    loss: Callable[[list[int]], Tensor]
    measure: Callable[[], Measured] | None = None


@contextmanager
def forked(seed: int) -> Iterator[None]:
    """Torch's random state seeded inside, and afterwards as it was before."""
    devices = range(torch.cuda.device_count())
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True)
class Fitted:
    """The epochs of a training and which one's weights were kept, counted from 0."""

    history: tuple[Epoch, ...]
    kept: int


def fit(task: Task, schedule: Schedule) -> Fitted:
    """Trains the module in place and returns the epochs; the best epoch's weights are kept.

    Best is the highest dev accuracy, then the lowest dev loss. Without a dev measure, or without
    patience, all epochs are run and the last weights are kept. Draws from torch's current random
    state (dropout) and from a generator of the seed (order), so call it inside `forked`.
    """
    steps = math.ceil(task.rows / schedule.batch) * schedule.epochs
    train = _Optimizer(task.module, schedule, steps=steps)
    generator = torch.Generator().manual_seed(schedule.seed)
    patience = schedule.patience if task.measure else None
    history: list[Epoch] = []
    kept: tuple[int, dict[str, Tensor]] | None = None
    with watched(task.title, steps=steps, wanted=schedule.progress) as progress:
        for number in range(schedule.epochs):
            history.append(_epoch(task, train, generator=generator, progress=progress))
            progress.epoch(_line(number, schedule.epochs, epoch=history[-1]))
            if patience is None:
                continue
            best = best_epoch(history)
            if best == number:
                kept = number, _copy(task.module)
            elif number - best >= patience:
                break
    if kept is None:
        return Fitted(tuple(history), len(history) - 1)
    task.module.load_state_dict(kept[1])
    return Fitted(tuple(history), kept[0])


def best_epoch(history: Iterable[Epoch]) -> int:
    """The index of the epoch with the best dev measure; the last one without a dev split."""
    epochs = list(history)
    measured = [(e.dev.accuracy, -e.dev.loss, -n) for n, e in enumerate(epochs) if e.dev]
    return -max(measured)[2] if measured else len(epochs) - 1


def _epoch(
    task: Task, train: _Optimizer, *, generator: torch.Generator, progress: Progress
) -> Epoch:
    start = time.perf_counter()
    task.module.train()
    losses = []
    for rows in task.batches(generator):
        losses.append(train.step(task.loss(rows)))
        progress.step(losses[-1])
    task.module.eval()
    dev = task.measure() if task.measure else None
    return Epoch(sum(losses) / len(losses), dev, time.perf_counter() - start)


class _Optimizer:
    """AdamW with the schedule's learning rate and gradients of norm 1 at most."""

    def __init__(self, module: nn.Module, schedule: Schedule, *, steps: int) -> None:
        self.trained = [part for part in module.parameters() if part.requires_grad]
        self.adam = torch.optim.AdamW(
            self.trained, lr=schedule.lr, weight_decay=schedule.weight_decay
        )
        self.rate = torch.optim.lr_scheduler.LambdaLR(
            self.adam, lambda step: _rate(step, steps, schedule=schedule)
        )

    def step(self, loss: Tensor) -> float:
        """Moves the weights against the gradient of the loss and returns the loss."""
        value = loss.item()
        if not math.isfinite(value):
            raise InputError(f"the training loss became {value}: try a smaller learning rate")
        self.adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.adam.step()
        self.rate.step()
        return value


def _rate(step: int, steps: int, *, schedule: Schedule) -> float:
    climb = int(schedule.warmup * steps)
    if step < climb:
        return (step + 1) / climb
    return max(0.0, (steps - step) / max(1, steps - climb)) if schedule.decay else 1.0


def _copy(module: nn.Module) -> dict[str, Tensor]:
    return {name: part.detach().clone() for name, part in module.state_dict().items()}


def _line(number: int, epochs: int, *, epoch: Epoch) -> str:
    dev = f"  dev accuracy {epoch.dev.accuracy:.4f}" if epoch.dev else ""
    return f"epoch {number + 1}/{epochs}  loss {epoch.loss:.4f}{dev}  {epoch.seconds:.1f} s"
