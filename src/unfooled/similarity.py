"""Similarity of sentence vectors: cosine, angular, and the way from one to the other."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unfooled.errors import InputError

Metric = Literal["cosine", "angular"]
Number = TypeVar("Number", float, NDArray[np.float64])


def cosine(vectors: ArrayLike, reference: ArrayLike) -> NDArray[np.float64]:
    """(n,) cosines of (n, d) vectors with one (d,) reference; 0 where a vector is zero."""
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float64))
    other = np.asarray(reference, dtype=np.float64)
    sizes = np.linalg.norm(rows, axis=1) * np.linalg.norm(other)
    found = np.zeros(len(rows))
    np.divide(rows @ other, sizes, out=found, where=sizes > 0)
    return np.clip(found, -1.0, 1.0)


def cosine_to_angular(cosines: Number) -> Number:
    """1 - arccos(c) / pi: 1 for the same direction, 0 for the opposite one."""
    found: Number = 1 - np.arccos(cosines) / np.pi
    return found


def angular_to_cosine(angular: Number) -> Number:
    """The cosine of an angular similarity.

    >>> [round(float(angular_to_cosine(a)), 4) for a in (0.840845, 0.936338, 0.8, 0.9)]
    [0.8776, 0.9801, 0.809, 0.9511]
    """
    found: Number = np.cos(np.pi * (1 - angular))
    return found


def as_cosine(value: float, metric: Metric) -> float:
    """A threshold in either form as a cosine; an InputError when it is out of range."""
    least = {"cosine": -1.0, "angular": 0.0}
    if metric not in least:
        raise InputError(f"similarity is cosine or angular, not {metric!r}")
    if not least[metric] <= value <= 1:
        raise InputError(
            f"a similarity by {metric} is a number from {least[metric]:g} to 1, not {value}"
        )
    return float(value if metric == "cosine" else angular_to_cosine(value))
