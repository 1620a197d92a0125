"""Everything unfooled raises on purpose.

UnfooledError           one clear sentence for the user; the command line prints it and exits with 2
├── InputError          a value, file or option that cannot be used (also a ValueError)
├── MissingExtra        an optional dependency is not installed; the message has the command
├── AssetError          an asset could not be fetched, verified or found offline
├── VictimError         the victim raised or answered something that is not scores
│   └── OutOfMemory     the victim ran out of memory; the engine halves the batch and goes on
├── CompanionError      a sentence encoder or masked language model failed on a text
├── Unsupported         this victim cannot answer that kind of question; the message names who can
├── RunError            a run folder that cannot be resumed or read
└── Unsound             a lower bound above an upper bound: one of two methods has a bug
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UnfooledError(Exception):
    """Base of all errors with a message meant for a person."""


class InputError(UnfooledError, ValueError):
    """What was given cannot be used."""


class MissingExtra(UnfooledError, ImportError):
    """An optional dependency is needed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'unfooled[{extra}]'")


class AssetError(UnfooledError):
    """An asset is not to be had."""


class VictimError(UnfooledError):
    """The victim failed on a text."""


class OutOfMemory(VictimError):
    """The victim ran out of memory on a batch."""


class CompanionError(UnfooledError):
    """A sentence encoder or a masked language model failed, or answered something else."""


class Unsupported(UnfooledError, TypeError):
    """The victim lacks an ability that the method needs."""


class RunError(UnfooledError):
    """A run folder cannot be used as asked."""


class Unsound(UnfooledError):
    """Two pieces of evidence contradict each other."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: close names, or all of them."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "known: " + (", ".join(known) if known else "none")
