"""Which words should lie near each other and which apart: from WordNet, or from files of pairs."""

from __future__ import annotations

import gzip
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from unfooled.errors import InputError
from unfooled.lexicon.inflection import INFLECTED, inflect
from unfooled.lexicon.wordnet import Pos, WordNet

Pair = tuple[str, str]
"""Two different words in alphabetical order."""

_PREFIX = "en_"  # how the published files mark the language
_FORMS: dict[Pos, tuple[str, ...]] = {
    pos: ("", *(tag for tag, of in INFLECTED.items() if of == pos)) for pos in get_args(Pos)
}


@dataclass(frozen=True)
class Constraints:
    """Pairs of words to draw together and pairs to push apart; no pair is in both."""

    synonyms: frozenset[Pair]
    antonyms: frozenset[Pair]

    def within(self, words: Container[str]) -> Constraints:
        """Those of which both words are in a vocabulary."""
        return constraints(
            *(
                [(a, b) for a, b in pairs if a in words and b in words]
                for pairs in (self.synonyms, self.antonyms)
            )
        )


def constraints(synonyms: Iterable[Pair], antonyms: Iterable[Pair]) -> Constraints:
    """The constraints of two lists of pairs, in any order; what is in both counts as antonyms."""
    apart = frozenset(_ordered(antonyms))
    return Constraints(frozenset(_ordered(synonyms)) - apart, apart)


def from_files(synonyms: Iterable[Path], antonyms: Iterable[Path]) -> Constraints:
    """The constraints of files with two words a line, plain or compressed by gzip."""
    return constraints(
        *([pair for path in paths for pair in read_pairs(path)] for paths in (synonyms, antonyms))
    )


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of one file, lower-case and without the prefix `en_` of the published ones."""
    pairs = []
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        words = [word.lower().removeprefix(_PREFIX) for word in line.split()]
        if words and len(words) != 2:
            raise InputError(f"{path} line {number} must be two words, not {line!r:.60}")
        if words:
            pairs.append((words[0], words[1]))
    return pairs


def text_of(path: Path) -> str:
    """What a file says, unpacked if it was compressed by gzip."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def from_wordnet(wordnet: WordNet, words: Iterable[str], *, senses: int = 3) -> Constraints:
    """WordNet's constraints on a vocabulary: words of one synset, and opposites.

    The synset is one of the most frequent `senses` of both words: the rare senses of common words
    (`love` and `bed`) would draw together what nobody takes for the same. Inflected forms follow
    their lemmas, so that `loved` is held against `hated` as `love` is against `hate`. Names and
    phrases are left out.
    """
    known = frozenset(words)
    near: list[Pair] = []
    apart: list[Pair] = []
    for pos in get_args(Pos):
        for word in known:
            if wordnet.knows(word, pos):
                paired = partial(_inflected, word, pos=pos, wordnet=wordnet, known=known)
                near += paired(_synonyms(word, pos, wordnet=wordnet, senses=senses))
                apart += paired(wordnet.antonyms(word, pos))
    return constraints(near, apart)


def _synonyms(word: str, pos: Pos, *, wordnet: WordNet, senses: int) -> tuple[str, ...]:
    shared = ((o, wordnet.synset(o, pos).words) for o in wordnet.offsets(word, pos)[:senses])
    return tuple(
        other
        for offset, synset in shared
        if word in synset  # else the sense is that of a name, which has a capital
        for other in synset
        if offset in wordnet.offsets(other, pos)[:senses]
    )


def _inflected(
    word: str, others: tuple[str, ...], *, pos: Pos, wordnet: WordNet, known: Container[str]
) -> Iterator[Pair]:
    for other in others:
        if " " in other or other != other.lower():
            continue
        for tag in _FORMS[pos]:
            one, two = (
                next((f for f in inflect(lemma, tag, wordnet=wordnet) if f in known), None)
                for lemma in (word, other)
            )
            if one is not None and two is not None:
                yield one, two


def _ordered(pairs: Iterable[Pair]) -> Iterator[Pair]:
    return ((a, b) if a < b else (b, a) for a, b in pairs if a != b)
