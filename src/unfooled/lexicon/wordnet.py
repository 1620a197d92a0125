"""WordNet's own database files: synonyms, antonyms and lemmas, read on demand.

The index files become dictionaries at once (a quarter of a second); a synset line is parsed when
it is first asked for. Format: wndb(5WN) and morphy(7WN) of WordNet 3.0 (Fellbaum 1998).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from unfooled.errors import InputError
from unfooled.lexicon.resources import locate

Pos = Literal["n", "v", "a", "r"]
"""Noun, verb, adjective (satellites included), adverb."""

_FILES: dict[Pos, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}

# Endings and what replaces them, in WordNet's order; "ves" is an addition (wolves is listed, but
# not every compound of it).
_ENDINGS: dict[Pos, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand, glued to the word


class Synset(NamedTuple):
    """The words of one sense, and for each word its antonyms as (offset, word number)."""

    words: tuple[str, ...]
    antonyms: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class WordNet:
    """The database in one folder; every answer is lower-case with spaces, in the database's order.

    Words with capitals (names) keep them, so that a caller can tell them from common words.
    """

    folder: Path
    _synsets: dict[tuple[Pos, int], Synset] = field(default_factory=dict, repr=False, compare=False)

    def synonyms(self, word: str, pos: Pos) -> tuple[str, ...]:
        """All other words in the synsets of a lemma, most frequent sense first, each once."""
        found: dict[str, None] = {}
        for offset in self.offsets(word, pos):
            for other in self.synset(offset, pos).words:
                if other.lower() != word:
                    found.setdefault(other)
        return tuple(found)

    def antonyms(self, word: str, pos: Pos) -> tuple[str, ...]:
        """The words that WordNet marks as opposites of a lemma in some sense."""
        found: dict[str, None] = {}
        for offset in self.offsets(word, pos):
            synset = self.synset(offset, pos)
            for source, target, number in synset.antonyms:
                if source == 0 or synset.words[source - 1].lower() == word:
                    opposite = self.synset(target, pos).words
                    for other in opposite[number - 1 : number] if number else opposite:
                        found.setdefault(other)
        return tuple(found)

    def lemmas(self, word: str, pos: Pos) -> tuple[str, ...]:
        """The dictionary forms of an inflected word: listed exceptions, itself, regular endings."""
        return morphy(
            word, pos, known=lambda form: self.knows(form, pos), exceptions=self.exceptions(pos)
        )

    def knows(self, word: str, pos: Pos) -> bool:
        """Whether a word is a lemma of that part of speech."""
        return _key(word) in self._index[pos]

    def offsets(self, word: str, pos: Pos) -> tuple[int, ...]:
        """Where the synsets of a lemma begin in the data file; empty for an unknown word."""
        line = self._index[pos].get(_key(word))
        if line is None:
            return ()
        fields = line.split()  # lemma pos synsets pointers [symbol...] senses tagged [offset...]
        return tuple(map(int, fields[len(fields) - int(fields[2]) :]))

    def synset(self, offset: int, pos: Pos) -> Synset:
        """The synset whose line begins at a byte of the data file."""
        found = self._synsets.get((pos, offset))
        if found is None:
            data = self._data[pos]
            line = data[offset : data.find(b"\n", offset)].decode("ascii", "replace")
            found = self._synsets[pos, offset] = _parse(line, f"data.{_FILES[pos]} byte {offset}")
        return found

    def exceptions(self, pos: Pos) -> Mapping[str, tuple[str, ...]]:
        """Irregular form to its lemmas, as listed."""
        return self._exceptions[pos]

    def irregular(self, lemma: str, pos: Pos) -> tuple[str, ...]:
        """The listed irregular forms of a lemma, the lists read backwards."""
        return self._irregular[pos].get(lemma, ())

    @cached_property
    def _index(self) -> dict[Pos, dict[bytes, bytes]]:
        return {pos: dict(_keyed(self._read("index." + _FILES[pos]))) for pos in _FILES}

    @cached_property
    def _data(self) -> dict[Pos, bytes]:
        return {pos: self._read("data." + _FILES[pos]) for pos in _FILES}

    @cached_property
    def _exceptions(self) -> dict[Pos, dict[str, tuple[str, ...]]]:
        tables: dict[Pos, dict[str, tuple[str, ...]]] = {}
        for pos, name in _FILES.items():
            rows = (line.split() for line in self._read(name + ".exc").decode("ascii").splitlines())
            tables[pos] = {row[0]: tuple(row[1:]) for row in rows if row}
        return tables

    @cached_property
    def _irregular(self) -> dict[Pos, dict[str, tuple[str, ...]]]:
        tables: dict[Pos, dict[str, tuple[str, ...]]] = {}
        for pos, table in self._exceptions.items():
            back = tables[pos] = {}
            for form, lemmas in table.items():
                for lemma in lemmas:
                    back[lemma] = (*back.get(lemma, ()), form)
        return tables

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        if not path.is_file():
            raise InputError(f"{self.folder} is not a WordNet folder: it has no {name}")
        return path.read_bytes()


@lru_cache(maxsize=4)
def load(name: str = "wordnet") -> WordNet:
    """The WordNet of that asset name or folder; loaded once."""
    return WordNet(locate(name))


def morphy(
    word: str,
    pos: Pos,
    *,
    known: Callable[[str], bool],
    exceptions: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:
    """The known lemmas of a form, by the exception list, else by detaching endings once."""
    if pos not in get_args(Pos):
        raise InputError(f"a part of speech is one of n, v, a, r, not {pos!r}")
    forms: Iterable[str]
    if word in exceptions:
        forms = (*exceptions[word], word)
    else:
        stem, full = (word[:-3], "ful") if pos == "n" and word.endswith("sful") else (word, "")
        forms = (word, *(f + full for f in _detached(stem, pos)))
    return tuple(dict.fromkeys(form for form in forms if form and known(form)))


def _detached(word: str, pos: Pos) -> tuple[str, ...]:
    if pos == "n" and (word.endswith("ss") or len(word) <= 2):
        return ()  # "pass" is not the plural of "pas"
    return tuple(
        word[: -len(ending)] + new for ending, new in _ENDINGS[pos] if word.endswith(ending)
    )


def _key(word: str) -> bytes:
    return word.lower().replace(" ", "_").encode("utf-8", "replace")


def _keyed(text: bytes) -> Iterable[tuple[bytes, bytes]]:
    for line in text.split(b"\n"):
        if line and not line.startswith(b" "):  # the licence at the top is indented
            yield line[: line.index(b" ")], line


def _parse(line: str, where: str) -> Synset:
    # offset lexfile type words(hex) [word id]... pointers [symbol offset pos from/to]... | gloss
    fields = line.partition(" | ")[0].split()
    try:
        end = 4 + 2 * int(fields[3], 16)
        words = tuple(_MARKER.sub("", w).replace("_", " ") for w in fields[4:end:2])
        first = end + 1
        pointers = [fields[i : i + 4] for i in range(first, first + 4 * int(fields[end]), 4)]
        antonyms = tuple(
            (int(ends[:2], 16), int(offset), int(ends[2:], 16))
            for symbol, offset, _, ends in pointers
            if symbol == "!"
        )
    except (IndexError, ValueError):
        raise InputError(f"WordNet {where} is not a synset line: {line[:60]!r}") from None
    return Synset(words, antonyms)
