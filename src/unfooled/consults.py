"""Consults: questions for the companions of a victim, and what is remembered of them for a text."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.companions import Encodes, EncodesRows, Floats, Proposal, Request
from unfooled.counting import Rows, row_keys
from unfooled.errors import InputError
from unfooled.program import Proposals, Similarities
from unfooled.similarity import cosine
from unfooled.space import Space
from unfooled.subspaces import View, view, window

if TYPE_CHECKING:
    from unfooled.task import Task

_KEPT = 16_384  # similarities remembered for one reference


class Sight:
    """What is known of a text through one window: vectors of references, similarities to them."""

    def __init__(self, space: Space, words: range) -> None:
        self.words = words
        self.vectors: dict[tuple[bytes, bool], Floats] = {}
        self.known: dict[tuple[bytes, bool], dict[bytes, float]] = defaultdict(dict)
        self._whole, self._version = space, space.version
        self.view: View = view(space, words)
        self._prepared: Any = None

    def refresh(self) -> None:
        """Takes in what an open space has gained."""
        if self._whole.version != self._version:
            self._version = self._whole.version
            self.view, self._prepared = view(self._whole, self.words), None

    def prepared(self, encoder: EncodesRows) -> Any:
        """The part of the space in the encoder's own form."""
        if self._prepared is None:
            self._prepared = encoder.prepare(self.view.space)
        return self._prepared

    def keys(self, rows: Rows) -> list[bytes]:
        """What tells rows apart through this window; growth does not change it."""
        return row_keys(np.ascontiguousarray(rows[:, self.view.inside]))

    def sources(self, rows: Rows) -> list[str]:
        """The strings of rows through this window."""
        return [str(s) for s in self.view.space.sources(rows[:, self.view.columns])]


class Memory:
    """What the companions have said about one text."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.proposals: dict[tuple[bytes, int, int, bool], list[Proposal]] = {}
        self._sights: dict[range, Sight] = {}

    def sight(self, width: int | None, centre: int | None) -> Sight:
        """The text through a window, or the whole of it."""
        words = range(len(self.space.original))
        if width is not None:
            words = window(
                len(words), self.space.positions[self._column(width, centre)], width=width
            )
        if words not in self._sights:
            self._sights[words] = Sight(self.space, words)
        self._sights[words].refresh()
        return self._sights[words]

    def _column(self, width: int, centre: int | None) -> int:
        if width < 1:
            raise InputError(f"a window has 1 word or more, not {width}")
        if centre is None or not 0 <= centre < len(self.space.positions):
            raise InputError(
                f"a window lies around a column from 0 to {len(self.space.positions) - 1}, "
                f"not {centre}"
            )
        return centre

    def members(self, rows: Rows) -> Rows:
        """The rows, if they are members of the space: probes have neither vector nor proposals."""
        asked = np.atleast_2d(rows)
        if asked.dtype.kind not in "iu" or not self.space.contains(asked).all():
            raise InputError("companions are asked about members of the space only, not probes")
        return np.ascontiguousarray(asked, dtype=np.int16)


class Comparison:
    """Rows of one Similarities question that must still be encoded, and where the answers go.

    The reference is the first row of the work unless its vector is known.
    """

    def __init__(self, task: Task[Any], question: Similarities, memory: Memory) -> None:
        self.task, self.question = task, question
        rows, reference = memory.members(question.rows), memory.members(question.reference)
        self.sight = memory.sight(question.window, question.centre)
        self._about = (self.sight.keys(reference[:1])[0], question.alone)
        self._known = self.sight.known[self._about]
        self._known[self._about[0]] = 1.0
        keys = self.sight.keys(rows)
        fresh: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._known:
                fresh.setdefault(key, i)
        self._fresh = list(fresh)
        place = {key: number for number, key in enumerate(fresh)}
        self._places = np.array([place.get(key, -1) for key in keys], dtype=np.int64)
        self._answer = np.array([self._known.get(key, np.nan) for key in keys], dtype=np.float64)
        self._values: list[NDArray[np.float64]] = []
        first = reference[:1] if fresh and self._about not in self.sight.vectors else reference[:0]
        self._lead = len(first)
        self.rows = np.concatenate([first, rows[list(fresh.values())]])
        self.left = len(self.rows)

    @property
    def tokens(self) -> int:
        """The length of its rows in words."""
        return len(self.sight.words)

    def deliver(self, start: int, vectors: Floats) -> None:
        """Takes the vectors of rows start, start + 1, ..., which come in order."""
        self.left -= len(vectors)
        if start == 0 and self._lead:
            self.sight.vectors[self._about] = vectors[0]
            vectors = vectors[1:]
        self._values.append(cosine(vectors, self.sight.vectors[self._about]))
        if not self.left:
            self._finish()

    def _finish(self) -> None:
        values = np.concatenate(self._values)
        if len(self._known) + len(values) > _KEPT:
            self._known.clear()
        self._known.update(zip(self._fresh, values.tolist(), strict=True))
        new = self._places >= 0
        self._answer[new] = values[self._places[new]]

    def result(self) -> NDArray[np.float64]:
        """The whole answer, once nothing is left."""
        return self._answer


class Suggestion:
    """One Proposals question: a request, or what was said to it before."""

    def __init__(self, task: Task[Any], question: Proposals, memory: Memory) -> None:
        self.task, self.question = task, question
        row, words = memory.members(question.row)[0], len(memory.space.original)
        if not 0 <= question.position < words:
            raise InputError(f"position {question.position} is outside a text of {words} words")
        if question.k < 1:
            raise InputError(f"k is 1 or more proposals, not {question.k}")
        self._key = (row.tobytes(), question.position, question.k, question.masked)
        self._known = memory.proposals
        self.left = int(self._key not in self._known)
        self.request = Request(
            memory.space.text(row), question.position, question.k, question.masked
        )

    def deliver(self, proposals: list[Proposal]) -> None:
        """Takes what the model proposed."""
        self._known[self._key], self.left = proposals, 0

    def result(self) -> list[Proposal]:
        """The proposals, in a list of the program's own."""
        return list(self._known[self._key])


Consult = Comparison | Suggestion


class Stretch(NamedTuple):
    """Rows start to stop of a comparison."""

    ask: Comparison
    start: int
    stop: int


def encoded(encoder: Encodes, batch: list[Stretch]) -> Floats:
    """The vectors of a batch, by rows where the encoder can."""
    if isinstance(encoder, EncodesRows):
        parts = [
            (c.sight.prepared(encoder), c.rows[a:b][:, c.sight.view.columns]) for c, a, b in batch
        ]
        return encoder.encode_rows(parts)
    return encoder.encode([s for c, a, b in batch for s in c.sight.sources(c.rows[a:b])])
