"""Draws with matplotlib into SVG that lives inside a page: themed by CSS, same bytes every time."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Final

import matplotlib
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Matplotlib knows colours, a page knows themes: each colour drawn here stands for a CSS variable.
COLOURS: Final = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "proved": "#040404",
    "attacked": "#050505",
    "unknown": "#060606",
    "estimated": "#070707",
    "paper": "#080808",
    **{f"run{i}": f"#0a0a{i:02x}" for i in range(6)},
}

_SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "unfooled",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.size": 9.5,
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["ink"],
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": COLOURS["grid"],
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
}


class Drawing:
    """An axes to draw on and, afterwards, the markup."""

    def __init__(self, name: str, *, title: str, figure: Figure) -> None:
        self.name, self.title, self.figure = name, title, figure
        self.axes: Axes = figure.add_subplot()
        self.svg = Markup()


@contextmanager
def drawing(name: str, *, title: str, size: tuple[float, float] = (5.0, 3.0)) -> Iterator[Drawing]:
    """A drawing whose `svg` is ready when the block ends; `name` makes its ids unique in the page.

    `title` is read out by a screen reader in place of the picture.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # not what the user's own settings make of it
        matplotlib.rcParams.update(_SETTINGS)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        drawn = Drawing(name, title=title, figure=figure)
        yield drawn
        file = io.BytesIO()
        nothing = {"Date": None, "Creator": None, "Type": None, "Format": None}
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    drawn.svg = inlined(file.getvalue().decode(), name=name, title=title)


def plain(name: str) -> str:
    """A name as a label that every font has: other characters than ASCII become question marks."""
    shown = "".join(c if " " <= c <= "~" else "?" for c in name)
    return shown if len(shown) <= 24 else shown[:23] + "."


def inlined(document: str, *, name: str, title: str) -> Markup:
    """The svg element of a document, without fixed size, fonts, global styles or shared ids."""
    body = document[document.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r" font-family: [^;\"]*;", "", body)
    body = re.sub(r'(<[^<>]* id=")([^"]+)"', rf'\1{name}-\2"', body)
    body = re.sub(r'(href="|url\()#', rf"\1#{name}-", body)
    for colour, code in COLOURS.items():
        body = body.replace(code, f"var(--{colour})")
    view = re.search(r'viewBox="[\d. ]+"', body)
    assert view is not None  # matplotlib always writes one
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{view.group()} role="img" aria-label="{escape(title)}">'
    )
    return Markup(opening + re.sub(r"\s*\n\s*", "\n", body[body.index(">") + 1 :]).strip())
