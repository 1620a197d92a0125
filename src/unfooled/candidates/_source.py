"""The contract of a source of candidates, and the table that explains its choices."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from unfooled.errors import InputError
from unfooled.lexicon import resources
from unfooled.text import Text

_RECIPE = 1  # part of every fingerprint; raise it when a change here changes candidates


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that was considered, its similarity to the original, and why it was rejected if so."""

    word: str
    similarity: float | None = None
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One position: its word, its tag where one was needed, all that was considered, best first."""

    position: int
    word: str
    tag: str = ""
    candidates: tuple[Candidate, ...] = ()
    reason: str = ""  # why the position has no candidates at all

    @property
    def kept(self) -> tuple[str, ...]:
        """The candidates that were not rejected."""
        return tuple(c.word for c in self.candidates if not c.rejected)


class Source(ABC):
    """Gives each word position of a text its candidates, best first, without the original.

    A frozen dataclass: its fields are its options. The same text, options and resources give the
    same candidates, whatever was asked before.
    """

    @abstractmethod
    def rows(self, text: Text) -> list[Row]:
        """One row for each position of the text, with reasons."""

    def resources(self) -> dict[str, str]:
        """The option that names each resource in use, and that name (an asset or a path)."""
        return {}

    def positions(self, text: Text) -> tuple[int, ...]:
        """The words that may be swapped, whoever proposes by what; a source that can finds no candidates."""
        return tuple(self(text))

    def keep(self, text: Text, position: int, words: Sequence[str]) -> tuple[str, ...]:
        """Those of the words that may stand at a position, whoever proposed them; filters reject some."""
        return tuple(words)

    def __call__(self, text: Text) -> dict[int, tuple[str, ...]]:
        """Word position to candidates; positions without any are left out."""
        return {row.position: row.kept for row in self.rows(text) if row.kept}

    def __getstate__(self) -> dict[str, Any]:
        # Another process loads the resources itself; it is not sent what was loaded here.
        return {field.name: getattr(self, field.name) for field in fields(cast("Any", self))}

    @property
    def fingerprint(self) -> str:
        """A sha256 of options and resource contents: equal fingerprints, equal candidates."""
        used = self.resources()
        options = {}
        for field in fields(cast("Any", self)):
            value = getattr(self, field.name)
            options[field.name] = value.fingerprint if isinstance(value, Source) else value
        options |= {name: resources.digest(value) for name, value in used.items()}
        content = json.dumps([_RECIPE, type(self).__name__, options], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


def explain(source: Source, text: Text | str) -> list[Row]:
    """One row a word: its tag, its candidates with similarity, and why others were rejected."""
    return source.rows(Text.parse(text))


def passages(text: Text) -> list[tuple[int, tuple[str, ...]]]:
    """The stretches of words that are read together, with the position of the first of each."""
    if text.editable == "both":
        return [(0, text.words[: text.split]), (text.split, text.words[text.split :])]
    return [(0, text.words)]


def at_least(value: int | None, least: int, *, option: str) -> None:
    """Refuses a count below the least that makes sense."""
    if value is not None and value < least:
        raise InputError(f"{option} is at least {least}, not {value}")
