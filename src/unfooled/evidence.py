"""What a number is worth: the one tolerance that separates a decision from float noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NOISE = 1e-5
"""Margins within NOISE x max(1, |score|) are near-ties: never certified, never claimed as fooling.

Float32 forwards of the same text in different batches were measured to differ by up to 6e-7 on
margins around 1; this leaves a factor of more than ten.
"""


def tolerance(scores: NDArray[np.floating]) -> NDArray[np.floating]:
    """The width of a near-tie for each row of scores."""
    widths: NDArray[np.floating] = NOISE * np.maximum(1.0, np.abs(scores).max(axis=-1))
    return widths


def margins(scores: NDArray[np.floating], label: int) -> NDArray[np.floating]:
    """For each row the score of `label` minus the highest other score: below zero it has lost."""
    if scores.shape[1] == 2:  # the usual case, without a copy
        best = scores[:, 1 - label]
    else:
        others = scores.copy()
        others[:, label] = -np.inf
        best = others.max(axis=1)
    lead: NDArray[np.floating] = scores[:, label] - best
    return lead
