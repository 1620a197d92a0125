"""Misspellings: letters swapped, deleted, inserted or replaced, by key, by look, or by a space."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from string import ascii_lowercase

from unfooled.candidates._source import Candidate, Row, Source, at_least
from unfooled.errors import InputError, did_you_mean
from unfooled.lexicon import edits, stopwords
from unfooled.lexicon.stopwords import is_stop
from unfooled.text import Text, is_word


@dataclass(frozen=True)
class Typos(Source):
    """Up to k misspellings of a word, one of each kind in turn, drawn by word and seed.

    The bugs of DeepWordBug (Gao et al. 2018: `swap/substitute/delete/insert`) and TextBugger (Li et
    al. 2019: `space/delete/swap/homoglyph/keyboard`). Each is one edit away from the word, an
    adjacent swap two. Differs from the papers: they draw a place once for each text, here a word has
    the same misspellings wherever it stands; TextBugger looks for the best place among homoglyphs.
    """

    k: int = 8
    kinds: str = "swap/delete/insert/substitute/keyboard/homoglyph/space"  # in turn
    inner: bool = True  # whether swap and delete spare the first and the last letter (TextBugger)
    seed: int = 0
    stopwords: str | None = "stopwords"  # words to leave alone: an asset, a file, or none

    def __post_init__(self) -> None:
        at_least(self.k, 1, option="k")
        for kind in self.kinds.split("/"):
            if kind not in _KINDS:
                raise InputError(
                    f"typos has no kind {kind!r}; {did_you_mean(kind, _KINDS)} "
                    "Write kinds as swap/delete/..."
                )

    def rows(self, text: Text) -> list[Row]:
        return [self._row(position, word) for position, word in enumerate(text.words)]

    def resources(self) -> dict[str, str]:
        return {"stopwords": self.stopwords} if self.stopwords else {}

    def _row(self, position: int, word: str) -> Row:
        reason = self._closed(word)
        if reason:
            return Row(position, word, reason=reason)
        if word not in self._found:
            self._found[word] = self._candidates(word)
        found = self._found[word]
        return Row(position, word, "", found, "" if found else "no letter to change")

    def _closed(self, word: str) -> str:
        if not is_word(word):
            return "punctuation"
        if is_stop(word, self._stop):
            return "stop word"
        return "" if sum(map(str.isalpha, word)) > 1 else "a single letter"

    def _candidates(self, word: str) -> tuple[Candidate, ...]:
        # A swap takes the case of the word, so that its misspellings are those in lower case.
        plain = word.islower() or word.isupper() or (word[:1].isupper() and word[1:].islower())
        base = word.lower() if plain else word
        kinds = [self._drawn(kind, word, base=base) for kind in self.kinds.split("/")]
        in_turn = (typo for typos in zip_longest(*kinds) for typo in typos if typo is not None)
        chosen = [t for t in dict.fromkeys(in_turn) if t.lower() not in (word.lower(), base)]
        return tuple(map(Candidate, chosen[: self.k]))

    def _drawn(self, kind: str, word: str, *, base: str) -> list[str]:
        """All misspellings of a kind in an order that only the word, the kind and the seed decide."""
        every = list(dict.fromkeys(_KINDS[kind](base, word, self.inner)))
        return sorted(every, key=lambda typo: _draw(f"{self.seed}\0{kind}\0{base}\0{typo}"))

    @cached_property
    def _stop(self) -> frozenset[str]:
        return stopwords.load(self.stopwords) if self.stopwords else frozenset()

    @cached_property
    def _found(self) -> dict[str, tuple[Candidate, ...]]:
        return {}


def _draw(key: str) -> bytes:
    # Not `hash`, which differs by process.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _letters(base: str, *, inner: bool) -> list[int]:
    places = range(1, len(base) - 1) if inner else range(len(base))
    return [i for i in places if base[i].isalpha()]


def _swaps(base: str, _word: str, inner: bool) -> Iterator[str]:
    letters = set(_letters(base, inner=inner))
    for i in sorted(letters):
        if i + 1 in letters and base[i] != base[i + 1]:
            yield base[:i] + base[i + 1] + base[i] + base[i + 2 :]


def _deletions(base: str, _word: str, inner: bool) -> Iterator[str]:
    for i in _letters(base, inner=inner):
        yield base[:i] + base[i + 1 :]


def _insertions(base: str, _word: str, _inner: bool) -> Iterator[str]:
    for i in range(len(base) + 1):
        for letter in ascii_lowercase:
            yield base[:i] + letter + base[i:]


def _substitutions(base: str, _word: str, _inner: bool) -> Iterator[str]:
    return _replaced(base, lambda i: ascii_lowercase)


def _keys(base: str, _word: str, _inner: bool) -> Iterator[str]:
    return _replaced(base, lambda i: edits.beside(base[i]))


def _homoglyphs(base: str, word: str, _inner: bool) -> Iterator[str]:
    # Where the word has a capital the swap would get one, and capitals need not look alike.
    small = len(word) == len(base)
    return _replaced(
        base, lambda i: edits.HOMOGLYPHS.get(base[i], "") if small and word[i].islower() else ""
    )


def _spaces(base: str, _word: str, _inner: bool) -> Iterator[str]:
    for i in range(1, len(base)):
        yield f"{base[:i]} {base[i:]}"


def _replaced(base: str, by: Callable[[int], str]) -> Iterator[str]:
    for i in _letters(base, inner=False):
        for letter in by(i):
            if letter != base[i]:
                yield base[:i] + letter + base[i + 1 :]


_KINDS: dict[str, Callable[[str, str, bool], Iterator[str]]] = {
    "swap": _swaps,
    "delete": _deletions,
    "insert": _insertions,
    "substitute": _substitutions,
    "keyboard": _keys,
    "homoglyph": _homoglyphs,
    "space": _spaces,
}

SOURCE = Typos
