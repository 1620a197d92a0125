"""Words made of the same sememes (HowNet style), in the form of the word, ranked by cosine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from unfooled.candidates._source import Row, Source, at_least
from unfooled.candidates._thesaurus import Recipe
from unfooled.lexicon import sememes, stopwords, tagger, vectors, wordnet
from unfooled.text import Text


@dataclass(frozen=True)
class Sememes(Source):
    """Words of the same part of speech with exactly its sememes in some sense (Zang 2020).

    The recipe of the PDP paper with a table of the reader's own. Differs from the paper: the
    inflected forms come from WordNet's lists.
    """

    file: str  # JSON: word to {pos: [[sememe, ...], ...]}
    k: int = 5
    rank: Literal["cosine", "table"] = "cosine"  # table: alphabetical, without vectors
    min_similarity: float = -1.0
    stopwords: str | None = "stopwords"
    names: bool = False
    phrases: bool = False
    vectors: str = "glove-50"
    wordnet: str = "wordnet"
    tagger: str = "tagger"

    def __post_init__(self) -> None:
        at_least(self.k, 1, option="k")

    def rows(self, text: Text) -> list[Row]:
        return self._recipe.rows(text)

    def resources(self) -> dict[str, str]:
        used = {"file": self.file, "wordnet": self.wordnet, "tagger": self.tagger}
        if self.rank == "cosine":
            used["vectors"] = self.vectors
        return used | ({"stopwords": self.stopwords} if self.stopwords else {})

    @cached_property
    def _recipe(self) -> Recipe:
        return Recipe(
            thesaurus=sememes.load(self.file),
            wordnet=wordnet.load(self.wordnet),
            tagger=tagger.load(self.tagger),
            vectors=vectors.load(self.vectors) if self.rank == "cosine" else None,
            stop=stopwords.load(self.stopwords) if self.stopwords else frozenset(),
            k=self.k,
            min_similarity=self.min_similarity,
            same_pos=True,
            names=self.names,
            phrases=self.phrases,
        )


SOURCE = Sememes
