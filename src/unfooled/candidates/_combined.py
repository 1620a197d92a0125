"""Sources made of sources: union, intersection, and filters that reject some candidates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from unfooled.candidates._source import Candidate, Row, Source, passages
from unfooled.lexicon import stopwords, tagger, vectors, wordnet
from unfooled.lexicon.stopwords import is_stop
from unfooled.lexicon.tagger import universal
from unfooled.lexicon.wordnet import Pos
from unfooled.text import Text

_POS: tuple[Pos, ...] = ("n", "v", "a", "r")


@dataclass(frozen=True)
class Union(Source):
    """The candidates of the first source, then what the second adds."""

    first: Source
    second: Source

    def rows(self, text: Text) -> list[Row]:
        pairs = zip(self.first.rows(text), self.second.rows(text), strict=True)
        return [_joined(one, other) for one, other in pairs]

    def positions(self, text: Text) -> tuple[int, ...]:
        return tuple(sorted({*self.first.positions(text), *self.second.positions(text)}))

    def keep(self, text: Text, position: int, words: Sequence[str]) -> tuple[str, ...]:
        either = {w for s in (self.first, self.second) for w in s.keep(text, position, words)}
        return tuple(word for word in words if word in either)


@dataclass(frozen=True)
class Intersection(Source):
    """The candidates of the first source that the second has too."""

    first: Source
    second: Source

    def rows(self, text: Text) -> list[Row]:
        rows = []
        for one, other in zip(self.first.rows(text), self.second.rows(text), strict=True):
            common = frozenset(word.lower() for word in other.kept)
            why = "not in the other source" + ("" if other.kept else _none(other))
            rows.append(_rejecting(one, partial(_absent, common, why=why)))
        return rows

    def positions(self, text: Text) -> tuple[int, ...]:
        both = {*self.first.positions(text)} & {*self.second.positions(text)}
        return tuple(sorted(both))

    def keep(self, text: Text, position: int, words: Sequence[str]) -> tuple[str, ...]:
        return self.second.keep(text, position, self.first.keep(text, position, words))


@dataclass(frozen=True)
class _Proposed(Source):
    """Some words at one position, in the place of a source."""

    position: int
    words: tuple[str, ...]

    def rows(self, text: Text) -> list[Row]:
        rows = [Row(i, word) for i, word in enumerate(text.words)]
        judged = tuple(map(Candidate, self.words))
        rows[self.position] = replace(rows[self.position], candidates=judged)
        return rows


class Filter(Source):
    """A source that rejects some candidates of another, its first field `source`."""

    source: Source

    @abstractmethod
    def rows(self, text: Text) -> list[Row]: ...

    def positions(self, text: Text) -> tuple[int, ...]:
        return self.source.positions(text)

    def keep(self, text: Text, position: int, words: Sequence[str]) -> tuple[str, ...]:
        proposed = _Proposed(position, self.source.keep(text, position, words))
        filtered: Source = replace(cast("Any", self), source=proposed)
        return filtered.rows(text)[position].kept


@dataclass(frozen=True)
class SamePos(Filter):
    """Only candidates that the tagger gives the coarse tag of the original in its sentence.

    TextFooler (Jin et al. 2020) lets nouns and verbs stand for each other: `noun_verb=true`. Differs
    from its code: a candidate is tagged in the whole sentence, not in a window of nine words.
    With `noun_to_adjective` a noun may also become an adjective (La Malfa et al. 2020, section 2.2).
    """

    source: Source
    noun_verb: bool = False  # whether a noun may stand for a verb and a verb for a noun
    tagger: str = "tagger"
    noun_to_adjective: bool = False

    def rows(self, text: Text) -> list[Row]:
        rows = self.source.rows(text)
        for start, words in passages(text):
            for i, tag in enumerate(tagger.load(self.tagger).tag(words)):
                reason = partial(self._reason, words=words, position=i, tag=tag)
                rows[start + i] = _rejecting(replace(rows[start + i], tag=tag), reason)
        return rows

    def _reason(
        self, candidate: Candidate, *, words: tuple[str, ...], position: int, tag: str
    ) -> str:
        head = candidate.word.partition(" ")[0]
        new = tagger.load(self.tagger).tag_swapped(words, position, by=head)
        was, now = universal(tag), universal(new)
        swapped = self.noun_verb and {was, now} == {"NOUN", "VERB"}
        turned = self.noun_to_adjective and (was, now) == ("NOUN", "ADJ")
        return "" if now == was or swapped or turned else f"tagged {new}, not {tag}"

    def resources(self) -> dict[str, str]:
        return {"tagger": self.tagger}


@dataclass(frozen=True)
class NoStopWords(Filter):
    """No candidates for stop words, and no stop words as candidates."""

    source: Source
    stopwords: str = "stopwords"

    def rows(self, text: Text) -> list[Row]:
        stop = stopwords.load(self.stopwords)
        return [
            replace(row, candidates=(), reason="stop word")
            if is_stop(row.word, stop)
            else _rejecting(row, lambda c: "stop word" if is_stop(c.word, stop) else "")
            for row in self.source.rows(text)
        ]

    def positions(self, text: Text) -> tuple[int, ...]:
        stop = stopwords.load(self.stopwords)
        return tuple(i for i in self.source.positions(text) if not is_stop(text.words[i], stop))

    def resources(self) -> dict[str, str]:
        return {"stopwords": self.stopwords}


@dataclass(frozen=True)
class Similar(Filter):
    """Only candidates whose vector has at least that cosine with the original's."""

    source: Source
    min: float = 0.5
    vectors: str = "glove-50"

    def rows(self, text: Text) -> list[Row]:
        return [self._filtered(row) for row in self.source.rows(text)]

    def _filtered(self, row: Row) -> Row:
        compare, word = vectors.load(self.vectors).cosine, row.word.lower()
        rated = (replace(c, similarity=compare(word, c.word.lower())) for c in row.candidates)
        return _rejecting(replace(row, candidates=tuple(rated)), self._reason)

    def _reason(self, candidate: Candidate) -> str:
        if candidate.similarity is None:
            return "no vector"
        return "" if candidate.similarity >= self.min else f"similarity below {self.min:g}"

    def resources(self) -> dict[str, str]:
        return {"vectors": self.vectors}


