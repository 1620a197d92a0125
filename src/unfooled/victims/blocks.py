"""Blocks of one shape: texts that are run together, with scores that do not depend on each other.

What a kernel computes for a row depends in its last digits on the shape of the batch. Where every text
runs in a block whose width and number of rows follow from its own length, its scores are its own: as many
texts as there are cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_STEP = 32  # widths are multiples of it
_TOKENS = 4096  # of a block: a device reads them in the time of one text
_LEAST = 16  # rows


class Block(NamedTuple):
    """Texts of one block by number, filled up with one of them to the rows of its width."""

    texts: list[int]
    rows: list[int]
    width: int


def blocks(lengths: Sequence[int], *, limit: int | None) -> Iterator[Block]:
    """Every text once, in blocks of the width of its own length.

    >>> [(b.texts, len(b.rows), b.width) for b in blocks([3, 400, 32], limit=300)]
    [([0, 2], 128, 32), ([1], 16, 300)]
    """
    widths: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        width = -(-max(length, 1) // _STEP) * _STEP
        widths.setdefault(width if limit is None else min(width, limit), []).append(number)
    for width, numbers in widths.items():
        rows = max(_LEAST, _TOKENS // width)
        for start in range(0, len(numbers), rows):
            chosen = numbers[start : start + rows]
            yield Block(chosen, chosen + chosen[:1] * (rows - len(chosen)), width)
