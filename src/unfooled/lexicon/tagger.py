"""Penn part-of-speech tags for the words of a text, by an averaged perceptron.

Collins 2002; the features, and the weights of the `tagger` asset, are those of the tagger that
Honnibal wrote for TextBlob and NLTK distributes.

Differs from it: contractions are split before tagging (`don't` is tagged as `do`), and a
capitalised first word or a word in capitals is a proper name only if its lower-case form does not
look like anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unfooled.errors import InputError
from unfooled.lexicon.resources import locate

_START, _END = ("-START-", "-START2-"), ("-END-", "-END2-")
_CLITIC = re.compile(r"^(.*\w)(n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)
_STOPS = frozenset(".!?")

_UNIVERSAL = {
    "NN": "NOUN",
    "VB": "VERB",
    "JJ": "ADJ",
    "RB": "ADV",
    "MD": "VERB",
    "PR": "PRON",
    "WP": "PRON",
    "WR": "ADV",
    "WD": "DET",
    "DT": "DET",
    "PD": "DET",
    "EX": "DET",
    "IN": "ADP",
    "CC": "CONJ",
    "CD": "NUM",
    "RP": "PRT",
    "TO": "PRT",
    "PO": "PRT",
}


def universal(tag: str) -> str:
    """The coarse class of a Penn tag (Petrov et al. 2012): NOUN, VERB, ADJ, ..., X, `.`."""
    if not tag[:1].isalpha():
        return "."
    return _UNIVERSAL.get(tag[:2], "X")


class _Passage(NamedTuple):
    pieces: tuple[str, ...]  # the words, contractions split
    owners: tuple[int, ...]  # for each word the index of its first piece
    context: tuple[str, ...]  # the pieces as features see them, padded by two at each end
    tags: tuple[str, ...]  # of the pieces


@dataclass(frozen=True, eq=False)
class Tagger:
    """Tags words from left to right, each by its neighbours and the two tags before it."""

    weights: npt.NDArray[np.float64]  # (feature, class); the last row is zero, for unseen features
    features: dict[str, int]
    frequent: dict[str, str]  # words with one tag, which are not guessed
    classes: tuple[str, ...]
    _cache: dict[tuple[str, ...], _Passage] = field(default_factory=dict, repr=False)

    def tag(self, words: Sequence[str]) -> tuple[str, ...]:
        """One Penn tag for each word of one passage; remembered for the most recent passages."""
        passage = self._passage(tuple(words))
        return tuple(passage.tags[owner] for owner in passage.owners)

    def tag_swapped(self, words: Sequence[str], position: int, *, by: str) -> str:
        """The tag that another word gets in that place: what `tag` says of the new passage."""
        passage = self._passage(tuple(words))
        at = passage.owners[position]
        ends = (*passage.owners, len(passage.pieces))
        new = _halves(by)
        pieces = (*passage.pieces[:at], *new, *passage.pieces[ends[position + 1] :])
        after = passage.context[ends[position + 1] + 2 :]
        context = (*passage.context[: at + 2], *map(_normal, new), *after)
        # A tag depends on the next two words, so the two tags before may change with this one.
        return self._tags(pieces, context, tags=passage.tags[: max(0, at - 2)], stop=at + 1)[at]

    def _passage(self, words: tuple[str, ...]) -> _Passage:
        found = self._cache.get(words)
        if found is None:
            if len(self._cache) >= 4096:
                self._cache.pop(next(iter(self._cache)))
            split = [_halves(word) for word in words]
            owners = tuple(accumulate(map(len, split[:-1]), initial=0))[: len(words)]
            pieces = tuple(chain.from_iterable(split))
            context = (*_START, *map(_normal, pieces), *_END)
            tags = self._tags(pieces, context, tags=(), stop=len(pieces))
            found = self._cache[words] = _Passage(pieces, owners, context, tuple(tags))
        return found

    def _tags(
        self,
        pieces: tuple[str, ...],
        context: tuple[str, ...],
        *,
        tags: tuple[str, ...],
        stop: int,
    ) -> list[str]:
        """The tags of the first pieces, continued from those already known."""
        known = [*reversed(_START), *tags]
        for i in range(len(tags), stop):
            piece, before = pieces[i], (known[-2], known[-1])
            tag = self._guess(piece, i + 2, context=context, tags=before)
            shouted = piece.isupper() and len(piece) > 1
            if tag in ("NNP", "NNPS") and (shouted or _opens(pieces, i)):
                lower = self._guess(piece.lower(), i + 2, context=context, tags=before)
                tag = tag if lower == "NN" else lower
            known.append(tag)
        return known[2:]

    def _guess(self, word: str, i: int, *, context: tuple[str, ...], tags: tuple[str, str]) -> str:
        known = self.frequent.get(word)
        if known is not None:
            return known
        unseen = len(self.weights) - 1
        rows = [
            self.features.get(f, unseen) for f in _features(word, i, context=context, tags=tags)
        ]
        return self.classes[int(self.weights[rows].sum(axis=0).argmax())]


@lru_cache(maxsize=2)
def load(name: str = "tagger") -> Tagger:
    """The tagger of that asset name, folder or JSON file; loaded once."""
    path = locate(name)
    return read(path / "tagger.json" if path.is_dir() else path)


def read(path: Path) -> Tagger:
    """A tagger from JSON: `weights` (feature to class to weight), `tagdict` and `classes`."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        # A tie goes to the class that sorts last; argmax takes the first, hence the order.
        classes = tuple(sorted(table["classes"], reverse=True))
        column = {name: i for i, name in enumerate(classes)}
        features = {feature: i for i, feature in enumerate(table["weights"])}
        weights = np.zeros((len(features) + 1, len(classes)))
        for feature, row in features.items():
            for name, weight in table["weights"][feature].items():
                weights[row, column[name]] = weight
        return Tagger(weights, features, dict(table["tagdict"]), classes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a tagger: {type(error).__name__}: {error}") from error


def _halves(word: str) -> tuple[str, ...]:
    """A contraction in two, any other word as it is."""
    split = _CLITIC.match(word)
    return split.groups() if split else (word,)


def _opens(pieces: tuple[str, ...], i: int) -> bool:
    """Whether a piece is the first word of a sentence, apart from quotes and brackets."""
    for piece in reversed(pieces[:i]):
        if not _STOPS.isdisjoint(piece):
            return True
        if any(map(str.isalnum, piece)):
            return False
    return True


def _normal(word: str) -> str:
    if "-" in word and not word.startswith("-"):
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[:1].isdigit() else word.lower()


def _features(
    word: str, i: int, *, context: tuple[str, ...], tags: tuple[str, str]
) -> tuple[str, ...]:
    before, last = tags
    return (
        "bias",
        f"i suffix {word[-3:]}",
        f"i pref1 {word[:1]}",
        f"i-1 tag {last}",
        f"i-2 tag {before}",
        f"i tag+i-2 tag {last} {before}",
        f"i word {context[i]}",
        f"i-1 tag+i word {last} {context[i]}",
        f"i-1 word {context[i - 1]}",
        f"i-1 suffix {context[i - 1][-3:]}",
        f"i-2 word {context[i - 2]}",
        f"i+1 word {context[i + 1]}",
        f"i+1 suffix {context[i + 1][-3:]}",
        f"i+2 word {context[i + 2]}",
    )
