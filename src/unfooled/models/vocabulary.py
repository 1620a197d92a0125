"""Vocabulary: the words a word model knows, each with a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import ClassVar

from unfooled.errors import InputError

_SPECIAL = ("<padding>", "<unknown>")


class Vocabulary:
    """Numbers for lower-cased words: 0 is padding, 1 any unknown word, then one number a word.

    >>> known = Vocabulary(["a", "good", "film"])
    >>> known.ids(["A", "good", "movie"])
    [2, 3, 1]
    """

    padding: ClassVar[int] = 0
    unknown: ClassVar[int] = 1

    def __init__(self, words: Iterable[str]) -> None:
        self.words: tuple[str, ...] = tuple(words)
        if len(self._index) != len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise InputError(f"the vocabulary has the word {twice!r} twice")

    @classmethod
    def build(
        cls, texts: Iterable[Sequence[str]], size: int = 20_000, *, extra: Iterable[str] = ()
    ) -> Vocabulary:
        """The most frequent words of the texts, then the extra words that are not among them.

        `size` bounds the words of the texts and counts padding and unknown; `extra` (words that
        have a pre-trained vector) is taken whole. Equally frequent words stand in alphabetical
        order, so that the order of the texts does not matter.
        """
        if size < 3:
            raise InputError(f"a vocabulary has at least 3 entries, not {size}")
        counts: Counter[str] = Counter()
        for words in texts:
            if isinstance(words, str):
                raise InputError(f"a vocabulary is built from lists of words, not {words!r:.40}")
            counts.update(word.lower() for word in words)
        ranked = sorted(counts, key=lambda word: (-counts[word], word))[: size - len(_SPECIAL)]
        chosen = dict.fromkeys(ranked)
        chosen.update(dict.fromkeys(word.lower() for word in extra))
        return cls(word for word in chosen if _fits_a_line(word))

    def ids(self, words: Sequence[str]) -> list[int]:
        """One number per word; 1 for a word that is not known, whatever its case."""
        return list(map(self._index.get, map(str.lower, words), repeat(self.unknown)))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=len(_SPECIAL))}

    def __len__(self) -> int:
        return len(self.words) + len(_SPECIAL)

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} entries)"

    def save(self, path: Path) -> None:
        """Writes one word per line; the line, counted from 0, is the number of the word."""
        path.write_text("\n".join((*_SPECIAL, *self.words)) + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """The vocabulary that `save` wrote."""
        try:
            # Not splitlines(): it also splits at separators that a word may contain.
            lines = path.read_bytes().decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not a vocabulary: it is not UTF-8 text") from error
        if tuple(lines[: len(_SPECIAL)]) != _SPECIAL or lines[-1] != "":
            raise InputError(
                f"{path} is not a vocabulary: expected the lines {_SPECIAL[0]} and {_SPECIAL[1]} "
                "and then one word per line"
            )
        return cls(lines[len(_SPECIAL) : -1])


def _fits_a_line(word: str) -> bool:
    return bool(word) and not any(character in word for character in "\n\r")
