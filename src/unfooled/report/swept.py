"""The chart of a sweep over limits, as one SVG that needs no page around it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from unfooled.errors import InputError
from unfooled.limit_sweep import Swept, Value
from unfooled.report.svg import COLOURS, drawing, plain

NAME = "sweep.svg"

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def write(swept: Swept, folder: Path | str) -> Path:
    """The path of the chart, written into the folder."""
    path = Path(folder) / NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(chart(swept), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the chart to {path}: {error.strerror}") from error
    return path


def chart(swept: Swept) -> str:
    """Accuracy under attack by the value of the limit: a panel a limit, a line an attack."""
    limits = swept.limits
    named = " and ".join(limit.replace("_", " ") for limit in limits)
    title = f"Accuracy under attack by {named}, of {', '.join(swept.attacks)}"
    size = (1.4 + 3.4 * len(limits), 3.2)
    with drawing("sweep", title=title, size=size) as drawn:
        drawn.axes.remove()
        panels = drawn.figure.subplots(1, len(limits), sharey=True, squeeze=False)[0]
        for axes, limit in zip(panels, limits, strict=True):
            _panel(axes, swept, limit)
        panels[0].set_ylabel("accuracy under attack")
        panels[0].yaxis.set_major_formatter(PercentFormatter(1.0))
        panels[0].set_ylim(-0.02, 1.02)
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return _alone(str(drawn.svg))


def _panel(axes: Axes, swept: Swept, limit: str) -> None:
    rows = sorted(swept.under(limit).items(), key=lambda row: number(row[0]))
    for i, attack in enumerate(swept.attacks):
        known = [(number(v), a) for v, row in rows if (a := row.get(attack)) is not None]
        axes.plot(
            [x for x, _ in known], [y for _, y in known], color=COLOURS[f"run{i % 6}"],
            marker=_MARKERS[i % len(_MARKERS)], markersize=4, linewidth=1.6, label=plain(attack),
            clip_on=False,
        )  # fmt: skip
    clean = {p.outcomes.summary()["clean_accuracy"] for p in swept.points}
    if len(clean) == 1 and None not in clean:
        height: Any = clean.pop()
        dashed: Any = {"linestyle": (0, (4, 3)), "linewidth": 1, "label": "clean"}
        axes.axhline(height, color=COLOURS["muted"], **dashed)
    axes.set_xlabel(limit.replace("_", " "))
    axes.set_xticks([number(v) for v, _ in rows], [str(v) for v, _ in rows])


def number(value: Value) -> float:
    """Where a value stands on its axis: 50x is 50."""
    return float(str(value).rstrip("xlL"))


def _alone(svg: str) -> str:
    """The drawing with the colours of the light page in it, on its own paper."""
    style = files("unfooled.report").joinpath("page.css").read_text(encoding="utf-8")
    colours: dict[str, str] = {}
    for name, code in re.findall(r"--(\w+): (#\w+)", style):
        colours.setdefault(name, code)  # the light theme comes first
    filled = re.sub(r"var\(--(\w+)\)", lambda found: colours[found[1]], svg)
    head, rest = filled.split(">", 1)
    paper = f'<rect width="100%" height="100%" fill="{colours["paper"]}"/>'
    return f'{head} font-family="sans-serif">\n{paper}{rest}\n'
