"""Admission: which of the candidates that are offered for a text are taken, and why others are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unfooled.errors import InputError
from unfooled.text import Text, match_case

_MOST = np.iinfo(np.int16).max  # rows hold numbers of candidates in that type


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not in the space, and why."""

    position: int
    candidate: str
    reason: str


class Admitted(NamedTuple):
    """The candidates of each position that has any, by position, and those that were dropped."""

    kept: dict[int, tuple[str, ...]]
    dropped: tuple[Dropped, ...]


def admitted(text: Text, offered: Mapping[int, Iterable[str]]) -> Admitted:
    """What is taken of the candidates offered for a text, in the case pattern of its words."""
    check_positions(text, offered)
    kept: dict[int, tuple[str, ...]] = {}
    dropped: list[Dropped] = []
    for position in sorted(offered):
        taken = _taken(text.words[position], offered[position], position, dropped)
        if taken:
            kept[int(position)] = taken
    return Admitted(kept, tuple(dropped))


def check_positions(text: Text, offered: Mapping[int, Iterable[str]]) -> None:
    """Refuses candidates for a word that the text does not have, and a string in the place of a list."""
    for position, candidates in offered.items():
        if not 0 <= position < len(text):
            raise InputError(
                f"position {position} has candidates, but the text has positions 0 to {len(text) - 1}: "
                f"{str(text)!r:.80}"
            )
        if isinstance(candidates, str):
            raise InputError(
                f"the candidates at position {position} are one string, not a list of them"
            )


def _taken(
    word: str, candidates: Iterable[str], position: int, dropped: list[Dropped]
) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for candidate in candidates:
        if not isinstance(candidate, str):
            raise InputError(f"candidate {candidate!r} at position {position} is not a string")
        cased = match_case(candidate, word)
        if not cased.strip():
            dropped.append(Dropped(position, candidate, "empty"))
        elif cased == word:
            dropped.append(Dropped(position, candidate, "the original word"))
        elif cased in kept:
            dropped.append(Dropped(position, candidate, "a duplicate"))
        elif len(kept) == _MOST:
            dropped.append(Dropped(position, candidate, f"more than {_MOST} candidates"))
        else:
            kept[cased] = None
    return tuple(kept)
