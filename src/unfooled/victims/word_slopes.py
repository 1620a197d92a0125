"""What gradients with respect to token vectors say about every swap of a space.

Rows are spelled out here, and words found in them by the tokenizer's character offsets: a gradient
costs so much more than a tokenisation that the short cut of scores is not worth a second proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unfooled.counting import Rows
from unfooled.space import DELETED, Space
from unfooled.text import Text
from unfooled.victims.base import Floats
from unfooled.victims.encoder import Encoded, Encoder
from unfooled.victims.frames import ITEM
from unfooled.victims.pieces import Ids, covering_rows


class Spelled(NamedTuple):
    """Rows as token ids, and in each the tokens of each column's word."""

    encoded: Encoded
    places: list[list[list[int]]]  # row, column -> indices of tokens


def read_spelled(space: Space, rows: Rows, *, encoder: Encoder) -> Spelled:
    """The rows by way of strings, with the tokens of every column; none for words cut off."""
    texts = [space.text(row, unknown=encoder.unknown) for row in rows]
    sources = [text.source for text in texts]
    found = encoder.encodings(sources, offsets=True)
    places = []
    for row, text, encoding in zip(rows.tolist(), texts, found, strict=True):
        gone = sorted(space.positions[c] for c, choice in enumerate(row) if choice == DELETED)
        spans = _spans(text)
        columns: list[list[int]] = []
        for column, choice in enumerate(row):
            position = space.positions[column]
            now = position - sum(p < position for p in gone)
            columns.append([] if choice == DELETED else _inside(encoding, spans[now]))
        places.append(columns)
    return Spelled(encoder.packed(found, sources), places)


def candidate_means(space: Space, look_up: Callable[[Ids], Floats], *, encoder: Encoder) -> Floats:
    """(columns, choices, d): the mean token vector of every choice, as the text spells it.

    `look_up` gives the vectors of token ids. A choice that truncation cuts off has none and counts
    as zero, like its gradient.
    """
    covering = covering_rows(space)
    spelled = read_spelled(space, covering, encoder=encoder)
    means = np.zeros((len(space.counts), max(space.counts, default=0) + 1, 0))
    for row, line, columns in zip(
        covering.tolist(), spelled.encoded.ids, spelled.places, strict=True
    ):
        vectors = look_up(np.frombuffer(line, dtype=np.int64))
        if not means.shape[2]:
            means = np.zeros((*means.shape[:2], vectors.shape[1]))
        for column, choice in enumerate(row):
            if columns[column]:
                means[column, choice] = vectors[columns[column]].mean(axis=0)
    return means


def slopes_by_choice(
    spelled: Spelled,
    slopes: Floats,
    vectors: Floats,
    *,
    means: Floats,
    space: Space,
    pad_left: bool,
) -> Floats:
    """(n, columns, choices): the change of a score that its gradient predicts for every swap.

    `slopes` and `vectors` are (n, tokens, d). A word of several pieces counts with the sum of their
    gradients and the mean of their vectors. Exact where words are single pieces and the model is
    linear in its vectors.
    """
    change = np.zeros((len(slopes), *means.shape[:2]))
    for number, columns in enumerate(spelled.places):
        padding = slopes.shape[1] - len(spelled.encoded.ids[number]) // ITEM
        for column, places in enumerate(columns):
            if places:
                at = np.array(places) + (padding if pad_left else 0)
                pull = slopes[number, at].sum(axis=0)
                step = means[column] - vectors[number, at].mean(axis=0)
                many = space.counts[column] + 1
                change[number, column, :many] = (step @ pull)[:many]
    return change


def _spans(text: Text) -> list[tuple[int, int, int]]:
    """Side, first character and end of every word in the strings of a text."""
    spans = []
    side = 1 if text.editable == "second" else 0
    end = 0
    for position, word in enumerate(text.words):
        gap = text.gaps[position]
        if text.editable == "both" and position == text.split:
            side, end, gap = 1, 0, text.seam
        start = end + len(gap)
        end = start + len(word)
        spans.append((side, start, end))
    return spans


def _inside(encoding: Any, span: tuple[int, int, int]) -> list[int]:
    """The tokens that share a character with a word."""
    side, start, end = span
    return [
        token
        for token, ((first, last), owner) in enumerate(
            zip(encoding.offsets, encoding.sequence_ids, strict=True)
        )
        if owner == side and max(first, start) < min(last, end)
    ]
