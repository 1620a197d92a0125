"""The figures of the report: survival, PR, one attack against another, runs side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from unfooled.audited import Audit
from unfooled.evidence import Bracket
from unfooled.report.svg import COLOURS, drawing, plain

_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
_GOLDEN = (math.sqrt(5) - 1) / 2


class Bands(NamedTuple):
    """For radius 0, 1, ...: the shares of texts proved, broken, and neither."""

    proved: list[float]
    broken: list[float]
    unknown: list[float]


def bands(brackets: Sequence[Bracket], radius: int) -> Bands:
    """The three shares at every radius up to `radius`; they add up to 1."""
    n = len(brackets)
    proved, broken = [], []
    for r in range(radius + 1):
        proved.append(sum(b.lower > r for b in brackets) / n)
        broken.append(sum(b.upper is not None and b.upper <= r for b in brackets) / n)
    unknown = [1 - p - b for p, b in zip(proved, broken, strict=True)]
    return Bands(proved, broken, unknown)


def brackets(audit: Audit) -> list[Bracket]:
    """The brackets of the texts that have one."""
    return [a.bracket for a in audit if a.bracket is not None]


def survival(audit: Audit, *, name: str) -> Markup | None:
    """The share of texts that withstand r swaps: proved, unknown or broken (the paper's figure 4)."""
    held = brackets(audit)
    if not held:
        return None
    last = _last(audit)
    shares = bands(held, last)
    title = f"Shares of texts proved, undecided and broken within 0 to {last} swaps"
    with drawing(name, title=title) as drawn:
        axes = drawn.axes
        edges = np.arange(last + 2) - 0.5
        proved = _stepped(shares.proved)
        standing = _stepped([1 - b for b in shares.broken])
        fill: dict[str, Any] = {"step": "post", "linewidth": 0}
        axes.fill_between(edges, proved, color=COLOURS["proved"], alpha=0.75, **fill)
        axes.fill_between(
            edges, proved, standing, facecolor=COLOURS["unknown"], alpha=0.45,
            edgecolor=COLOURS["ink"], hatch="////", **fill,
        )  # fmt: skip
        axes.fill_between(edges, standing, 1, color=COLOURS["attacked"], alpha=0.6, **fill)
        attacks = list(next(iter(audit)).outcomes)
        if len(attacks) > 1:
            _attack_lines(axes, audit, attacks=attacks, edges=edges)
        _radius_axis(axes, last)
    return drawn.svg


def compared(audits: Sequence[Audit], *, name: str) -> Markup | None:
    """For every run the share proved and the share not broken, by radius."""
    if not any(brackets(audit) for audit in audits):
        return None
    last = max(_last(audit) for audit in audits)
    title = f"Shares of texts proved and not broken within 0 to {last} swaps, by run"
    ends: dict[int, float] = {}  # where the line of each run ends, and its number stands
    with drawing(name, title=title) as drawn:
        for i, audit in enumerate(audits):
            if not (held := brackets(audit)):
                continue
            shares, colour = bands(held, last), COLOURS[f"run{i % 6}"]
            proved, standing = shares.proved, [1 - b for b in shares.broken]
            x = np.arange(last + 1)
            drawn.axes.fill_between(x, proved, standing, color=colour, alpha=0.14, linewidth=0)
            drawn.axes.plot(
                x, proved, color=colour, marker="o", markersize=3.5, linewidth=1.6, clip_on=False
            )
            drawn.axes.plot(x, standing, color=colour, linewidth=1.6, linestyle=_DASHES[1])
            ends[i] = proved[-1]
        for i, height in apart(ends).items():
            colour = COLOURS[f"run{i % 6}"]
            place: dict[str, Any] = {
                "color": colour,
                "va": "center",
                "fontweight": "bold",
                "clip_on": False,
            }
            drawn.axes.text(last + 0.15, height, str(i + 1), **place)
        _radius_axis(drawn.axes, last)
    return drawn.svg


def apart(heights: Mapping[int, float], gap: float = 0.07) -> dict[int, float]:
    """The heights in rising order, moved up where labels would lie on each other."""
    placed: dict[int, float] = {}
    lowest = -math.inf
    for i, height in sorted(heights.items(), key=lambda item: (item[1], item[0])):
        placed[i] = max(height, lowest)
        lowest = placed[i] + gap
    return placed


def violin(audit: Audit, *, name: str) -> Markup | None:
    """The distribution of PR with a dot for every text (the paper's figure 5)."""
    known = [a.pr for a in audit if a.pr is not None and a.pr.value is not None]
    values = np.array([pr.value for pr in known], dtype=float)
    if not len(values):
        return None
    title = f"Distribution of PR over {len(values)} texts, from {values.min():.3f} to {values.max():.3f}"
    with drawing(name, title=title) as drawn:
        axes = drawn.axes
        if len(np.unique(values)) > 1:  # no density without a spread
            body = axes.violinplot(
                [values], widths=0.9, showextrema=False, showmedians=False, orientation="horizontal"
            )["bodies"]
            for part in body:  # type: ignore[attr-defined]
                part.set(facecolor=COLOURS["estimated"], alpha=0.3, linewidth=0)
        order = np.argsort(np.argsort(values, kind="stable"))
        spread = 1 + (((order + 1) * _GOLDEN) % 1 - 0.5) * 0.5  # even, and the same every time
        exact = np.array([pr.exact for pr in known])
        for chosen, colour in ((exact, "proved"), (~exact, "estimated")):
            axes.scatter(
                values[chosen], spread[chosen], s=19, color=COLOURS[colour], alpha=0.85,
                edgecolors=COLOURS["paper"], linewidths=0.5,
            )  # fmt: skip
        axes.axvline(0.9, color=COLOURS["ink"], linewidth=0.9, linestyle=(0, (4, 3)))
        axes.set(xlabel=f"PR within {audit.radius} swaps", yticks=[], ylim=(0.5, 1.5))
        axes.set_xlim(min(0.0 if values.min() < 0.5 else 0.5, 0.85), 1.02)
        axes.spines["left"].set_visible(False)
    return drawn.svg


def scatter(audit: Audit, attacks: tuple[str, str], *, name: str) -> Markup | None:
    """Swaps needed by one attack against another, text by text (the paper's figure 3)."""
    pairs: Counter[tuple[float, float]] = Counter()
    for item in audit:
        if item.bracket is not None:
            first, second = (item.outcomes[attack] for attack in attacks)
            pairs[_swaps(first.status, first.swaps), _swaps(second.status, second.swaps)] += 1
    pairs.pop((math.inf, math.inf), None)
    if not pairs:
        return None
    most = int(max(v for pair in pairs for v in pair if v != math.inf))
    lane = most + 1  # where an attack that found nothing is drawn
    title = f"Swaps needed by {attacks[0]} and by {attacks[1]} on the same texts"
    with drawing(name, title=title, size=(4.2, 3.8)) as drawn:
        axes = drawn.axes
        axes.plot([0.5, most + 0.5], [0.5, most + 0.5], color=COLOURS["muted"], linewidth=0.9)
        for (x, y), count in sorted(pairs.items()):
            at = (min(x, lane), min(y, lane))
            size = 90 + 310 * count / max(pairs.values())
            axes.scatter(*at, s=size, color=COLOURS["estimated"], alpha=0.35, linewidths=0)
            axes.annotate(str(count), at, ha="center", va="center", fontsize=8)
        every = max(1, math.ceil(most / 10))
        ticks = [*range(1, most + 1, every), lane]
        labels = [*map(str, ticks[:-1]), "none"]
        axes.set_xticks(ticks, labels)
        axes.set_yticks(ticks, labels)
        axes.set(xlim=(0.4, lane + 0.6), ylim=(0.4, lane + 0.6), aspect="equal")
        axes.set_xlabel(f"swaps, {plain(attacks[0])}")
        axes.set_ylabel(f"swaps, {plain(attacks[1])}")
    return drawn.svg


def _attack_lines(
    axes: Axes,
    audit: Audit,
    *,
    attacks: Sequence[str],
    edges: NDArray[np.floating],
) -> None:
    """For each attack the share of texts that it has not broken."""
    held = [a for a in audit if a.bracket is not None]
    for i, attack in enumerate(attacks):
        swaps = [_swaps(a.outcomes[attack].status, a.outcomes[attack].swaps) for a in held]
        left = [sum(s > r for s in swaps) / len(held) for r in range(len(edges) - 1)]
        dash = _DASHES[i % len(_DASHES)]
        axes.step(
            edges, _stepped(left), where="post", color=COLOURS["ink"], linewidth=1.4,
            linestyle=dash, label=plain(attack),
        )  # fmt: skip
    axes.legend(frameon=True, facecolor=COLOURS["paper"], edgecolor="none", framealpha=0.85,
                title="not broken by", fontsize=8.5, title_fontsize=8.5)  # fmt: skip


def _swaps(status: str, swaps: int) -> float:
    return swaps if status == "success" else math.inf


def _last(audit: Audit) -> int:
    """The largest radius worth drawing: everything beyond is as it is there."""
    finite = [b.upper for b in brackets(audit) if b.upper is not None and b.upper != math.inf]
    return int(max([audit.radius, *finite]))


def _stepped(values: Sequence[float]) -> list[float]:
    return [*values, values[-1]]


def _radius_axis(axes: Axes, last: int) -> None:
    axes.set(xlim=(-0.5, last + 0.5), ylim=(0, 1), xlabel="swaps allowed")
    axes.set_ylabel("share of texts")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(visible=False, axis="x")
