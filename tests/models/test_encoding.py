"""From texts to padded numbers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.models import Vocabulary
from unfooled.models.encoding import bucketed, encode, pad, sides
from unfooled.text import Text

KNOWN = Vocabulary(["a", "good", "film"])


def test_sides_of_a_text_and_of_a_pair():
    assert sides(Text.parse("A good film.")) == (("A", "good", "film", "."),)
    pair = ("A man", "sleeps now"), ("sleeps", "now")
    for editable in ("first", "second", "both"):
        assert sides(Text.pair(*pair[0], editable=editable)) == (("A", "man"), pair[1])


def test_encode_numbers_the_first_words_of_each_side():
    assert encode(Text.parse("A good old film"), KNOWN, max_words=3, pair=False) == ([2, 3, 1],)
    both = Text.pair("A film", "good film a")
    assert encode(both, KNOWN, max_words=2, pair=True) == ([2, 4], [3, 4])


def test_an_empty_text_is_one_unknown_word():
    assert encode(Text.parse(""), KNOWN, max_words=5, pair=False) == ([1],)
    assert encode(Text.pair(" ", "good"), KNOWN, max_words=5, pair=True) == ([1], [3])


def test_a_pair_for_a_text_model_and_a_text_for_a_pair_model_are_refused():
    with pytest.raises(InputError, match="reads a single text, but a pair was given"):
        encode(Text.pair("a", "b"), KNOWN, max_words=5, pair=False)
    with pytest.raises(InputError, match="reads a pair, but a single text"):
        encode(Text.parse("a"), KNOWN, max_words=5, pair=True)


def test_pad_fills_up_on_the_right_and_masks_it():
    batch = pad([([2, 3], [4]), ([5], [6, 7, 8])])
    assert batch.ids.tolist() == [[2, 3], [5, 0]]
    assert batch.mask.tolist() == [[True, True], [True, False]]
    assert batch.second_ids.tolist() == [[4, 0, 0], [6, 7, 8]]
    assert batch.second_mask.tolist() == [[True, False, False], [True, True, True]]
    assert batch.ids.dtype == torch.int64
    assert batch.mask.dtype == torch.bool


def test_a_batch_of_single_texts_has_no_second_side():
    batch = pad([([2, 3],)]).to(torch.device("cpu"))
    assert batch.second_ids is None
    assert batch.second_mask is None
    assert batch.ids.tolist() == [[2, 3]]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=400), st.integers(1, 7), st.integers(0, 9))
def test_batches_hold_every_index_once(lengths: list[int], batch: int, seed: int):
    parts = list(bucketed(lengths, batch, generator=torch.Generator().manual_seed(seed)))
    assert sorted(index for part in parts for index in part) == list(range(len(lengths)))
    assert max(map(len, parts)) <= batch


def test_batches_differ_by_epoch_repeat_by_seed_and_pad_little():
    lengths = torch.randint(1, 60, (900,), generator=torch.Generator().manual_seed(3)).tolist()
    generator = torch.Generator().manual_seed(5)
    first, second = (list(bucketed(lengths, 10, generator=generator)) for _ in range(2))
    again = list(bucketed(lengths, 10, generator=torch.Generator().manual_seed(5)))
    assert first == again
    assert first != second
    padded = sum(len(part) * max(lengths[index] for index in part) for part in first)
    assert padded < 1.1 * sum(lengths)
