"""The PDP paper's figures 4 and 5: what withstands each attack, and how PR is distributed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_STYLE = {
    "svg.hashsalt": "quantify",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LINES = {"greedy": ("#8c8c8c", ":"), "pdp": ("#c44e52", "-")}
_MOST = 12  # swaps shown


def survival(cells: Mapping[str, Mapping[str, Sequence[tuple[float, int]]]], path: Path) -> None:
    """For every cell and attack the share of texts not fooled within r swaps."""
    with _panels(cells, path, height=2.1) as panels:
        for title, (axes, swaps) in panels.items():
            found = {name: [s for s, _ in swaps[name]] for name in _LINES}
            most = max([1, *(int(s) for each in found.values() for s in each if s < math.inf)])
            radii = range(min(_MOST, most) + 1)
            for name, (colour, dash) in _LINES.items():
                left = [100 * sum(s > r for s in found[name]) / len(found[name]) for r in radii]
                drawn: dict[str, Any] = {"color": colour, "linestyle": dash, "label": name}
                axes.step([*radii, len(radii)], [*left, left[-1]], where="post", **drawn)
            axes.set(title=title, ylim=(0, 100), xlabel="swaps", ylabel="not broken, %")
        next(iter(panels.values()))[0].legend(frameon=False)


def violins(cells: Mapping[str, Sequence[float]], path: Path) -> None:
    """For every cell the distribution of PR, with its least and its greatest value."""
    with _panels(cells, path, height=2.0) as panels:
        for title, (axes, values) in panels.items():
            (body,) = axes.violinplot([values], widths=0.9, showmedians=True)["bodies"]  # type: ignore[attr-defined]
            body.set(facecolor="#55a868", alpha=0.4)
            axes.axhline(0.9, color="#8c8c8c", linewidth=0.8, linestyle=":")
            axes.set(title=title, ylim=(0, 1.02), xticks=[], ylabel="PR")


@contextmanager
def _panels(
    cells: Mapping[str, Any], path: Path, *, height: float
) -> Iterator[dict[str, tuple[Axes, Any]]]:
    """One small picture for each cell, two in a row; saved at the end."""
    rows = math.ceil(len(cells) / 2)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, height * rows), layout="constrained")
        grid = figure.subplots(rows, 2, squeeze=False).flat
        panels = {
            title: (axes, data) for axes, (title, data) in zip(grid, cells.items(), strict=False)
        }
        for axes in list(grid)[len(cells) :]:
            axes.set_axis_off()
        yield panels
        figure.savefig(path, metadata={"Date": None})
