"""Which bounds over cells a network has."""

from __future__ import annotations

import numpy as np
import torch

from unfooled.bounds.cells import CellBounds
from unfooled.bounds.cnn_cells import CNNCells
from unfooled.bounds.cnn_losses import Weigh
from unfooled.bounds.cnn_windows import REACH
from unfooled.bounds.linear_cells import LinearCells
from unfooled.bounds.mlp_cells import MLPCells
from unfooled.bounds.reading import Reading
from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.models.mlp import MLP
from unfooled.sweeps.recurrent import RecurrentWalker
from unfooled.sweeps.walkers import walker_of

_NUMBERS = 1 << 23  # of swaps times features, four times over
_CLUSTERS = 1 << 22  # of clusters times features, with all that may be made of them
_SHARES = 1 << 18  # of windows that can be lost, each with each, times features
_WIDEST = np.iinfo(np.int8).max // 3  # ranks of windows are kept in that type


def cell_bounds(reading: Reading, label: int, *, radius: int, weigh: Weigh) -> CellBounds | None:
    """Bounds for cells within the radius, columns as they stand; None: nobody knows any.

    `weigh` chooses what the bounds of convolutions leave free.
    """
    if radius > reach(reading, radius):
        return None
    if _one_hidden_layer(reading):
        return MLPCells(reading, label, radius=radius)
    if _few_windows(reading):
        return CNNCells(reading, label, radius=radius, weigh=weigh)
    with torch.inference_mode():
        walker = walker_of(
            reading.network, reading.text, places=reading.plan.places, choices=reading.choices
        )
    if walker is None or (isinstance(walker, RecurrentWalker) and not walker.reaches(radius)):
        return None
    return LinearCells(reading, label, walker=walker)


def reach(reading: Reading, radius: int) -> int:
    """The largest radius up to this for which bounds are set up in reasonable time.

    Clusters of swaps next to each other double with each swap, whatever a limit of time says.
    """
    if not _few_windows(reading):
        return radius
    features = next(reading.network.output.parameters()).shape[1]
    gaps = np.diff(np.sort(reading.plan.places)).tolist()
    ending, clusters = [1] * len(reading.plan.places), 0  # chains by the column where they end
    for found in range(1, min(radius, _WIDEST) + 1):
        clusters += found * sum(ending)
        if clusters * features > _CLUSTERS or (3 * found) ** 2 * features > _SHARES:
            return found - 1
        ending = _longer(ending, gaps)
    return min(radius, _WIDEST)


def _longer(ending: list[int], gaps: list[int]) -> list[int]:
    """How many chains with one column more end at each, if those before end as given."""
    found = [0] * len(ending)
    for at in range(1, len(ending)):
        for before in range(max(0, at - REACH), at):
            if sum(gaps[before:at]) <= REACH:
                found[at] += ending[before]
    return found


def _one_hidden_layer(reading: Reading) -> bool:
    """Whether the network is affine, ReLU, affine on one text."""
    parts = {name.split(".")[0] for name, _ in reading.network.named_parameters()}
    plain = parts == {"embedding", "affine", "output"}
    return isinstance(reading.network, MLP) and reading.other is None and plain


def _few_windows(reading: Reading) -> bool:
    """Whether the network convolves one text, and what every swap makes of its windows is no burden."""
    if not isinstance(reading.network, CNN | CNNMSR) or reading.other is not None:
        return False
    swaps = sum(len(found) for found in reading.choices)
    return swaps * next(reading.network.output.parameters()).shape[1] <= _NUMBERS
