"""Companions: models that a search consults beside the victim, and what they promise.

An encoder turns texts into sentence vectors, a masked language model proposes words. The engine
asks them for many texts at once; their calls are neither queries nor forwards of the victim.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows
from unfooled.space import Space
from unfooled.text import Text

Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Request:
    """At most `k` words for one position of a text, which the model sees masked or as it is."""

    text: Text
    position: int  # counts the editable words, as everywhere
    k: int
    masked: bool = True


@dataclass(frozen=True, slots=True)
class Proposal:
    """A word and how well it fits: a log-probability or a logit, higher is better."""

    word: str
    score: float


@runtime_checkable
class Proposes(Protocol):
    """A masked language model: a batch of requests in, the proposals of each out, best first."""

    name: str
    batch_rows: int  # the most requests in one call

    @abstractmethod
    def propose(self, requests: Sequence[Request]) -> list[list[Proposal]]:
        """At most k proposals for each request, best first, in the order of the requests."""


@runtime_checkable
class Encodes(Protocol):
    """A sentence encoder: a batch of strings in, an array of sentence vectors out."""

    name: str
    batch_rows: int  # the most texts in one call

    @property
    def fingerprint(self) -> str | None:
        """A hash of the weights or files; None: known only by its answers."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Floats:
        """(n, d) vectors of n strings."""


@runtime_checkable
class EncodesRows(Encodes, Protocol):
    """An encoder with a faster way from the rows of a space to the same vectors."""

    @abstractmethod
    def prepare(self, space: Space) -> Any:
        """The space in the encoder's own form."""

    @abstractmethod
    def encode_rows(self, parts: Sequence[tuple[Any, Rows]]) -> Floats:
        """(total rows, d) vectors of the rows of all parts, each (what prepare gave, rows)."""
