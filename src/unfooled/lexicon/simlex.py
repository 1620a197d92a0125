"""How well cosines of word vectors agree with people: Spearman's correlation on SimLex-999."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from unfooled.errors import InputError
from unfooled.lexicon.constraints import text_of
from unfooled.lexicon.vectors import Vectors


class Rated(NamedTuple):
    """Two words and how similar people find them."""

    one: str
    other: str
    rating: float


class Agreement(NamedTuple):
    """Spearman's rank correlation with the ratings, and on how many pairs of how many."""

    correlation: float
    pairs: int
    of: int


def read(path: Path) -> list[Rated]:
    """The pairs of the published file (Hill et al. 2015), plain or compressed by gzip."""
    head, *lines = text_of(path).rstrip("\n").split("\n")
    columns = head.rstrip("\r").split("\t")
    try:
        places = [columns.index(name) for name in ("word1", "word2", "SimLex999")]
    except ValueError:
        raise InputError(
            f"{path} is not SimLex-999: its first line must name the columns word1, word2 and "
            f"SimLex999, separated by tabs, not {head!r:.60}"
        ) from None
    rated = []
    for number, line in enumerate(lines, start=2):
        try:
            fields = line.rstrip("\r").split("\t")
            one, other, rating = (fields[place] for place in places)
            rated.append(Rated(one.lower(), other.lower(), float(rating)))
        except (IndexError, ValueError):
            raise InputError(
                f"{path} line {number} must be two words and a rating, not {line!r:.60}"
            ) from None
    return rated


def agreement(vectors: Vectors, rated: list[Rated]) -> Agreement:
    """The correlation of cosines with ratings over the pairs that both have vectors."""
    from scipy.stats import spearmanr

    both = [(vectors.cosine(r.one, r.other), r.rating) for r in rated]
    known = [(cosine, rating) for cosine, rating in both if cosine is not None]
    if len(known) < 2:
        raise InputError(f"only {len(known)} of {len(rated)} rated pairs have vectors")
    cosines, ratings = zip(*known, strict=True)
    return Agreement(float(spearmanr(cosines, ratings).statistic), len(known), len(rated))
