"""Draws docs/images/attack.svg: the terminal during a real run of `unfooled attack`.

    unfooled train bilstm mr --out models/bilstm
    python docs/terminal_picture.py models/bilstm

The command that the picture shows is the command that is run.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from unfooled.cli import app, printing

PICTURE = Path(__file__).parent / "images" / "attack.svg"
COMMAND = "attack greedy models/bilstm mr --limit 100 --max-rate 0.2"
WIDTH = 92


def recorded(command: str, model: Path) -> Console:
    """What the command prints, run beside the model under the name that the command uses."""
    page = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False
    )
    page.print(Text.assemble(("$ ", "dim"), (f"unfooled {command}", "bold")))
    printing.console = lambda: page  # what is printed is also recorded
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("models").mkdir()
            Path("models/bilstm").symlink_to(model, target_is_directory=True)
            app([*shlex.split(command), "--quiet"], standalone_mode=False)
        finally:
            os.chdir(before)
    return page


def drawn(page: Console) -> str:
    """The record as an SVG that fetches nothing: the reader's own fixed-width font will do."""
    svg = page.export_svg(title="unfooled", theme=MONOKAI, unique_id="unfooled")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(recorded(COMMAND, Path(sys.argv[1]).resolve())), encoding="utf-8")
    print(PICTURE)
