"""Small pictures side by side, one for each cell, and the curves that two pages share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

_STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_MOST = 12  # swaps shown

Lines = Mapping[str, tuple[str, str]]
"""The colour and the dashes of each attack."""


def survival(
    cells: Mapping[str, Mapping[str, Sequence[float]]], path: Path, *, lines: Lines, salt: str
) -> None:
    """For every cell and attack the share of texts not fooled within r swaps; infinite: not at all."""
    with panels(cells, path, height=2.1, salt=salt) as drawn:
        for title, (axes, found) in drawn.items():
            most = max([1, *(int(s) for each in found.values() for s in each if s < math.inf)])
            radii = range(min(_MOST, most) + 1)
            for name, (colour, dash) in lines.items():
                left = [100 * sum(s > r for s in found[name]) / len(found[name]) for r in radii]
                how: dict[str, Any] = {"color": colour, "linestyle": dash, "label": name}
                axes.step([*radii, len(radii)], [*left, left[-1]], where="post", **how)
            axes.set(title=title, ylim=(0, 100), xlabel="swaps", ylabel="not broken, %")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        next(iter(drawn.values()))[0].legend(frameon=False)


@contextmanager
def panels(
    cells: Mapping[str, Any], path: Path, *, height: float, salt: str
) -> Iterator[dict[str, tuple[Axes, Any]]]:
    """One small picture for each cell, two in a row; saved at the end. `salt` makes the ids of the SVG."""
    rows = math.ceil(len(cells) / 2)
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": salt}):
        figure = Figure(figsize=(7.2, height * rows), layout="constrained")
        grid = list(figure.subplots(rows, 2, squeeze=False).flat)
        drawn = {
            title: (axes, data) for axes, (title, data) in zip(grid, cells.items(), strict=False)
        }
        for axes in grid[len(cells) :]:
            axes.set_axis_off()
        yield drawn
        figure.savefig(path, metadata={"Date": None})