@dataclass(frozen=True)
class NoAntonyms(Filter):
    """No candidates that WordNet marks as opposites of the original, in any part of speech."""

    source: Source
    wordnet: str = "wordnet"

    def rows(self, text: Text) -> list[Row]:
        return [
            _rejecting(row, partial(self._reason, self._opposites(row.word.lower())))
            for row in self.source.rows(text)
        ]

    def _reason(self, opposites: frozenset[str], candidate: Candidate) -> str:
        if not opposites:
            return ""
        lemmas = self._lemmas(candidate.word.lower())
        return "antonym" if any(lemma in opposites for lemma, _ in lemmas) else ""

    def _opposites(self, word: str) -> frozenset[str]:
        antonyms = wordnet.load(self.wordnet).antonyms
        return frozenset(
            other.lower() for lemma, pos in self._lemmas(word) for other in antonyms(lemma, pos)
        )

    def _lemmas(self, word: str) -> list[tuple[str, Pos]]:
        database = wordnet.load(self.wordnet)
        return [(lemma, pos) for pos in _POS for lemma in database.lemmas(word, pos)]

    def resources(self) -> dict[str, str]:
        return {"wordnet": self.wordnet}


def _absent(common: frozenset[str], candidate: Candidate, *, why: str) -> str:
    return "" if candidate.word.lower() in common else why


def _none(row: Row) -> str:
    return f" ({row.reason or 'it has none here'})"


def _rejecting(row: Row, reason: Callable[[Candidate], str]) -> Row:
    """The row with more candidates rejected; those kept stay first."""
    judged = [c if c.rejected else replace(c, rejected=reason(c)) for c in row.candidates]
    return replace(row, candidates=tuple(sorted(judged, key=lambda c: bool(c.rejected))))


def _joined(one: Row, other: Row) -> Row:
    kept = {
        c.word.lower(): c for c in reversed((*one.candidates, *other.candidates)) if not c.rejected
    }
    order = dict.fromkeys(word.lower() for word in (*one.kept, *other.kept))
    rejected = {c.word.lower(): c for c in (*one.candidates, *other.candidates) if c.rejected}
    candidates = [kept[w] for w in order] + [c for w, c in rejected.items() if w not in order]
    reasons = dict.fromkeys(r for r in (one.reason, other.reason) if r)
    reason = "" if candidates else "; ".join(reasons)
    return replace(one, tag=one.tag or other.tag, candidates=tuple(candidates), reason=reason)
