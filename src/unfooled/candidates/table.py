"""Candidates from a table of the reader's own: JSON, TSV, or a Python mapping."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from unfooled.candidates._source import Candidate, Row, Source, at_least
from unfooled.errors import InputError
from unfooled.lexicon.resources import locate
from unfooled.text import Text, is_word

Entries = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Table(Source):
    """What a file says: JSON {word: [candidate, ...]} or lines of word, tab, candidates by tabs.

    Either may be compressed with gzip, under a name that ends in .gz.
    """

    file: str
    k: int | None = None  # only the first so many of a word

    def __post_init__(self) -> None:
        at_least(self.k, 1, option="k")

    def rows(self, text: Text) -> list[Row]:
        return look_up(text, read(locate(self.file)), k=self.k)

    def resources(self) -> dict[str, str]:
        return {"file": self.file}


@dataclass(frozen=True)
class Words(Source):
    """What a Python mapping says; made by `load({word: [candidate, ...]})`."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]

    def rows(self, text: Text) -> list[Row]:
        return look_up(text, self._table, k=None)

    @cached_property
    def _table(self) -> Entries:
        return dict(self.entries)


def words(mapping: Mapping[object, object]) -> Words:
    """The source of a mapping from words to candidates."""
    return Words(tuple(sorted(checked(mapping, origin="the mapping").items())))


def look_up(text: Text, entries: Entries, *, k: int | None) -> list[Row]:
    """A row for each word: its entry, else that of its lower-case form."""
    rows = []
    for position, word in enumerate(text.words):
        found = entries.get(word) or entries.get(word.lower(), ())
        # A swap takes the case of the word, so one that differs in case alone is the word itself.
        others = [o for o in dict.fromkeys(found) if o.lower() != word.lower()]
        candidates = tuple(
            Candidate(other, rejected="" if k is None or rank < k else f"not among the best {k}")
            for rank, other in enumerate(others)
        )
        absent = "not in the table" if is_word(word) else "punctuation"
        rows.append(Row(position, word, "", candidates, "" if candidates else absent))
    return rows


@lru_cache(maxsize=4)
def read(path: Path) -> Entries:
    """The entries of a table file; a bad line or entry is named."""
    packed = path.suffix.lower() == ".gz"
    try:
        content = path.read_bytes()
        text = (_unpacked(content, path) if packed else content).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the table {path} cannot be read: {error}") from error
    kind = Path(path.stem).suffix if packed else path.suffix
    return _json(text, path) if kind.lower() == ".json" else _tsv(text, path)


def _unpacked(content: bytes, path: Path) -> bytes:
    try:
        if not content:  # which the module takes for a file of nothing
            raise EOFError("it is empty")
        return gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"the table {path} is no whole gzip file ({error}): fetch or compress it again"
        ) from error


def checked(mapping: Mapping[object, object], *, origin: str) -> dict[str, tuple[str, ...]]:
    """The mapping with tuples for values, or an error naming the entry that does not fit."""
    entries: dict[str, tuple[str, ...]] = {}
    for word, others in mapping.items():
        if not isinstance(word, str):
            raise InputError(
                f"{origin} must go from words to candidates, not from {word!r}; "
                "positions and their candidates go straight into Space"
            )
        if not isinstance(others, (list, tuple)) or not all(isinstance(o, str) for o in others):
            raise InputError(f"{origin}: {word!r} needs a list of words, not {others!r:.60}")
        entries[word] = tuple(others)
    return entries


def _json(content: str, path: Path) -> Entries:
    try:
        table = json.loads(content)
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    if not isinstance(table, dict):
        raise InputError(f"{path} must be a JSON object from words to lists of candidates")
    return checked(table, origin=str(path))


def _tsv(content: str, path: Path) -> Entries:
    entries: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        word, *others = (field.strip() for field in line.split("\t"))
        if not word or not all(others) or not others:
            raise InputError(
                f"{path} line {number} must be a word, a tab and candidates separated by tabs, "
                f"not {line!r:.60}"
            )
        entries[word] = entries.get(word, ()) + tuple(others)  # one pair a line is common
    return entries


SOURCE = Table
