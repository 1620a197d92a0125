"""Word vectors: hand-computed cosines, neighbours against brute force, files with their errors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_lexicon import write_vectors
from unfooled.errors import InputError
from unfooled.lexicon.vectors import Metric, Vectors, read


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    return read(write_vectors(tmp_path_factory.mktemp("vectors") / "tiny.txt"))


def test_cosines_by_hand(tiny: Vectors) -> None:
    assert tiny.cosine("film", "movie") == pytest.approx(0.8, abs=1e-15)
    assert tiny.cosine("film", "celluloid") == pytest.approx(-0.6, abs=1e-15)
    assert tiny.cosine("movie", "picture") == pytest.approx(24 / 25, abs=1e-15)
    assert tiny.cosine("film", "zebra") is None


def test_a_phrase_is_the_mean_of_its_words(tiny: Vectors) -> None:
    # film (1, 0) and good (0, 2): mean (0.5, 1), with film 0.5 / sqrt(1.25)
    assert tiny.cosine("film good", "film") == pytest.approx(0.5 / 1.25**0.5)
    assert tiny.cosine("film zebra", "film") is None


def test_membership_and_rank(tiny: Vectors) -> None:
    assert "movie" in tiny
    assert "zebra" not in tiny
    assert tiny.index["film"] == 0
    assert len(tiny) == len(tiny.words) == len(tiny.matrix)


def _brute(vectors: Vectors, word: str, k: int, metric: Metric, limit: int | None) -> list[str]:
    a = vectors.matrix[vectors.index[word]].astype(float)
    ranked = []
    for other, row in list(zip(vectors.words, vectors.matrix, strict=True))[:limit]:
        b = row.astype(float)
        if metric == "cosine":
            value = -(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b))
        else:
            value = np.linalg.norm(a - b)
        if other != word:
            ranked.append((round(float(value), 9), other))
    return [other for _, other in sorted(ranked)[:k]]


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("limit", [None, 300])
def test_neighbours_are_those_of_brute_force(metric: Metric, limit: int | None) -> None:
    rng = np.random.default_rng(3)
    matrix = (rng.normal(size=(900, 20)) * rng.uniform(0.1, 40, size=(900, 1))).astype(np.float32)
    vectors = Vectors(tuple(f"w{i}" for i in range(900)), matrix)
    asked = [f"w{i}" for i in range(0, 900, 3)]  # more than one chunk
    found = vectors.nearest(asked, 7, metric=metric, limit=limit)
    for word, neighbours in zip(asked, found, strict=True):
        assert [n.word for n in neighbours] == _brute(vectors, word, 7, metric, limit)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=5, unique=True))
def test_the_answer_does_not_depend_on_the_batch_and_ties_go_by_word(batch: list[str]) -> None:
    matrix = np.array([[1, 0], [1, 1], [2, 2], [3, 3], [1, -1]], dtype=np.float32)
    vectors = Vectors(("e", "d", "c", "b", "a"), matrix)
    whole = dict(zip("edcba", vectors.nearest("edcba", 3), strict=True))
    assert [n.word for n in whole["e"]] == ["a", "b", "c"]  # all at 45 degrees
    for word, neighbours in zip(batch, vectors.nearest(batch, 3), strict=True):
        assert neighbours == whole[word]


def test_unknown_words_and_small_vocabularies(tiny: Vectors) -> None:
    known, unknown = tiny.nearest(["film", "zebra"], 1000)
    assert len(known) == len(tiny) - 1
    assert unknown == ()


def test_a_zero_vector_is_far_from_everything() -> None:
    vectors = Vectors(("a", "b", "nil"), np.array([[1, 0], [1, 1], [0, 0]], dtype=np.float32))
    assert vectors.cosine("a", "nil") == 0.0
    assert [n.word for n in vectors.nearest(["a"], 2)[0]] == ["b", "nil"]


def test_bad_questions(tiny: Vectors) -> None:
    with pytest.raises(InputError, match="metric is 'cosine' or 'euclidean', not 'angle'"):
        tiny.nearest(["film"], 1, metric="angle")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k is at least 1"):
        tiny.nearest(["film"], 0)
    with pytest.raises(InputError, match="3 words need a matrix"):
        Vectors(("a", "b", "c"), np.zeros((2, 2), dtype=np.float32))


def test_glove_text_with_spaces_in_words_and_doubles(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\n. . . 3 4\nthe 9 9\n\x85 5 6\n", encoding="utf-8")
    vectors = read(path)
    assert vectors.words == ("the", ". . .", "\x85")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_word2vec_text_and_binary_agree(tmp_path: Path) -> None:
    text, binary = tmp_path / "w2v.txt", tmp_path / "w2v.bin"
    text.write_text("2 3\nfilm 1 2 3\nnaïve 4 5 6\n", encoding="utf-8")
    rows = [struct.pack("<3f", 1, 2, 3), struct.pack("<3f", 4, 5, 6)]
    binary.write_bytes(b"2 3\nfilm " + rows[0] + b"\n" + "naïve ".encode() + rows[1] + b"\n")
    for vectors in (read(text), read(binary)):
        assert vectors.words == ("film", "naïve")
        assert vectors.matrix.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_numpy_with_a_list_of_words(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", np.eye(3, dtype=np.float32))
    (tmp_path / "words.txt").write_text("a\nb\x85c\nd\n", encoding="utf-8")
    assert read(tmp_path).words == ("a", "b\x85c", "d")
    assert read(tmp_path / "vectors.npy").cosine("a", "d") == 0.0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("film 1 2\nmovie 1\n", r"line 2 has 1 numbers after the word; expected 2"),
        ("film 1 2\nmovie 1 x\n", r"line 2 has something that is not a number"),
        ("film 1 2\nmovie 1 nan\n", r"line 2 has a value that is not finite"),
        ("3 2\nfilm 1 2\n", r"announces 3 vectors and holds 1"),
        ("film\n", r"line 1 has 0 numbers"),
        ("", r"holds no vectors"),
    ],
)
def test_a_bad_text_file_names_the_line(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=rf"bad\.txt {complaint}"):
        read(path)


def test_bytes_that_are_not_text_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"film 1 2\n\xff 1 2\n")
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        read(path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"hello\n", "line 1 must be 'count size'"),
        (b"2 1\na " + struct.pack("<f", 1), "ends inside vector 2 of 2"),
        (b"1 1\na " + struct.pack("<f", 1) + b"more", "goes on after the 1 vectors"),
    ],
)
def test_a_bad_binary_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read(path)


def test_numpy_files_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no vectors at"):
        read(tmp_path)
    path = tmp_path / "vectors.npy"
    np.save(path, np.eye(2))
    with pytest.raises(InputError, match=r"need their words, one a line, in .*words\.txt"):
        read(path)
    (tmp_path / "words.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match="holds float64, not float32"):
        read(path)
    path.write_bytes(b"not numpy")
    with pytest.raises(InputError, match="is not a numpy array"):
        read(path)


@pytest.mark.assets("glove-50")
def test_the_real_vectors(asset: Callable[[str], Path]) -> None:
    vectors = read(asset("glove-50"))
    assert vectors.matrix.shape == (400_000, 50)
    nearest = vectors.nearest(["movie"], 3, limit=50_000)[0]
    assert nearest[0].word in ("film", "movies")
    assert _brute(vectors, "movie", 3, "cosine", 50_000) == [n.word for n in nearest]
