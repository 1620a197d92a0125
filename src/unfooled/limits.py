"""Limits: what every attack has to keep to, whatever it searches by."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from unfooled.candidates import narrowed
from unfooled.choosing import Reference
from unfooled.constraints import Closeness
from unfooled.errors import InputError
from unfooled.similarity import Metric, as_cosine
from unfooled.space import Dropped, Space
from unfooled.subspaces import first_candidates
from unfooled.text import Text
from unfooled.work import Candidates

VECTORS: Final = "glove-50-counter-fitted"


@dataclass(frozen=True)
class Limits:
    """What every attack has to keep to.

    `max_queries` is a number, or "50x" for 50 queries per word of the text, "KxL" for `max_candidates`
    per word. `min_similarity` is the
    least similarity to the original text by the sentence encoder `encoder`, as a cosine or angular;
    with a `window`, of so many words around each swapped one. With `reference` "previous" it holds at
    every step, against the text before it, in attacks that have a rule for their steps: it is then that
    rule, by which texts with fewer words than the window are not compared. `min_word_cosine` is the least cosine
    between a word and its candidate by the vectors `word_vectors`; a word without a vector has no
    candidates then.
    """

    max_rate: float | None = None  # share of the words of a text that may be swapped
    max_swaps: int | None = None
    max_queries: int | str | None = None
    target: int | None = None
    max_candidates: int | None = None  # only the first so many of each word
    min_similarity: float | None = None
    similarity: Metric = "cosine"
    encoder: str = "minilm"
    window: int | None = None
    reference: Reference = "original"
    min_word_cosine: float | None = None
    word_vectors: str = VECTORS

    def __post_init__(self) -> None:
        if self.max_rate is not None and not 0 <= self.max_rate <= 1:
            raise InputError(f"max_rate is a share of the words from 0 to 1, not {self.max_rate}")
        if self.max_swaps is not None and self.max_swaps < 0:
            raise InputError(f"max_swaps is 0 or more, not {self.max_swaps}")
        for name in ("max_candidates", "window"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise InputError(f"{name} is 1 or more, not {getattr(self, name)}")
        if self.reference not in ("original", "previous"):
            raise InputError(f"reference is original or previous, not {self.reference!r}")
        if self.min_word_cosine is not None and not -1 <= self.min_word_cosine <= 1:
            raise InputError(f"min_word_cosine is from -1 to 1, not {self.min_word_cosine}")
        as_cosine(1.0 if self.min_similarity is None else self.min_similarity, self.similarity)
        how = (self.window, self.similarity, self.reference)
        if self.min_similarity is None and how != (None, "cosine", "original"):
            raise InputError(
                "window, similarity and reference say how min_similarity compares, which is not given: "
                "give it too, such as min_similarity 0.9"
            )
        if self.min_word_cosine is None and self.word_vectors != VECTORS:
            raise InputError(
                f"word_vectors {self.word_vectors} are for min_word_cosine, which is not given: give it "
                "too, such as min_word_cosine 0.5"
            )
        _queries(self.max_queries, each=self.max_candidates)

    def swaps(self, text: Text) -> int | None:
        """The most swaps in a text: floor(rate x words), or the given number if that is less."""
        most = [] if self.max_swaps is None else [self.max_swaps]
        if self.max_rate is not None:
            most.append(math.floor(self.max_rate * len(text) + 1e-9))  # 0.29 x 100 is 28.999...
        return min(most, default=None)

    def queries(self, text: Text) -> int | None:
        """The most queries for a text: the number, or so many per word of it and at least one."""
        found = _queries(self.max_queries, each=self.max_candidates)
        if found is None or not found.per_word:
            return None if found is None else found.number
        return max(1, found.number * len(text))

    @property
    def closeness(self) -> Closeness | None:
        """The similarity to the original asked for; None: none, or the attack sees to it step by step."""
        if self.min_similarity is None or self.reference == "previous":
            return None
        return Closeness(as_cosine(self.min_similarity, self.similarity), self.window)

    def cut(self, space: Space) -> Space:
        """The space with no more candidates of a word than are allowed."""
        return (
            space if self.max_candidates is None else first_candidates(space, self.max_candidates)
        )

    def near(self, candidates: Candidates) -> Candidates:
        """The candidates near enough to the original word; ready spaces lose the others."""
        if self.min_word_cosine is None:
            return candidates
        if isinstance(candidates, Sequence) and not isinstance(candidates, str):
            return [self._near(s) if isinstance(s, Space) else s for s in candidates]
        near = {"min": self.min_word_cosine, "vectors": self.word_vectors}
        return narrowed(candidates, "similarity", **near)

    def _near(self, space: Space) -> Space:
        """A ready space without the candidates that are too far from the word."""
        given = dict(zip(space.positions, space.candidates, strict=True))
        near = {"min": self.min_word_cosine, "vectors": self.word_vectors}
        rows = narrowed(lambda text: given, "similarity", **near).rows(space.original)
        found = Space(space.original, {row.position: row.kept for row in rows if row.kept})
        gone = [
            Dropped(r.position, c.word, c.rejected)
            for r in rows
            for c in r.candidates
            if c.rejected
        ]
        found.dropped = (*space.dropped, *gone)
        return found

    def config(self) -> dict[str, Any]:
        """The limits as JSON values; those of similarity and candidates only where they are set."""
        found = asdict(self)
        beyond = ["similarity", "encoder", "window", "reference", "min_similarity"]
        unset = beyond if self.min_similarity is None else []
        unset += ["max_candidates"] if self.max_candidates is None else []
        unset += ["min_word_cosine", "word_vectors"] if self.min_word_cosine is None else []
        return {key: value for key, value in found.items() if key not in unset}


class _Queries(NamedTuple):
    """A number of queries, in all or for each word."""

    number: int
    per_word: bool


def _queries(asked: int | str | None, *, each: int | None) -> _Queries | None:
    if asked is None:
        return None
    if str(asked).lower() == "kxl":
        if each is None:
            raise InputError(
                "max_queries KxL is max_candidates for each word, which is not given: give it too, or "
                "such as 50x"
            )
        return _Queries(each, per_word=True)
    match = re.fullmatch(r"(\d+)(?:(x)[lL]?)?", str(asked))
    if match is None or int(match[1]) < 1:
        raise InputError(
            f"max_queries is 1 or more, or such as 50x for 50 queries per word, or KxL, not {asked}"
        )
    return _Queries(int(match[1]), match[2] is not None)
