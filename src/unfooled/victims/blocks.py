"""Blocks of one shape: texts that are run together, with scores that do not depend on each other.

What a kernel computes for a row depends in its last digits on the shape of the batch. Where every text
runs in a block of a width that follows from its own length, and with always as many rows, its scores are
its own: as many texts as there are cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

ROWS = 16
_STEP = 32  # widths are multiples of it


class Block(NamedTuple):
    """Texts of one block by number, filled up to ROWS by repeating one, and the block's width."""

    texts: list[int]
    rows: list[int]
    width: int


def blocks(lengths: Sequence[int], *, limit: int | None) -> Iterator[Block]:
    """Every text once, in blocks of the width of its own length.

    >>> [(b.texts, len(b.rows), b.width) for b in blocks([3, 40, 32], limit=50)]
    [([0, 2], 16, 32), ([1], 16, 50)]
    """
    widths: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        width = -(-max(length, 1) // _STEP) * _STEP
        widths.setdefault(width if limit is None else min(width, limit), []).append(number)
    for width, numbers in widths.items():
        for start in range(0, len(numbers), ROWS):
            chosen = numbers[start : start + ROWS]
            yield Block(chosen, chosen + chosen[:1] * (ROWS - len(chosen)), width)
