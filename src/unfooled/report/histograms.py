"""The figures of an attack: how many swaps fooled the victim, how near the swapped words are."""

from __future__ import annotations

from collections import Counter

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from unfooled.metrics import successes
from unfooled.outcomes import Outcomes
from unfooled.report.svg import COLOURS, drawing
from unfooled.swaps import BINS, Swapped


def by_swaps(found: Outcomes, *, name: str) -> Markup | None:
    """How many texts were broken with 1, 2, ... swaps."""
    count = Counter(outcome.swaps for outcome in successes(found))
    if not count:
        return None
    most = max(count)
    title = f"Broken texts by number of swaps, 1 to {most}"
    with drawing(name, title=title) as drawn:
        drawn.axes.bar(list(count), list(count.values()), width=0.85, color=COLOURS["attacked"])
        drawn.axes.set(xlim=(0.4, most + 0.6), xlabel="swaps", ylabel="broken texts")
        for axis in (drawn.axes.xaxis, drawn.axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, nbins=12))
        drawn.axes.grid(visible=False, axis="x")
    return drawn.svg


def by_cosine(swapped: Swapped, *, name: str) -> Markup | None:
    """How many swaps put a word at each distance (the figure 3 of Hauser et al.)."""
    known = swapped.known
    if not known:
        return None
    edges = np.linspace(-1, 1, BINS + 1)
    median = float(np.median(known))
    title = f"Swaps by cosine of the two words, median {median:.2f}, of {len(known)} swaps"
    with drawing(name, title=title) as drawn:
        drawn.axes.bar(
            edges[:-1], swapped.histogram(), width=2 / BINS, align="edge",
            color=COLOURS["estimated"], edgecolor=COLOURS["paper"], linewidth=0.6,
        )  # fmt: skip
        drawn.axes.axvline(median, color=COLOURS["ink"], linewidth=0.9, linestyle=(0, (4, 3)))
        drawn.axes.set_xlim(0 if min(known) >= 0 else -1, 1)
        drawn.axes.set(xlabel="cosine of the two words", ylabel="swaps")
        drawn.axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        drawn.axes.grid(visible=False, axis="x")
    return drawn.svg
