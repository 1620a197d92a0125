"""Which bounds over cells a network has."""

from __future__ import annotations

from unfooled.bounds.cells import CellBounds
from unfooled.bounds.mlp_cells import MLPCells
from unfooled.bounds.reading import Reading
from unfooled.models.mlp import MLP


def cell_bounds(reading: Reading, label: int, *, radius: int) -> CellBounds | None:
    """Bounds for cells within the radius, columns as they stand; None: nobody knows any."""
    if isinstance(reading.network, MLP) and reading.other is None:
        return MLPCells(reading, label, radius=radius)
    return None
