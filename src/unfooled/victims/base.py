"""Victim: what every classifier under test can do, however it is reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.errors import OutOfMemory, VictimError
from unfooled.evidence import tolerance
from unfooled.program import Sweep, Swept
from unfooled.space import Space
from unfooled.text import Source

if TYPE_CHECKING:
    from unfooled.bounds.reading import Reading

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
    spec: str | None = None  # what `load` was given, None: made in Python
    pair: bool | None = None  # whether it reads a premise and a hypothesis, None: both or not known
    batch_rows: int = 128
    batch_tokens: int | None = None
    """How many tokens, padding included, a batch may have; None: its rows are limit enough."""
    depth: int = 0
    """How many submitted batches may be under way at once; 0: submit does the work itself."""

    @abstractmethod
    def scores(self, sources: Sequence[Source]) -> Floats:
        """(n, classes) scores of n strings or (premise, hypothesis) pairs."""

    def alone(self, sources: Sequence[Source]) -> Floats:
        """(n, classes): the scores of each text as if it were the only one that is asked for."""
        how: dict[str, Any] = {"n": 1, "classes": len(self.labels), "name": self.name}
        return np.concatenate([checked(self.scores([source]), **how) for source in sources])

    @abstractmethod
    def prepare(self, space: Space) -> Prepared:
        """The space in the victim's own form."""

    def prepare_all(self, spaces: Sequence[Space]) -> Callable[[], Sequence[Prepared]]:
        """Starts on several spaces, for a victim that gains by having them together; the handle waits."""
        return lambda: [self.prepare(space) for space in spaces]

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


class Sensitive(Victim):
    """A victim that can say how much a score depends on each word."""

    @abstractmethod
    def sensitivity(self, prepared: Any, of: int) -> Floats | None:
        """(columns,): the L1 norm of the gradient of score `of` at each word of the original.

        None where this space has none.
        """


class Sweeping(Victim):
    """A victim that can compute many members of a space for less than a forward each."""

    @abstractmethod
    def sweep(self, prepared: Any, sweep: Sweep, *, limit: int | None) -> Iterator[Swept] | None:
        """The members asked for, stretch by stretch, at most `limit` of them; None: not this space.

        It ends with a stretch that is complete or has a member that fools; when it ends without,
        the limit has been reached.
        """


class Layered(Victim):
    """A victim that shows its network, for methods that bound what it computes."""

    architecture: str  # what kind of network it is: a name of `models`
    pair: bool  # it knows

    @abstractmethod
    def layers(self, prepared: Any) -> Reading | None:
        """The network, the text and its candidates as vectors; None: not this space."""


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


def checked_slopes(slopes: Any, *, parts: Sequence[Part], name: str) -> list[Floats]:
    """The gradients of each part, or a VictimError that says what was expected."""
    spaces = [part.prepared.space for part in parts]
    wanted = [
        (len(part.rows), len(space.counts), max(space.counts, default=0) + 1)
        for part, space in zip(parts, spaces, strict=True)
    ]
    found = [np.asarray(answer) for answer in slopes or ()]
    shapes = [answer.shape for answer in found]
    if shapes != wanted:
        raise VictimError(f"{name} returned gradients of shapes {shapes}; expected {wanted}")
    if not all(np.isfinite(answer).all() for answer in found):
        raise VictimError(f"{name} returned gradients that are not finite")
    return found


def repeats_itself(victim: Victim, sources: Sequence[Source]) -> bool:
    """Whether a victim gives the same scores for the same texts twice, as far as it gives any."""
    shape = len(sources), len(victim.labels)
    try:
        one, two = (np.asarray(victim.scores(sources), dtype=float) for _ in range(2))
    except Exception:  # a text it fails on is asked for again, and named then
        return len(sources) < 2 or all(repeats_itself(victim, [s]) for s in sources)
    if one.shape != shape or two.shape != shape:
        return True  # what was expected is said when the engine meets it
    finite = np.isfinite(one) & np.isfinite(two)
    apart = np.abs(np.where(finite, one, 0.0) - np.where(finite, two, 0.0)).max(axis=1, initial=0.0)
    return not bool((apart > tolerance(np.where(finite, one, 0.0))).any())


def ran_out_of_memory(error: Exception) -> bool:
    """Whether an error says so; functions raise what Python or their tensor library raises."""
    known = isinstance(error, (OutOfMemory, MemoryError))
    return known or type(error).__name__ == "OutOfMemoryError"


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
