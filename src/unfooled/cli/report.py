"""`unfooled report`: the page of one audit, or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import printing


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of audits.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page; default: report.html in the first folder."),
    ] = None,
) -> None:
    """Write one HTML page about one audit, or several side by side.

    Example: unfooled report runs/bilstm runs/cnn -o compared.html
    """
    from unfooled import report as reports

    printing.line("report", str(reports.write(runs, out)))
