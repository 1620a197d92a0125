"""Keys: the names of pieces of work, from which randomness and shards are derived."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unfooled.canonical import digest
from unfooled.errors import InputError
from unfooled.text import Example


def record_key(*, example: str, method: str, options: Mapping[str, Any], victim: str) -> str:
    """The name of one piece of work, 24 hex digits: the same on every machine and in any order."""
    work = {"example": example, "method": method, "options": options, "victim": victim}
    return digest(work, "record key")[:24]


def named(example: Example) -> str:
    """What tells one example from another: its id, label and text."""
    return f"{example.id}\n{example.label}\n{example.text.source}\n{example.text.editable}"


def rng_for(seed: int, key: str) -> np.random.Generator:
    """A generator that depends on the seed and the record's key alone, never on order."""
    entropy = int(digest(["rng", operator.index(seed), key]), 16)
    return np.random.Generator(np.random.PCG64(entropy))


def by_id(id: str) -> list[tuple[int, str]]:
    """What sorts the ids of examples as people count: test:9 before test:10."""
    parts = re.split(r"(\d+)", id)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


@dataclass(frozen=True)
class Shard:
    """Part `index` of `count`, counted from 1: takes its share of the keys and no other's.

    >>> Shard.parse("2/8")
    Shard(index=2, count=8)
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise InputError(f"a shard is i/n with 1 <= i <= n, such as 2/8, not {self}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that "i/n" names."""
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip())
        if not match:
            raise InputError(f"a shard is i/n with 1 <= i <= n, such as 2/8, not {text!r:.40}")
        return cls(int(match[1]), int(match[2]))

    def takes(self, key: str) -> bool:
        """Whether the record with this key is this shard's work."""
        return int(digest(["shard", key])[:16], 16) % self.count == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"
