"""Special tokens and truncation, against the tokenizers library itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unfooled.victims.frames import ITEM, Frame, frame, kept, pack


def numbers(row: bytes) -> list[int]:
    return np.frombuffer(row, dtype=np.int64).tolist()


def one_by_one(lengths: list[int], room: int) -> list[int]:
    """The textbook definition: take a token from the longer side until it fits."""
    lengths = list(lengths)
    while sum(lengths) > room:
        longer = max(range(len(lengths)), key=lambda i: lengths[i])
        lengths[longer] -= 1
    return lengths


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 30))
def test_kept_takes_from_the_longer_side(first: int, second: int, room: int) -> None:
    found, slow = kept([first, second], room), one_by_one([first, second], room)
    assert sum(found) == min(room, first + second)
    # Only who gets the odd token of an even split is a convention of the library.
    assert all(abs(a - b) <= 1 for a, b in zip(found, slow, strict=True))
    assert kept([first], room) == one_by_one([first], room)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["uncased", "bytes", "metaspace"]),
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(5, 16),
    st.sampled_from(["left", "right"]),
)
def test_pairs_are_cut_as_the_library_cuts(
    tokenizer: Any, family: str, first: int, second: int, limit: int, side: str
) -> None:
    backend = tokenizer(family).backend_tokenizer
    made = frame(backend, pair=True, limit=limit, keep_end=side == "left")
    one, two = " ".join(["film"] * first), " ".join(["never give"] * second)
    backend.no_truncation()
    sides = [pack(backend.encode(s, add_special_tokens=False).ids) for s in (one, two)]
    backend.enable_truncation(limit, strategy="longest_first", direction=side)
    expected = backend.encode(one, two)
    backend.no_truncation()
    assert numbers(made.wrap(*sides)) == expected.ids
    assert list(made.wrap_types(*sides)) == expected.type_ids


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("limit", [2, 3, 6, 50])
def test_single_texts_are_cut_as_the_library_cuts(tokenizer: Any, limit: int, side: str) -> None:
    backend = tokenizer("uncased").backend_tokenizer
    made = frame(backend, pair=False, limit=limit, keep_end=side == "left")
    backend.no_truncation()
    body = pack(backend.encode("the film is a warm story", add_special_tokens=False).ids)
    backend.enable_truncation(limit, direction=side)
    expected = backend.encode("the film is a warm story")
    backend.no_truncation()
    assert numbers(made.wrap(body)) == expected.ids


def test_frames_are_read_off_the_tokenizer(tokenizer: Any) -> None:
    bert = frame(tokenizer("uncased").backend_tokenizer, pair=True, limit=20)
    assert [numbers(m) for m in bert.marks] == [[2], [3], [3]]
    assert bert.types == (b"\0", b"\0", b"\0", b"\1", b"\1")
    assert not bert.plain
    assert (bert.specials, bert.room) == (3, 17)
    roberta = frame(tokenizer("bytes").backend_tokenizer, pair=True, limit=None)
    assert [numbers(m) for m in roberta.marks] == [[2], [3, 3], [3]]
    assert roberta.plain
    assert roberta.room is None
    single = frame(tokenizer("uncased").backend_tokenizer, pair=False, limit=1)
    assert single.room == 0
    assert single.plain


def test_rows_are_whole_numbers_of_ids() -> None:
    bare = Frame((b"", b""), (b"", b"\0", b""), room=2)
    assert bare.wrap(pack([7, 8, 9])) == pack([7, 8])
    assert len(pack([1, 2, 3])) == 3 * ITEM
