"""Help that can be read: paragraphs are filled, and a narrow terminal gets a plain list.

In tables of four columns a narrow terminal has no room for the names of options, which are cut then.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import partial
from textwrap import wrap
from typing import Any

from typer.core import TyperCommand

_NARROW = 80  # columns of a terminal below which tables do not fit


class Command(TyperCommand):
    """A command whose help is fit for the terminal."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.help = filled(self.help or "")
        width = shutil.get_terminal_size().columns
        if width < _NARROW:
            self.rich_markup_mode = None
            formatter.width = width  # which it would not let fall below 50
            formatter.write_dl = partial(_below, formatter)
        super().format_help(ctx, formatter)


def _below(formatter: Any, rows: Iterable[tuple[str, str]], **_: Any) -> None:
    """Writes what each option is below its name."""
    for name, about in rows:
        for text, indent in ((name, 2), (plain(about), 6)):
            space = " " * indent
            lines = wrap(text, formatter.width, initial_indent=space, subsequent_indent=space)
            formatter.write("\n".join([*lines, ""]))


def filled(text: str) -> str:
    """The text with each paragraph in one line, for the terminal to break."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def plain(text: str) -> str:
    """The text without marks of bold words."""
    return re.sub(r"\[/?b\]", "", text)
