"""Any Python function as a victim: `uf.victim(function, labels)` or `python:module:function`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from unfooled.errors import InputError, VictimError
from unfooled.text import Source
from unfooled.victims.base import Floats, StringVictim, checked

Labels = int | Sequence[str]
"""The names of the classes, or only how many there are."""


class CallableVictim(StringVictim):
    """A function from a list of strings (or of pairs) to (n, classes) scores.

    What the function raises passes through (SystemExit as a VictimError): the engine finds the text
    that caused it.
    """

    def __init__(
        self, function: Callable[[list[Any]], Any], labels: Labels, *, name: str | None = None
    ) -> None:
        if not callable(function):
            raise InputError(
                f"a victim is a function from texts to scores, not {function!r:.80}; "
                "a path or address is opened with load(...)"
            )
        self.function = function
        self.labels = named(labels)
        self.name = name or str(getattr(function, "__qualname__", type(function).__name__))

    def scores(self, sources: Sequence[Source]) -> Floats:
        if not sources:
            return np.empty((0, len(self.labels)))
        try:
            answer = self.function(list(sources))
        except SystemExit as error:  # no Exception: it would end the run, and not only this text
            raise VictimError(f"{self.name} raised SystemExit({error.code!r})") from error
        return checked(answer, n=len(sources), classes=len(self.labels), name=self.name)

    @property
    def fingerprint(self) -> None:
        return None


def named(labels: Labels) -> tuple[str, ...]:
    """The class names: those given, or "0", "1", ... for a count.

    >>> named(2), named(["bad", "good"])
    (('0', '1'), ('bad', 'good'))
    """
    if isinstance(labels, (int, np.integer)) and not isinstance(labels, bool):
        names = tuple(map(str, range(labels)))
    elif isinstance(labels, str) or not isinstance(labels, Sequence):
        raise InputError(
            f"labels are a list of class names or how many classes there are, not {labels!r:.60}"
        )
    else:
        names = tuple(map(str, labels))
    if len(names) < 2:
        raise InputError(f"a classifier has at least two classes, but labels say {labels!r:.60}")
    if len(set(names)) < len(names):
        raise InputError(f"labels name a class twice: {', '.join(names):.120}")
    return names


def found(place: str) -> tuple[Any, Labels | None]:
    """The object that `module:function` or `file.py:function` names, and the labels beside it.

    The labels are those of the function (`function.labels`) or of its module (`LABELS`). Modules
    are looked for in the current folder too. Importing a module runs its code.
    """
    home, _, path = place.rpartition(":")
    if not home or not path:
        raise InputError(
            f"python:{place} names no function: write python:module:function or "
            "python:path/to/file.py:function"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module = _from_file(Path(home)) if home.endswith(".py") else _from_name(home)
    thing: Any = module
    for part in path.split("."):
        if not hasattr(thing, part):
            raise InputError(f"{home} has no {path!r}: name a function that is defined there")
        thing = getattr(thing, part)
    return thing, getattr(thing, "labels", None) or getattr(module, "LABELS", None)


def _from_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise InputError(
                f"no module named {name!r} here or among the installed packages; "
                "for a file write python:path/to/file.py:function"
            ) from error
        raise InputError(f"importing {name} failed: {error}") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"importing {name} failed: {type(error).__name__}: {error}") from error


def _from_file(file: Path) -> ModuleType:
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} cannot be imported as a Python module")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(f"importing {file} failed: {type(error).__name__}: {error}") from error
    return module
