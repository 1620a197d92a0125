"""The nearest words in a space of word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from unfooled.candidates._source import Candidate, Row, Source, at_least
from unfooled.errors import InputError
from unfooled.lexicon import stopwords, vectors
from unfooled.lexicon.stopwords import is_stop
from unfooled.lexicon.vectors import Metric, Neighbour
from unfooled.text import Text, is_word


@dataclass(frozen=True)
class Embedding(Source):
    """The k nearest neighbours of a word by cosine or distance (Alzantot et al. 2018).

    Differs from the paper: any vectors, by default GloVe, whose neighbours include antonyms;
    `vectors=glove-50-counter-fitted`, or the filter `antonyms`, keeps those out. The paper's limit
    of 0.5 is on the square: `metric=euclidean,max_distance=0.7071`. Rows show the similarity by
    cosine, or the distance when the metric is Euclidean.
    """

    k: int = 8
    metric: Metric = "cosine"
    min_similarity: float = 0.0  # least cosine
    max_distance: float | None = None  # greatest Euclidean distance, not squared
    vocabulary: int | None = 50_000  # look among so many most frequent words: the tail is noise
    stopwords: str | None = "stopwords"  # words to leave alone: an asset, a file, or none
    vectors: str = "glove-50"

    def __post_init__(self) -> None:
        at_least(self.k, 1, option="k")
        at_least(self.vocabulary, 1, option="vocabulary")
        if self.max_distance is not None and self.metric != "euclidean":
            raise InputError("max_distance needs metric=euclidean; for cosine use min_similarity")

    def rows(self, text: Text) -> list[Row]:
        lower = [word.lower() for word in text.words]
        reasons = [self._closed(word) for word in lower]
        new = dict.fromkeys(
            w for w, r in zip(lower, reasons, strict=True) if not r and w not in self._found
        )
        # More than k are fetched, because digits, stop words and the like among them are dropped.
        nearest = vectors.load(self.vectors).nearest(
            tuple(new), 4 * self.k + 16, metric=self.metric, limit=self.vocabulary
        )
        for word, neighbours in zip(new, nearest, strict=True):
            self._found[word] = self._judged(neighbours)
        return [
            Row(position, text.words[position], "", () if reason else self._found[word], reason)
            for position, (word, reason) in enumerate(zip(lower, reasons, strict=True))
        ]

    def resources(self) -> dict[str, str]:
        used = {"vectors": self.vectors}
        return used | ({"stopwords": self.stopwords} if self.stopwords else {})

    def _closed(self, word: str) -> str:
        if not is_word(word):
            return "punctuation"
        if is_stop(word, self._stop):
            return "stop word"
        return "" if word in vectors.load(self.vectors) else "no vector"

    def _judged(self, neighbours: tuple[Neighbour, ...]) -> tuple[Candidate, ...]:
        judged = [Candidate(n.word, n.value, self._reason(n)) for n in neighbours]
        kept = [c for c in judged if not c.rejected]
        late = [
            Candidate(c.word, c.similarity, f"not among the best {self.k}") for c in kept[self.k :]
        ]
        return (*kept[: self.k], *late, *(c for c in judged if c.rejected))

    def _reason(self, neighbour: Neighbour) -> str:
        word, value = neighbour
        if not word[0].isalpha() or any(map(str.isdigit, word)):
            return "not a plain word"
        if is_stop(word, self._stop):
            return "stop word"
        if self.metric == "cosine" and value < self.min_similarity:
            return f"similarity below {self.min_similarity:g}"
        if self.max_distance is not None and value > self.max_distance:
            return f"distance above {self.max_distance:g}"
        return ""

    @cached_property
    def _stop(self) -> frozenset[str]:
        return stopwords.load(self.stopwords) if self.stopwords else frozenset()

    @cached_property
    def _found(self) -> dict[str, tuple[Candidate, ...]]:
        return {}


SOURCE = Embedding
