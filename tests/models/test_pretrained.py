"""Word vectors from folders and text files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unfooled.errors import InputError
from unfooled.models import Vocabulary
from unfooled.models.pretrained import Pretrained, read_vectors


def test_a_folder_is_read(vectors: Path):
    found = read_vectors(vectors)
    assert found.vectors.dtype == np.float32
    assert found.vectors.shape == (17, 6)
    assert found.words[-1] == "superb"


def test_a_text_file_is_read_with_and_without_a_header(tmp_path: Path):
    plain, counted = tmp_path / "plain.txt", tmp_path / "counted.txt"
    plain.write_text("good 1 2.5\nbad -1 0\n", encoding="utf-8")
    counted.write_text("2 2\ngood 1 2.5\nbad -1 0\n", encoding="utf-8")
    for path in (plain, counted):
        found = read_vectors(str(path))
        assert found.words == ("good", "bad")
        np.testing.assert_array_equal(found.vectors, [[1, 2.5], [-1, 0]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("good 1 2\nbad 1\n", "line 2: 1 numbers, the first word has 2"),
        ("good 1 2\nbad 1 x\n", "line 2: expected a word and numbers"),
        ("good\n", "line 1"),
        ("", "has no word vectors"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, content: str, message: str):
    path = tmp_path / "vectors.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_vectors(path)


def test_a_binary_file_is_refused(tmp_path: Path):
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="not UTF-8"):
        read_vectors(path)


def test_a_folder_without_its_words_is_refused(tmp_path: Path):
    np.save(tmp_path / "vectors.npy", np.zeros((2, 2), np.float32))
    with pytest.raises(InputError, match=r"words\.txt is missing"):
        read_vectors(tmp_path)


def test_words_and_vectors_must_fit():
    with pytest.raises(InputError, match="3 words do not fit"):
        Pretrained(("a", "b", "c"), np.zeros((2, 4), np.float32))


def test_a_pickled_array_is_refused(tmp_path: Path):
    np.save(tmp_path / "vectors.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "words.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(InputError, match="not an array of numbers"):
        read_vectors(tmp_path)


def test_the_table_has_zero_for_padding_the_mean_for_unknown_and_the_vectors():
    array = np.array([[1, 2], [3, 4], [5, 9]], np.float32)
    source = Pretrained(("good", "Good", "bad"), array)
    table = source.table(Vocabulary(["bad", "good", "unheard"]), seed=1)
    np.testing.assert_array_equal(table[0], [0, 0])
    np.testing.assert_array_equal(table[1], [3, 5])
    np.testing.assert_array_equal(table[2], [5, 9])
    np.testing.assert_array_equal(table[3], [1, 2])  # the more frequent spelling
    assert np.abs(table[4]).sum() > 0
    np.testing.assert_array_equal(
        table, source.table(Vocabulary(["bad", "good", "unheard"]), seed=1)
    )
