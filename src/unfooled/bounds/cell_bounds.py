"""Which bounds over cells a network has."""

from __future__ import annotations

import torch

from unfooled.bounds.cells import CellBounds
from unfooled.bounds.cnn_cells import CNNCells
from unfooled.bounds.cnn_losses import Weigh
from unfooled.bounds.linear_cells import LinearCells
from unfooled.bounds.mlp_cells import MLPCells
from unfooled.bounds.reading import Reading
from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.models.mlp import MLP
from unfooled.sweeps.recurrent import RecurrentWalker
from unfooled.sweeps.walkers import walker_of

_NUMBERS = 1 << 23  # of swaps times features, four times over


def cell_bounds(reading: Reading, label: int, *, radius: int, weigh: Weigh) -> CellBounds | None:
    """Bounds for cells within the radius, columns as they stand; None: nobody knows any.

    `weigh` chooses what the bounds of convolutions leave free.
    """
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
