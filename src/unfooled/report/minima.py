"""Least swaps beside what attacks needed: figures 1 and 2 and table 2 of the ILP paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from unfooled.audited import Audit, Audited
from unfooled.minima import Minimum
from unfooled.report import wording
from unfooled.report.svg import COLOURS, drawing, plain
from unfooled.report.texts import Side, sides

_EXAMPLES = 4  # texts shown side by side
_TICKS = 10  # on an axis of few whole numbers


class Share(NamedTuple):
    """Accuracy under attack within some number of swaps."""

    swaps: str
    share: str


class Example(NamedTuple):
    """A text as an attack changed it, and with the fewest swaps that fool the victim."""

    id: str
    original: list[Side]
    attack: str
    swaps: int
    attacked: list[Side]
    minimum: int
    least: list[Side]


def decided(audit: Audit) -> list[tuple[Audited, int]]:
    """The texts that can be fooled and whose least number of swaps is known, with that number."""
    return [(a, len(a.fewest)) for a in audit if a.exact and a.fewest is not None]


def shares(audit: Audit) -> list[Share]:
    """Accuracy under attack for every radius and for any number of swaps."""
    return [
        Share("any number" if r == "any" else r, interval(found))
        for r, found in audit.summary()["accuracy_under_attack"].items()
    ]


def interval(found: tuple[float, float] | None) -> str:
    """A share, or from where to where it can be."""
    if found is None:
        return wording.NONE
    low, high = map(wording.share, found)
    return low if low == high else f"{low} to {high}"


def histogram(audit: Audit, *, name: str) -> Markup | None:
    """How many texts need 1, 2, ... swaps: the least, and what the first attack took for them."""
    known = decided(audit)
    if not known:
        return None
    attack = next(iter(known[0][0].outcomes))
    least = Counter(minimum for _, minimum in known)
    needed = Counter(
        a.outcomes[attack].swaps for a, _ in known if a.outcomes[attack].status == "success"
    )
    most = max([*least, *needed])
    title = f"Texts by least number of swaps and by swaps of {attack}, 1 to {most}"
    with drawing(name, title=title) as drawn:
        for count, shift, colour, label in (
            (least, -0.2, "proved", "least"),
            (needed, 0.2, "attacked", plain(attack)),
        ):
            places = [swaps + shift for swaps in count]
            drawn.axes.bar(
                places, list(count.values()), width=0.4, color=COLOURS[colour], label=label
            )
        drawn.axes.set(xlim=(0.4, most + 0.6), xlabel="swaps", ylabel="texts")
        _whole_numbers(drawn.axes)
        drawn.axes.legend(frameon=False, fontsize=8.5)
    return drawn.svg


def compared(attacks: Iterable[str]) -> str:
    """The attack whose swaps stand beside the least: the paper's, where it was run."""
    names = list(attacks)
    return "textfooler" if "textfooler" in names else names[0]


def increments(audit: Audit, *, name: str) -> Markup | None:
    """How many more swaps than necessary TextFooler, or else the first attack, took, text by text."""
    known = decided(audit)
    if not known:
        return None
    attack = compared(known[0][0].outcomes)
    more = Counter(
        a.outcomes[attack].swaps - minimum
        for a, minimum in known
        if a.outcomes[attack].status == "success"
    )
    if not more:
        return None
    title = f"Swaps of {attack} beyond the least, on {sum(more.values())} texts"
    with drawing(name, title=title) as drawn:
        drawn.axes.bar(list(more), list(more.values()), width=0.85, color=COLOURS["attacked"])
        drawn.axes.set(
            xlim=(-0.6, max(more) + 0.6), xlabel=f"swaps of {plain(attack)} beyond the least",
            ylabel="texts",
        )  # fmt: skip
        _whole_numbers(drawn.axes)
        if max(more) <= _TICKS:  # else the axis may be too short for whole numbers
            drawn.axes.xaxis.set_major_locator(FixedLocator(range(max(more) + 1)))
    return drawn.svg


def times(audit: Audit, *, name: str) -> Markup | None:
    """How long the exact minimum took, text by text, on a logarithmic scale."""
    taken = [v.seconds for a in audit for v in a.verdicts.values() if isinstance(v, Minimum)]
    if not taken:
        return None
    edges = np.geomspace(max(min(taken), 1e-4) / 1.01, max(*taken, 1e-3) * 1.01, 24)
    title = f"Seconds for the exact minimum of {len(taken)} texts, at most {max(taken):.2g}"
    with drawing(name, title=title) as drawn:
        drawn.axes.hist(
            np.clip(taken, edges[0], edges[-1]), bins=list(edges), color=COLOURS["proved"]
        )
        drawn.axes.set(xscale="log", xlabel="seconds", ylabel="texts")
        drawn.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        drawn.axes.xaxis.set_minor_formatter(NullFormatter())
        drawn.axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        drawn.axes.grid(visible=False, axis="x")
    return drawn.svg


def examples(audit: Audit) -> list[Example]:
    """Texts on which an attack took more swaps than necessary, the largest differences first."""
    found = []
    for item, minimum in decided(audit):
        won = [(n, o) for n, o in item.outcomes.items() if o.status == "success"]
        attack, outcome = max(won, key=lambda pair: pair[1].swaps, default=(None, None))
        if attack is None or outcome is None or outcome.swaps <= minimum or item.fewest is None:
            continue
        found.append(
            Example(
                item.id,
                sides(item.original, {}),
                attack,
                outcome.swaps,
                sides(item.original, _words(outcome.changes)),
                minimum,
                sides(item.original, _words(item.fewest)),
            )
        )
    found.sort(key=lambda example: example.minimum - example.swaps)
    return found[:_EXAMPLES]


def _words(changes: Sequence[tuple[int, str, str]]) -> dict[int, str]:
    return {position: new for position, _, new in changes}


def _whole_numbers(axes: Axes) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.grid(visible=False, axis="x")
