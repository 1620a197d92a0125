"""Stopping: Ctrl-C, or a system that ends a command, is no error; what is done is kept, and said where.

The exit code is that of the signal: 130 for Ctrl-C, 143 where a system or scheduler ends it (SIGTERM).
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from typer.core import TyperGroup


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does: records are whole, and files closed."""


@contextmanager
def on_sigterm() -> Iterator[None]:
    """Takes SIGTERM for a Ctrl-C meanwhile, unless it is ignored or somebody handles it already."""
    ours = threading.current_thread() is threading.main_thread()  # no other may set handlers
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


@contextmanager
def stoppable(folder: Path) -> Iterator[None]:
    """Says where what is done has been kept when a run is stopped."""
    try:
        yield
    except KeyboardInterrupt as stop:
        kept = f"what is done is in {folder}, the same command goes on"
        begun = any(any(folder.glob(runs)) for runs in ("manifest.json", "*/manifest.json"))
        _end(stop, f"stopped; {kept if begun else 'nothing was begun'}")


class StoppableGroup(TyperGroup):
    """Commands that end with a word when they are stopped, also those that keep no run."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            _end(stop, "stopped")


def _end(stop: KeyboardInterrupt, said: str) -> NoReturn:
    print(f"unfooled: {said}", file=sys.stderr)
    number = signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT
    raise SystemExit(128 + number) from None
