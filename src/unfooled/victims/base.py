"""Victim: what every classifier under test can do, however it is reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.errors import VictimError
from unfooled.space import Space
from unfooled.text import Source

Floats = NDArray[np.floating]


class Prepared(ABC):
    """One space, made ready for one victim: rows become the victim's input by table look-ups."""

    space: Space
    canon: Rows | None = None
    """(column, choice) -> the first choice the victim cannot tell from it; None: all differ.

    Probe codes index it from the end, as negative numbers do."""

    def tokens(self, rows: Rows) -> int:
        """The length of the longest of these rows in the victim's own units; 1: length is no cost."""
        return 1


class Part(NamedTuple):
    """Rows of one space, as one piece of a batch."""

    prepared: Any
    rows: Rows


class Victim(ABC):
    """A batch of texts in, an array of class scores out.

    `scores` is the public entry, the one users call and findings are verified with. `prepare` and
    `submit` are the engine's faster way to the same numbers.
    """

    name: str
    labels: tuple[str, ...]
    dtype: str | None = None  # of its arithmetic, None: not known
    batch_rows: int = 128
    depth: int = 0
    """How many submitted batches may be under way at once; 0: submit does the work itself."""

    @abstractmethod
    def scores(self, sources: Sequence[Source]) -> Floats:
        """(n, classes) scores of n strings or (premise, hypothesis) pairs."""

    @abstractmethod
    def prepare(self, space: Space) -> Prepared:
        """The space in the victim's own form."""

    @abstractmethod
    def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
        """Starts scoring the rows of all parts; the handle waits for (total rows, classes)."""

    @property
    @abstractmethod
    def fingerprint(self) -> str | None:
        """A hash of the weights or files; None: known only by its answers."""


class Differentiable(Victim):
    """A victim that can say how a score changes when a word changes."""

    @abstractmethod
    def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
        """For each part (n, columns, choices): the first-order change of score `of[i]` by every swap."""


class Strings(Prepared):
    """A space for a victim that reads strings: nothing to prepare."""

    def __init__(self, space: Space) -> None:
        self.space = space


class StringVictim(Victim):
    """A victim that only has its public entry: rows are spelled out and sent there."""

    unknown: str = "[UNK]"

    def prepare(self, space: Space) -> Strings:
        return Strings(space)

    def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
        sources = [s for p in parts for s in p.prepared.space.sources(p.rows, unknown=self.unknown)]
        return lambda: self.scores(sources)


def checked(scores: Any, *, n: int, classes: int, name: str) -> Floats:
    """The scores as an array, or a VictimError that says what was expected."""
    try:
        array = np.asarray(scores)
    except (ValueError, TypeError) as error:
        raise VictimError(f"{name} returned {type(scores).__name__}, which is no array") from error
    if array.shape != (n, classes) or array.dtype.kind not in "fiub":
        raise VictimError(
            f"{name} was given {n} texts and returned an array of shape {array.shape} and type "
            f"{array.dtype}; expected numbers of shape ({n}, {classes}), a score for each class"
        )
    return array if array.dtype.kind == "f" else array.astype(np.float64)
