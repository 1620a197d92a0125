"""Progress of long work: a bar on a terminal, plain lines when piped, nothing when not wanted."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from unfooled.stats import Stats

_EVERY = 5.0  # seconds between plain lines


class Watcher(Protocol):
    """Whom a run tells how far it is."""

    def batch(self, stats: Stats) -> None:
        """A batch has come back."""

    def text(self, stats: Stats) -> None:
        """A text is done."""

    def say(self, message: str) -> None:
        """Something the user should know."""


class Silent:
    """Counts nothing, but still says what must be said."""

    def batch(self, stats: Stats) -> None: ...

    def text(self, stats: Stats) -> None: ...

    def say(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)


class Lines:
    """A line every few seconds, for files and pipes."""

    def __init__(self, title: str, total: int | None, done: int) -> None:
        self.title, self.total, self.before = title, total, done
        self.last = time.perf_counter()

    def batch(self, stats: Stats) -> None:
        if time.perf_counter() - self.last >= _EVERY:
            self.last = time.perf_counter()
            of = "" if self.total is None else f" of {self.total}"
            self.say(f"{self.title}: {self.before + stats.texts}{of} texts, {rates(stats)}")

    def text(self, stats: Stats) -> None:
        self.batch(stats)

    def say(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)


class Bar:
    """A rich progress bar with texts and forwards per second."""

    def __init__(self, title: str, total: int | None, done: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self.before = done
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rates]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task(title, total=total, completed=done, rates="")

    def batch(self, stats: Stats) -> None:
        self.progress.update(self.task, completed=self.before + stats.texts, rates=rates(stats))

    def text(self, stats: Stats) -> None:
        self.batch(stats)

    def say(self, message: str) -> None:
        self.progress.console.print(message, highlight=False, markup=False)


@contextmanager
def watching(title: str, *, total: int | None, done: int = 0, wanted: bool) -> Iterator[Watcher]:
    """The watcher that fits where standard error goes; `done` texts were there before."""
    if not wanted:
        yield Silent()
    elif not sys.stderr.isatty():
        yield Lines(title, total, done)
    else:
        bar = Bar(title, total, done)
        with bar.progress:
            yield bar


def rates(stats: Stats) -> str:
    """Texts and forwards per second so far."""
    seconds = max(stats.seconds, 1e-9)
    return f"{stats.texts / seconds:.1f} texts/s, {stats.forwards / seconds:,.0f} forwards/s"
