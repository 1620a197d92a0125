"""Random small piecewise networks, and what looking at every text says about them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from unfooled.evidence import margins, tolerance
from unfooled.exact.piecewise import Affine, Effect, Floats, Piecewise
from unfooled.sweeps.regions import Pick


def network(
    seed: int, *, depth: int = 1, windows: int | None = None, columns: int = 6, units: int = 8
) -> Piecewise:
    """Up to so many columns of one to three choices; two or three classes."""
    rng = np.random.default_rng(seed)
    size, classes = int(rng.integers(1, units + 1)), int(rng.integers(2, 4))
    wide = size * (windows or 1)
    effects = []
    for _ in range(int(rng.integers(0, columns + 1))):
        start = 0 if windows is None else size * int(rng.integers(windows))
        values = rng.normal(size=(int(rng.integers(1, 4)), size)) * rng.choice([0.2, 1.0])
        effects.append(Effect(start, values))
    layers = [
        Affine(rng.normal(size=(size, size)), rng.normal(size=size)) for _ in range(depth - 1)
    ]
    last = Affine(rng.normal(size=(classes, size)), rng.normal(size=classes))
    return Piecewise(rng.normal(size=wide), tuple(effects), (*layers, last), windows)


def texts(made: Piecewise) -> list[tuple[Pick, ...]]:
    """The swaps of every text."""
    every = itertools.product(*(range(size + 1) for size in made.sizes))
    return [tuple(Pick(c, k - 1) for c, k in enumerate(row) if k) for row in every]


def label(made: Piecewise) -> int:
    """What the network says of the text itself."""
    return int(made.logits(made.base)[0].argmax())


def least_swaps(made: Piecewise) -> float:
    """The least number of swaps that fools, by looking at every text; nan: a near-tie is about."""
    found = texts(made)
    scores: Floats = made.scores(found)
    lead, noise = margins(scores, label(made)), tolerance(scores)
    if (np.abs(lead) <= 100 * noise).any():
        return math.nan
    return min(
        (len(picks) for picks, m in zip(found, lead, strict=True) if m < 0), default=math.inf
    )
