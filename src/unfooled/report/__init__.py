"""Report: one HTML page that says what a run proved, attacked and estimated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from unfooled.errors import InputError

__all__ = ["NAME", "write"]

NAME = "report.html"


def write(runs: Sequence[Path | str], out: Path | str | None = None) -> Path:
    """The path of a self-contained page about these runs; several are compared.

    Without `out` the page goes into the folder of a single run, and into the current folder when
    there are several. A folder as `out` receives `report.html`. The same runs give the same bytes.
    """
    if isinstance(runs, str | os.PathLike) or not runs:
        raise InputError(f"runs is a list of run folders, such as ['runs/audit'], not {runs!r}")
    # jinja2 and matplotlib take half a second, which a caller with a wrong argument need not wait.
    from unfooled.auditing import read
    from unfooled.report.page import Run, page

    loaded = [Run(Path(folder).resolve(), *read(folder)) for folder in runs]
    path = _target([Path(folder) for folder in runs], out)
    # A lone surrogate, which JSON can spell, has no UTF-8: it is shown as the escape it came from.
    content = page(loaded).encode("utf-8", "backslashreplace")
    temporary = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write the report to {path}: {error.strerror}") from error
    return path


def _target(runs: Sequence[Path], out: Path | str | None) -> Path:
    if out is None:
        return (runs[0] if len(runs) == 1 else Path()) / NAME
    path = Path(out)
    return path / NAME if path.is_dir() else path
