"""The embedding that pre-trained vectors give."""

from __future__ import annotations

import numpy as np
import pytest

from unfooled.errors import InputError
from unfooled.lexicon.vectors import Vectors
from unfooled.models import Vocabulary
from unfooled.models.pretrained import embedding_table


def test_the_table_has_zero_for_padding_the_mean_for_unknown_and_the_vectors():
    array = np.array([[1, 2], [3, 4], [5, 9]], np.float32)
    source = Vectors(("good", "Good", "bad"), array)
    known = Vocabulary(["bad", "good", "unheard"])
    table = embedding_table(source, known, seed=1)
    np.testing.assert_array_equal(table[:4], [[0, 0], [3, 5], [5, 9], [1, 2]])
    assert np.abs(table[4]).sum() > 0
    assert not np.array_equal(table[4], table[1])
    np.testing.assert_array_equal(table, embedding_table(source, known, seed=1))
    assert not np.array_equal(table[4], embedding_table(source, known, seed=2)[4])


def test_the_more_frequent_spelling_decides_wherever_it_stands():
    array = np.arange(8, dtype=np.float32).reshape(4, 2)
    table = embedding_table(
        Vectors(("film", "Good", "good", "GOOD"), array), Vocabulary(["good"]), seed=0
    )
    np.testing.assert_array_equal(table[2], [2, 3])
    assert table.dtype == np.float32


def test_no_vectors_give_no_embedding():
    with pytest.raises(InputError, match="empty"):
        embedding_table(Vectors((), np.zeros((0, 3), np.float32)), Vocabulary(["a"]), seed=0)
