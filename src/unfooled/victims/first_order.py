"""What a gradient says about every swap at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.victims.pieces import PieceTable

Floats = NDArray[np.floating]


def first_order(
    table: PieceTable, rows: Rows, slopes: Floats, *, vectors: Floats, shift: int = 0
) -> Floats:
    """(n, columns, choices): the change of a score that its gradient predicts for every single swap.

    `slopes` (n, tokens, d) is the gradient with respect to the token vectors of `rows`, `vectors`
    the embedding matrix, `shift` the number of tokens before the body. A word of several pieces
    counts with the sum of their gradients and the mean of their vectors. Exact when every word is
    one piece and the model is linear in its vectors.
    """
    starts, sizes = table.spans(rows)  # (n, columns)
    running = np.zeros((len(rows), slopes.shape[1] + 1, slopes.shape[2]))
    np.cumsum(slopes, axis=1, out=running[:, 1:])
    last = slopes.shape[1]  # what was cut off has no gradient
    index = np.arange(len(rows))[:, None]
    begin, end = np.minimum(starts + shift, last), np.minimum(starts + sizes + shift, last)
    pooled = running[index, end] - running[index, begin]  # (n, columns, d)
    means = table.means(vectors)  # (columns, choices, d)
    heights = np.einsum("ncd,ckd->nck", pooled, means)
    now = np.take_along_axis(heights, rows[:, :, None].astype(np.int64), axis=2)
    change: Floats = heights - now
    return change
