"""Progress of a training: a bar on a terminal, plain lines in a pipe, nothing when not wanted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO


class Progress(Protocol):
    """What a training loop tells whoever watches."""

    def step(self, loss: float) -> None:
        """One batch is done."""

    def epoch(self, line: str) -> None:
        """One epoch is done; the line sums it up."""


class Silent:
    """Says nothing."""

    def step(self, loss: float) -> None: ...

    def epoch(self, line: str) -> None: ...


class Lines:
    """One line per epoch, for files and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def step(self, loss: float) -> None: ...

    def epoch(self, line: str) -> None:
        print(line, file=self.stream, flush=True)


@contextmanager
def watched(title: str, *, steps: int, wanted: bool) -> Iterator[Progress]:
    """The progress to report to for the next `steps` batches."""
    if not wanted:
        yield Silent()
    elif not sys.stderr.isatty():
        yield Lines(sys.stderr)
    else:
        with _bar(title, steps) as bar:
            yield bar


class Bar:
    """A rich progress bar with the running loss, and a line above it per epoch."""

    def __init__(self, title: str, steps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TimeRemainingColumn(),
        )
        self.progress = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task(title, total=steps, loss="-")

    def step(self, loss: float) -> None:
        self.progress.update(self.task, advance=1, loss=f"{loss:.3f}")

    def epoch(self, line: str) -> None:
        self.progress.console.print(line, highlight=False)


@contextmanager
def _bar(title: str, steps: int) -> Iterator[Bar]:
    bar = Bar(title, steps)
    with bar.progress:
        yield bar
