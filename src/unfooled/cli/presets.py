"""`unfooled presets`: the settings under which papers compare attacks."""

from __future__ import annotations

from typing import Annotated

import typer

from unfooled.cli import printing


def presets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="One of them, with all it sets.", show_default=False),
    ] = None,
) -> None:
    """List the presets for attack and sweep, or say what one of them sets and where it differs.

    Example: unfooled presets defender-imdb
    """
    from unfooled import presets as known
    from unfooled.settings import told

    if name is None:
        rows = [(p.name, p.about) for p in known.PRESETS.values()]
        printing.columns(("preset", "what it is"), rows, justify="left")
        return
    preset = known.get(name)
    rows = [("preset", preset.name), ("what it is", preset.about)]
    rows += [(what, value) for what, value in told(preset).items() if value]
    printing.columns(("", ""), rows, justify="left")
