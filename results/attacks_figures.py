"""The PDP paper's figures 3 and 4 with TextFooler and SemPSO: swaps beside swaps, and what is not broken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from results import panels

_SALT = "attacks"
_LINES = {
    "textfooler": ("#8c8c8c", ":"),
    "sem-pso": ("#4c72b0", "--"),
    "pdp": ("#c44e52", "-"),
}
_RIVALS = {"textfooler": ("#8c8c8c", "x"), "sem-pso": ("#4c72b0", "+")}

Swaps = Mapping[str, Sequence[float]]
"""For each attack the swaps that fooled each text, in one order; infinite: it did not."""


def survival(cells: Mapping[str, Swaps], path: Path) -> None:
    """Figure 4: for every cell and attack the share of texts not fooled within r swaps."""
    panels.survival(cells, path, lines=_LINES, salt=_SALT)


def scatter(cells: Mapping[str, Swaps], path: Path) -> None:
    """Figure 3: for every text that both fool, the swaps of PDP and those of a rival."""
    with panels.panels(cells, path, height=2.9, salt=_SALT) as drawn:
        for title, (axes, swaps) in drawn.items():
            most = 1.0
            for name, (colour, mark) in _RIVALS.items():
                both = [
                    pair
                    for pair in zip(swaps["pdp"], swaps[name], strict=True)
                    if max(pair) < math.inf
                ]
                most = max([most, *(value for pair in both for value in pair)])
                x, y = [a for a, _ in both], [b for _, b in both]
                axes.scatter(x, y, s=18, marker=mark, color=colour, linewidths=0.8, label=name)
            axes.plot([0, most], [0, most], color="#555555", linewidth=0.6)
            axes.set(title=title, xlabel="swaps of pdp", ylabel="swaps of the other")
        next(iter(drawn.values()))[0].legend(frameon=False)
