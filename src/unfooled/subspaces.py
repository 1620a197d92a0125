"""Parts of a space that are spaces again: the words of a window, the first candidates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unfooled.errors import InputError
from unfooled.space import Dropped, Space
from unfooled.text import Text


class View(NamedTuple):
    """Some words of a text as a space of their own, and where its columns are in the whole."""

    space: Space
    columns: NDArray[np.int64]  # of the whole space, one for each column of the part
    inside: NDArray[np.int64]  # those of all words of the part, also without candidates as yet


def window(length: int, centre: int, *, width: int | None) -> range:
    """The positions of `width` words around one, shifted at the borders; None: all of them.

    The window has `width` words whenever the text does: at a border it is moved, not cut.

    >>> window(20, 10, width=5), window(20, 1, width=5), window(20, 19, width=5), window(3, 1, width=5)
    (range(8, 13), range(0, 5), range(15, 20), range(0, 3))
    """
    if width is None or width >= length:
        return range(length)
    start = min(max(centre - width // 2, 0), length - width)
    return range(start, start + width)


def view(space: Space, words: range) -> View:
    """The editable words of a space at these positions, without what stays fixed in a pair."""
    inside = [c for c, p in enumerate(space.positions) if p in words]
    candidates = {space.positions[c] - words.start: space.candidates[c] for c in inside}
    part = Space(_cut(editable(space.original), words), candidates)
    columns = {space.positions[c]: c for c in inside}  # an open copy has its own order
    own = [columns[p + words.start] for p in part.positions]
    return View(part, np.array(own, dtype=np.int64), np.array(inside, dtype=np.int64))


def editable(text: Text) -> Text:
    """The words that may be edited as a text of one piece."""
    if text.editable != "both":
        return Text(text.words, text.gaps)
    gaps = list(text.gaps)
    gaps[text.split] += f" {text.seam}"
    return Text(text.words, tuple(gaps))


def first_candidates(space: Space, most: int) -> Space:
    """The space with at most so many candidates for each word, those that come first."""
    if most < 1:
        raise InputError(f"max_candidates is 1 or more, not {most}")
    columns = list(zip(space.positions, space.candidates, strict=True))
    found = Space(space.original, {p: known[:most] for p, known in columns})
    reason = f"not among the first {most}"
    gone = [Dropped(p, word, reason) for p, known in columns for word in known[most:]]
    found.dropped = (*space.dropped, *gone)
    return found


def _cut(text: Text, words: range) -> Text:
    before = text.gaps[0] if words.start == 0 else ""
    after = text.gaps[-1] if words.stop == len(text) else ""
    if not len(words):
        return text
    inner = text.gaps[words.start + 1 : words.stop]
    return Text(text.words[words.start : words.stop], (before, *inner, after))
