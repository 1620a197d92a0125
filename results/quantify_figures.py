"""The PDP paper's figures 4 and 5: what withstands each attack, and how PR is distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from results import panels

_SALT = "quantify"
_LINES = {"greedy": ("#8c8c8c", ":"), "pdp": ("#c44e52", "-")}


def survival(cells: Mapping[str, Mapping[str, Sequence[tuple[float, int]]]], path: Path) -> None:
    """For every cell and attack the share of texts not fooled within r swaps."""
    found = {
        title: {name: [s for s, _ in swaps[name]] for name in _LINES}
        for title, swaps in cells.items()
    }
    panels.survival(found, path, lines=_LINES, salt=_SALT)


def violins(cells: Mapping[str, Sequence[float]], path: Path) -> None:
    """For every cell the distribution of PR, with its least and its greatest value."""
    with panels.panels(cells, path, height=2.0, salt=_SALT) as drawn:
        for title, (axes, values) in drawn.items():
            (body,) = axes.violinplot([values], widths=0.9, showmedians=True)["bodies"]  # type: ignore[attr-defined]
            body.set(facecolor="#55a868", alpha=0.4)
            axes.axhline(0.9, color="#8c8c8c", linewidth=0.8, linestyle=":")
            axes.set(title=title, ylim=(0, 1.02), xticks=[], ylabel="PR")
