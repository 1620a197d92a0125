"""WordNet synonyms in the form and part of speech of the word, ranked by cosine: the default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from unfooled.candidates._source import Row, Source, at_least
from unfooled.candidates._thesaurus import Recipe
from unfooled.lexicon import stopwords, tagger, vectors, wordnet
from unfooled.text import Text


@dataclass(frozen=True)
class WordNet(Source):
    """Synonyms of the word's part of speech in context, the k nearest by word vector.

    The recipe of the PDP paper (Yang et al. 2022, Settings). Differs from the paper: WordNet in
    HowNet's place; 50-dimensional GloVe; stop words, auxiliaries and proper names keep their place;
    a candidate takes the inflected form of the word that it replaces.
    """

    k: int = 5
    same_pos: bool = True  # only senses of the part of speech that the word has in its sentence
    rank: Literal["cosine", "sense"] = "cosine"  # sense: WordNet's order, without vectors
    min_similarity: float = -1.0
    stopwords: str | None = "stopwords"  # words to leave alone: an asset, a file, or none
    names: bool = False  # whether proper names get candidates
    phrases: bool = False  # whether a candidate may have several words
    vectors: str = "glove-50"
    wordnet: str = "wordnet"
    tagger: str = "tagger"

    def __post_init__(self) -> None:
        at_least(self.k, 1, option="k")

    def rows(self, text: Text) -> list[Row]:
        return self._recipe.rows(text)

    def resources(self) -> dict[str, str]:
        used = {"wordnet": self.wordnet, "tagger": self.tagger}
        if self.rank == "cosine":
            used["vectors"] = self.vectors
        return used | ({"stopwords": self.stopwords} if self.stopwords else {})

    @cached_property
    def _recipe(self) -> Recipe:
        database = wordnet.load(self.wordnet)
        return Recipe(
            thesaurus=database,
            wordnet=database,
            tagger=tagger.load(self.tagger),
            vectors=vectors.load(self.vectors) if self.rank == "cosine" else None,
            stop=stopwords.load(self.stopwords) if self.stopwords else frozenset(),
            k=self.k,
            min_similarity=self.min_similarity,
            same_pos=self.same_pos,
            names=self.names,
            phrases=self.phrases,
        )


SOURCE = WordNet
