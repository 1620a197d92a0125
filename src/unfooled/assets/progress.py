"""How far a download or a recipe is: a bar on a terminal, one plain line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Told the bytes that have arrived so far."""

Told = Callable[[str, float], None]
"""Told what is being done, and which share of it is done."""


@contextmanager
def download(what: str, size: int | None, *, shown: bool) -> Iterator[Advance]:
    """A callable to report bytes to; draws on stderr, so that piped output stays clean."""
    if not shown:
        yield lambda _: None
    elif sys.stderr.isatty():
        yield from _bar(what, size)
    else:
        megabytes = "" if size is None else f" ({size / 1e6:.1f} MB)"
        print(f"fetching {what}{megabytes}", file=sys.stderr, flush=True)
        yield lambda _: None


@contextmanager
def building(what: str, *, shown: bool) -> Iterator[Told]:
    """A callable to report the stages of a recipe to."""
    if not shown:
        yield lambda _stage, _share: None
    elif sys.stderr.isatty():
        yield from _stages(what)
    else:
        print(f"building {what}", file=sys.stderr, flush=True)
        yield lambda _stage, _share: None


def _stages(what: str) -> Iterator[Told]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda stage, share: bar.update(task, description=f"{what}: {stage}", completed=share)


def _bar(what: str, size: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=size)
        yield lambda done: bar.update(task, completed=done)
        bar.update(task, completed=size or 0)
