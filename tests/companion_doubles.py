"""Tiny encoders and masked language models with known answers and known faults."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from unfooled.companions import Floats, Proposal, Request
from unfooled.errors import OutOfMemory
from unfooled.space import Space
from unfooled.text import Text
from unfooled.victims.base import Strings

WIDTH = 6


def word_vector(word: str) -> Floats:
    """A vector of the word alone, the same on every machine."""
    digest = hashlib.sha256(word.encode()).digest()
    return np.frombuffer(digest[:WIDTH], dtype=np.uint8).astype(np.float64) - 100.0


def vector_of(text: str) -> Floats:
    """The sum of the word vectors, with a trace of their order."""
    words = Text.parse(text).words
    return sum((i + 3) * word_vector(w) for i, w in enumerate(words)) + np.zeros(WIDTH)


def similarity_of(one: str, two: str) -> float:
    """The cosine by the definition."""
    a, b = vector_of(one), vector_of(two)
    sizes = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / sizes) if sizes else 0.0


class WordEncoder:
    """Encodes by `vector_of`, and remembers the texts of each call.

    `faults`: word -> raise, nan, shape. `noise`: the last digits differ with every call of more
    than one text, as batches do. `limit`: texts that fit into memory.
    """

    name = "words"
    fingerprint = "words:1"

    def __init__(
        self,
        *,
        batch_rows: int = 32,
        faults: dict[str, str] | None = None,
        noise: float = 0.0,
        limit: int | None = None,
    ) -> None:
        self.batch_rows, self.faults, self.noise, self.limit = (
            batch_rows,
            faults or {},
            noise,
            limit,
        )
        self.calls: list[list[str]] = []
        self._rng = np.random.default_rng()

    @property
    def encoded(self) -> int:
        return sum(map(len, self.calls))

    def encode(self, texts: Sequence[str]) -> Any:
        if self.limit is not None and len(texts) > self.limit:
            raise OutOfMemory(f"{len(texts)} texts do not fit")
        self.calls.append(list(texts))
        found = np.array([vector_of(t) for t in texts]).reshape(len(texts), WIDTH)
        if len(texts) > 1:
            found = found * (1 + self._rng.uniform(-self.noise, self.noise, found.shape))
        for i, text in enumerate(texts):
            for word in Text.parse(text).words:
                if self.faults.get(word) == "raise":
                    raise RuntimeError("a word without a meaning")
                if self.faults.get(word) == "nan":
                    found[i, 0] = np.nan
                if self.faults.get(word) == "shape":
                    return found[:, 0]
        return found


class RowEncoder(WordEncoder):
    """The same vectors by rows; it counts the spaces that were prepared."""

    prepared = 0

    def prepare(self, space: Space) -> Strings:
        self.prepared += 1
        return Strings(space)

    def encode_rows(self, parts: Sequence[tuple[Strings, Any]]) -> Any:
        return self.encode([str(s) for p, rows in parts for s in p.space.sources(rows)])


class Echo:
    """Proposes the word at the position with a number: `film0`, `film1`, ...; masked, `?0`, ..."""

    name = "echo"

    def __init__(
        self, *, batch_rows: int = 32, broken: str | None = None, limit: int | None = None
    ) -> None:
        self.batch_rows, self.broken, self.limit = batch_rows, broken, limit
        self.calls: list[int] = []

    def propose(self, requests: Sequence[Request]) -> list[list[Proposal]]:
        if self.limit is not None and len(requests) > self.limit:
            raise OutOfMemory(f"{len(requests)} requests do not fit")
        self.calls.append(len(requests))
        if any(self.broken in request.text.words for request in requests):
            raise RuntimeError("lost for words")
        return [self._one(request) for request in requests]

    def _one(self, request: Request) -> list[Proposal]:
        word = "?" if request.masked else request.text.words[request.position]
        return [Proposal(f"{word}{i}", -float(i)) for i in range(request.k)]
