"""Sememe tables in the manner of HowNet: words with senses made of the same atoms of meaning."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from unfooled.errors import InputError
from unfooled.lexicon.resources import locate
from unfooled.lexicon.wordnet import Pos

ANY = "*"
"""The part of speech of a table that gives none: it matches every other."""

_POS: dict[str, str] = {
    "n": "n",
    "noun": "n",
    "v": "v",
    "verb": "v",
    "a": "a",
    "adj": "a",
    "adjective": "a",
    "r": "r",
    "adv": "r",
    "adverb": "r",
}

Sense = tuple[str, ...]  # sorted, each sememe once: an identical set is an equal tuple


@dataclass(frozen=True, eq=False)
class SememeTable:
    """Per word and part of speech the senses, each a set of sememes."""

    senses: Mapping[str, Mapping[str, tuple[Sense, ...]]]

    def synonyms(self, word: str, pos: Pos) -> tuple[str, ...]:
        """The other words of that part of speech with an identical set of sememes in some sense."""
        found: dict[str, None] = {}
        for kind in (pos, ANY):
            for sense in self.senses.get(word, {}).get(kind, ()):
                for other in self._words.get((kind, sense), ()):
                    found.setdefault(other)
        found.pop(word, None)
        return tuple(sorted(found))

    def knows(self, word: str, pos: Pos) -> bool:
        """Whether the table has a word in that part of speech."""
        return not {pos, ANY}.isdisjoint(self.senses.get(word, {}))

    @cached_property
    def _words(self) -> dict[tuple[str, Sense], list[str]]:
        words: dict[tuple[str, Sense], list[str]] = defaultdict(list)
        for word, kinds in self.senses.items():
            for kind, senses in kinds.items():
                for sense in senses:
                    words[kind, sense].append(word)
        return dict(words)


@lru_cache(maxsize=4)
def load(name: str) -> SememeTable:
    """The sememe table of that file; loaded once."""
    return read(locate(name))


def read(path: Path) -> SememeTable:
    """A table from JSON: word to {pos: [senses]}, or word to [senses] where no pos is known."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a JSON sememe table: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} must be a JSON object from words to senses")
    return SememeTable(
        {word.lower(): _kinds(value, word, path=path) for word, value in content.items()}
    )


def _kinds(value: object, word: str, *, path: Path) -> dict[str, tuple[Sense, ...]]:
    if isinstance(value, list):
        return {ANY: _senses(value, word, path=path)}
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: {word!r} must have an object or a list of senses, not {value!r:.40}"
        )
    kinds: dict[str, tuple[Sense, ...]] = {}
    for name, senses in value.items():
        kind = _POS.get(
            str(name).lower(), str(name)
        )  # other parts of speech stay, and match no tag
        kinds[kind] = kinds.get(kind, ()) + _senses(senses, word, path=path)
    return kinds


def _senses(value: object, word: str, *, path: Path) -> tuple[Sense, ...]:
    if not isinstance(value, list) or not all(
        isinstance(sense, list) and sense and all(isinstance(s, str) for s in sense)
        for sense in value
    ):
        raise InputError(
            f"{path}: the senses of {word!r} must be lists of sememes, not {value!r:.60}"
        )
    return tuple(tuple(sorted(set(sense))) for sense in value)
