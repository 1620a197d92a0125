"""A filter by the similarity of sentences in which only one word is swapped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module

import numpy as np

from unfooled.candidates._combined import Filter
from unfooled.candidates._source import Row, Source
from unfooled.companions import Encodes
from unfooled.errors import InputError
from unfooled.similarity import cosine
from unfooled.text import Text


@dataclass(frozen=True)
class SimilarSentence(Filter):
    """Only candidates with which the text, nothing else swapped, keeps that sentence similarity.

    The cosine of sentence vectors, decided once for each candidate (ILP paper, appendix A). Of a pair
    the editable side is compared.
    """

    source: Source
    min: float = 0.8
    encoder: str = "use"  # or minilm, or the folder of a Hugging Face encoder

    def __post_init__(self) -> None:
        if not -1 <= self.min <= 1:
            raise InputError(f"min is a cosine from -1 to 1, not {self.min}")

    def rows(self, text: Text) -> list[Row]:
        rows = self.source.rows(text)
        asked = [
            (row.position, index, candidate.word)
            for row in rows
            for index, candidate in enumerate(row.candidates)
            if not candidate.rejected
        ]
        if not asked:
            return rows
        strings = [_swapped(text, position, word) for position, _, word in asked]
        original = str(Text(text.words, text.gaps))
        vectors = _vectors(_loaded(self.encoder), [original, *strings])
        found = cosine(vectors[1:], vectors[0])
        near = {(p, i): float(c) for (p, i, _), c in zip(asked, found, strict=True)}
        return [self._judged(row, near) for row in rows]

    def _judged(self, row: Row, near: dict[tuple[int, int], float]) -> Row:
        judged = [
            replace(c, rejected=f"sentence similarity below {self.min:g}")
            if near.get((row.position, i), self.min) < self.min
            else c
            for i, c in enumerate(row.candidates)
        ]
        return replace(row, candidates=tuple(sorted(judged, key=lambda c: bool(c.rejected))))

    def resources(self) -> dict[str, str]:
        return {"encoder": self.encoder}


def _swapped(text: Text, position: int, word: str) -> str:
    words = list(text.words)
    words[position] = word
    return str(Text(tuple(words), text.gaps))


def _vectors(encoder: Encodes, texts: list[str]) -> np.ndarray:
    parts = [
        encoder.encode(texts[start : start + encoder.batch_rows])
        for start in range(0, len(texts), encoder.batch_rows)
    ]
    return np.concatenate(parts)


@lru_cache(maxsize=2)
def _loaded(name: str) -> Encodes:
    # Encoders lie in a layer above, because some of them share the tables of victims.
    found: Encodes = import_module("unfooled.encoders").load_encoder(name)
    return found
