"""What a certificate keeps of the weights of a convolutional network's bounds, and what is read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unfooled.bounds.cells import Ints
from unfooled.bounds.cnn_clusters import Clusters
from unfooled.bounds.cnn_losses import Levels, Weights
from unfooled.errors import InputError

_PARTS = 1000  # a share is a whole number of thousandths


def rounded(levels: Levels, weights: Weights) -> Weights:
    """The weights that a certificate with these has."""
    return read(levels, stored(levels, weights))


def stored(levels: Levels, weights: Weights) -> dict[str, list[Any]]:
    """Lifts to four digits; shares of the levels that can be lost, as whole numbers."""
    lift = [float(f"{value:.4g}") for value in weights.lift]
    feature, level, rank = _paying(levels)
    share = np.rint(weights.share / weights.share.sum(axis=1, keepdims=True) * _PARTS).astype(int)
    largest = np.arange(levels.most)[:, None] == share.argmax(axis=1)[:, None]
    share += np.where(largest, _PARTS - share.sum(axis=1, keepdims=True), 0)
    return {"lift": lift, "share": share[feature, rank, level].tolist()}


def read(levels: Levels, found: Any) -> Weights:
    """The weights that `stored` wrote, or an error; what is read is sound whatever it is."""
    if not isinstance(found, Mapping) or set(found) != {"lift", "share"}:
        raise InputError("weights are lifts and shares")
    feature, level, rank = _paying(levels)
    lift = _numbers(found["lift"], (int, float), len(levels.bad), "lifts")
    part = _numbers(found["share"], (int,), len(feature), "shares")
    share = levels.simple().share * _PARTS
    share[feature, rank, level] = part
    if (share.sum(axis=1) != _PARTS).any():
        raise InputError(f"the shares of a level have not the sum {_PARTS}")
    return Weights(lift, share / _PARTS)


def _paying(levels: Levels) -> tuple[Ints, Ints, Ints]:
    """The features, levels and ranks whose shares are free: the first level has one window alone."""
    ranks = np.arange(levels.most)
    free = levels.takes[:, :, None] & (ranks[:, None] > 0) & (ranks <= ranks[:, None])
    feature, level, rank = np.nonzero(free)
    return feature, level, rank


def _numbers(values: Any, kinds: tuple[type, ...], wanted: int, what: str) -> NDArray[np.float64]:
    if not isinstance(values, list) or len(values) != wanted:
        raise InputError(f"there must be a list of {wanted} {what}")
    if not all(isinstance(v, kinds) and not isinstance(v, bool) for v in values):
        raise InputError(f"the {what} are not all numbers, or not whole ones where they must be")
    found = np.array(values, dtype=np.float64).reshape(wanted)
    if not (np.isfinite(found) & (found >= 0)).all():
        raise InputError(f"the {what} are not all finite, or not all 0 or more")
    return found


class Stored:
    """Chooses the weights that a certificate has, and knows which of them were asked for."""

    def __init__(self, found: Any) -> None:
        if not isinstance(found, list):
            raise InputError("the weights of a certificate are a list")
        self._found: dict[tuple[Any, Any], Any] = {}
        for each in found:
            if not isinstance(each, Mapping) or set(each) != {"against", "budget", "choices"}:
                raise InputError("weights are against a class, for a budget, and have choices")
            key = each["against"], each["budget"]
            if not all(isinstance(k, int) and not isinstance(k, bool) for k in key):
                raise InputError("a class or a budget is no whole number")
            if key in self._found:
                raise InputError(
                    f"there are two weights against class {key[0]} for budget {key[1]}"
                )
            self._found[key] = each["choices"]
        self._asked: set[tuple[int, int]] = set()

    def __call__(
        self, levels: Levels, singles: Clusters, *, other: int, starts: Sequence[int]
    ) -> list[Weights]:
        key = other, levels.budget
        self._asked.add(key)
        choices = self._found.get(key)
        if not isinstance(choices, list) or len(choices) != len(starts):
            raise InputError(
                f"there must be {len(starts)} weights against class {key[0]} for budget {key[1]}"
            )
        return [read(levels, each) for each in choices]

    @property
    def idle(self) -> bool:
        """Whether there are weights that nobody has asked for."""
        return bool(self._found.keys() - self._asked)
