"""Training a reference model from a data set to a saved folder."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from unfooled.devices import usable
from unfooled.errors import Unsupported
from unfooled.models.config import ARCHITECTURES
from unfooled.models.fit import Epoch, Fitted, Schedule
from unfooled.models.folder import check_target
from unfooled.models.scoring import accuracy
from unfooled.models.split import Split, split
from unfooled.models.store import WordModel, save
from unfooled.models.words import AUTO, Objective, WordRecipe, train_words

if TYPE_CHECKING:
    from unfooled.data import Dataset
    from unfooled.models.encoder import EncoderModel

_WORD_SCHEDULE = Schedule(epochs=15, batch=64, lr=1e-3)


@dataclass(frozen=True)
class Training:
    """A finished training: the saved model and how it went."""

    folder: Path
    model: WordModel | EncoderModel
    history: tuple[Epoch, ...]
    kept: int  # the epoch whose weights were saved, counted from 0
    seconds: float

    @property
    def dev_accuracy(self) -> float | None:
        """Dev accuracy of the weights that were saved; None without a dev split."""
        dev = self.history[self.kept].dev
        return None if dev is None else dev.accuracy

    def accuracy(self, dataset: Dataset) -> float:
        """The share of examples that the trained model classifies correctly."""
        return accuracy(self.model, dataset)


def train(
    arch: str,
    dataset: Dataset,
    *,
    out: Path | str,
    dev: Dataset | None = None,
    vectors: str | Path | None = AUTO,
    frozen: bool = False,
    epochs: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    max_length: int | None = None,
    layers: int | None = None,
    seed: int = 0,
    defence: Objective | None = None,
    early_stopping: bool = True,
    progress: bool = True,
    device: str | None = None,
) -> Training:
    """Trains `arch` on the data set, saves the model in `out` and returns how it went.

    `arch` is `mlp`, `dan`, `cnn`, `cnn-msr`, `lstm`, `bilstm` or `transformer`; `hf` for the minilm asset;
    `hf:NAME` or a folder for another Hugging Face encoder. None stands for the architecture's default.
    `vectors` is an asset name, a folder or a text file; "auto" is glove-50 except for `mlp`, whose
    vectors of size 2 are learned. `max_length` counts words, for Hugging Face encoders tokens. `layers`
    counts the affine layers with ReLU of `mlp` and `dan`.
    Same seed, same weights on one machine with the same number of threads.
    """
    out, start = Path(out), time.perf_counter()
    check_target(out)  # before the work, not after it
    place = usable(("cuda" if torch.cuda.is_available() else "cpu") if device is None else device)
    asked = {"epochs": epochs, "batch": batch, "lr": lr, "seed": seed, "progress": progress}
    asked = {name: value for name, value in asked.items() if value is not None}
    asked |= {} if early_stopping else {"patience": None}
    parts = split(dataset, dev, early_stopping=early_stopping)
    job = _Job(parts, tuple(dataset.labels), asked=asked, device=place, out=out)
    if arch in ARCHITECTURES:
        model, fitted = job.words(
            WordRecipe(arch, vectors, frozen, max_length, layers=layers), defence
        )
    else:
        _refuse_for_encoders(arch, vectors=vectors, frozen=frozen, defence=defence, layers=layers)
        model, fitted = job.encoder(arch, max_length)
    return Training(out, model, fitted.history, fitted.kept, time.perf_counter() - start)


@dataclass(frozen=True)
class _Job:
    parts: Split
    labels: tuple[str, ...]
    asked: dict[str, Any]  # what the caller says about the schedule
    device: torch.device
    out: Path

    def words(
        self, recipe: WordRecipe, objective: Objective | None
    ) -> tuple[WordModel | EncoderModel, Fitted]:
        schedule = replace(_WORD_SCHEDULE, **self.asked)
        model, fitted = train_words(
            self.parts,
            recipe,
            labels=self.labels,
            schedule=schedule,
            objective=objective,
            device=self.device,
        )
        notes = {"vectors": recipe.source, "frozen": recipe.frozen, **_notes(schedule, fitted)}
        save(model, self.out, training=notes)
        return model, fitted

    def encoder(self, arch: str, max_length: int | None) -> tuple[WordModel | EncoderModel, Fitted]:
        from unfooled.models.encoder import SCHEDULE, save_encoder, train_encoder

        schedule = replace(SCHEDULE, **self.asked)
        model, fitted = train_encoder(
            self.parts,
            arch,
            labels=self.labels,
            schedule=schedule,
            max_length=max_length,
            device=self.device,
        )
        save_encoder(model, self.out, training={"arch": arch, **_notes(schedule, fitted)})
        return model, fitted


def _notes(schedule: Schedule, fitted: Fitted) -> dict[str, Any]:
    dev = fitted.history[fitted.kept].dev
    return {
        "epochs": len(fitted.history),
        "kept_epoch": fitted.kept + 1,
        "batch": schedule.batch,
        "lr": schedule.lr,
        "seed": schedule.seed,
        "dev_accuracy": None if dev is None else dev.accuracy,
        "torch": torch.__version__,
    }


def _refuse_for_encoders(arch: str, **options: object) -> None:
    """An option that only word models know must not be ignored in silence."""
    for name, value in options.items():
        if value not in (None, AUTO, False):
            raise Unsupported(
                f"{name} is an option of the word models ({', '.join(ARCHITECTURES)}), "
                f"not of the Hugging Face encoder {arch!r}"
            )
