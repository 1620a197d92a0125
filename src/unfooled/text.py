"""Text: words and the spacing between them, so that the source can be restored exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from unfooled.errors import InputError

Source = str | tuple[str, str]
"""What a victim is given: one string, or a (premise, hypothesis) pair."""

Editable = Literal["second", "first", "both"]

# `re` does not count combining marks as word characters; these ranges keep them with their letter.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0900-\u0963\u0981-\u0dff\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
    "\u20d0-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f"
)
_LETTER = rf"[\w{_MARKS}]"
_CLITIC = r"(?:s|t|re|ve|ll|d|m|em|n)"  # what stands alone after an apostrophe in tokenised corpora
_WORD = re.compile(
    rf"(?<!\S)['’]{_CLITIC}(?!{_LETTER})"
    rf"|{_LETTER}+(?:(?:['’\-‐‑]|(?<=\d)[.,:](?=\d)){_LETTER}+)*"
    rf"|[^\w\s{_MARKS}][^\w\s]*",  # marks stay with the sign they follow, as in an emoji
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Text:
    """The words of a text that may be edited, the gaps around them, and what stays fixed.

    `gaps[i]` stands before `words[i]` and the last gap after the last word. In a pair one side is
    usually fixed (`other`); when both are editable, `split` words belong to the premise and `seam`
    is the gap that opens the hypothesis. Positions count from the first editable word.

    >>> str(Text.parse("It 's a  good, well-made film.").swap({3: "fine"}))
    "It 's a  fine, well-made film."
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    other: str | None = None
    editable: Editable | None = None
    split: int = 0
    seam: str = ""

    @classmethod
    def parse(cls, source: str | Source | Text) -> Text:
        """Splits a string (or pair) into words; `str()` or `.source` gives it back exactly."""
        if isinstance(source, Text):
            return source
        if isinstance(source, str):
            words, gaps = _split(source)
            return cls(words, gaps)
        if not (isinstance(source, (tuple, list)) and len(source) == 2):
            raise InputError(f"a text is a string or a pair of strings, not {source!r:.80}")
        return cls.pair(*source)

    @classmethod
    def pair(cls, premise: str, hypothesis: str, *, editable: Editable = "second") -> Text:
        """A premise and a hypothesis; only the second is editable unless asked otherwise."""
        for side in (premise, hypothesis):
            if not isinstance(side, str):
                raise InputError(f"a pair is made of two strings, not {side!r:.80}")
        if editable == "second":
            return cls(*_split(hypothesis), other=premise, editable=editable)
        if editable == "first":
            return cls(*_split(premise), other=hypothesis, editable=editable)
        if editable != "both":
            raise InputError(f"editable is 'first', 'second' or 'both', not {editable!r}")
        return _joint(cls(*_split(premise)), cls(*_split(hypothesis)))

    @property
    def is_pair(self) -> bool:
        return self.editable is not None

    @property
    def source(self) -> Source:
        """What a victim reads: the string, or the (premise, hypothesis) pair."""
        if self.editable == "both":
            first, second = self.sides
            return _join(first.words, first.gaps), _join(second.words, second.gaps)
        body = _join(self.words, self.gaps)
        if self.other is None:
            return body
        return (self.other, body) if self.editable == "second" else (body, self.other)

    @property
    def sides(self) -> tuple[Text, Text]:
        """The premise and the hypothesis as texts of their own, where both are editable."""
        cut = self.split
        second = (self.seam, *self.gaps[cut + 1 :])
        return Text(self.words[:cut], self.gaps[: cut + 1]), Text(self.words[cut:], second)

    def swap(self, swaps: Mapping[int, str]) -> Text:
        """The text with some words replaced, in the case pattern of the words they replace."""
        words = list(self.words)
        for position, word in swaps.items():
            if not 0 <= position < len(words):
                raise InputError(f"position {position} is outside a text of {len(words)} words")
            words[position] = match_case(word, words[position])
        return replace(self, words=tuple(words))

    def without(self, positions: Iterable[int]) -> Text:
        """The text with some words taken out, each with the gap before it."""
        gone = set(positions)
        if self.editable == "both":
            first, second = self.sides
            return _joint(first.without(gone), second.without(i - self.split for i in gone))
        keep = [i for i in range(len(self.words)) if i not in gone]
        words = tuple(self.words[i] for i in keep)
        gaps = tuple(self.gaps[i] for i in keep)
        return replace(self, words=words, gaps=(*gaps, self.gaps[-1]))

    def __str__(self) -> str:
        source = self.source
        return source if isinstance(source, str) else "\n".join(source)

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Example:
    """A text and the index of its true class; `id` names it in records and errors."""

    text: Text
    label: int
    id: str = ""


def match_case(word: str, model: str) -> str:
    """`word` in the case pattern of `model`: lower, UPPER, Capitalised; other patterns leave it.

    >>> match_case("film", "MOVIE"), match_case("film", "Movie"), match_case("iPhone", "42")
    ('FILM', 'Film', 'iPhone')
    """
    if model.islower():
        return word.lower()
    if model.isupper():
        return word.upper() if sum(map(str.isalpha, model)) > 1 else _capitalised(word)
    if model[:1].isupper() and model[1:].islower():
        return _capitalised(word)
    return word


def words_of(source: str) -> tuple[str, ...]:
    """The words of a string, for those who need nothing of what is between them."""
    return tuple(_WORD.findall(source))


def is_word(token: str) -> bool:
    """Whether a token has a letter or a digit, as opposed to a run of punctuation."""
    return any(map(str.isalnum, token))


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


def _joint(first: Text, second: Text) -> Text:
    """A pair with two editable sides."""
    gaps = first.gaps + second.gaps[1:]
    return Text(first.words + second.words, gaps, None, "both", len(first.words), second.gaps[0])


def _split(source: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return words_of(source), tuple(_WORD.split(source))


def _join(words: tuple[str, ...], gaps: tuple[str, ...]) -> str:
    return "".join([part for pair in zip(gaps, words, strict=False) for part in pair]) + gaps[-1]
