"""Neighbours as candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiny_lexicon import write_stopwords, write_vectors
from unfooled.candidates import explain
from unfooled.candidates.embedding import Embedding
from unfooled.errors import InputError
from unfooled.text import Text

TABLE = {
    "film": (1.0, 0.0),
    "the": (1.0, 0.01),
    "42nd": (1.0, 0.02),
    "...": (1.0, 0.03),
    "movie": (4.0, 3.0),  # 0.8, distance sqrt(18)
    "picture": (0.6, 0.8),  # 0.6, distance sqrt(0.8)
    "shot": (0.0, 1.0),  # 0, distance sqrt(2)
    "anger": (-1.0, 0.0),  # -1, distance 2
}


@pytest.fixture
def options(tmp_path: Path) -> dict[str, str]:
    vectors = write_vectors(tmp_path / "v.txt", TABLE)
    return {"vectors": str(vectors), "stopwords": str(write_stopwords(tmp_path / "stop.txt"))}


def test_cosine_with_a_threshold(options: dict[str, str]) -> None:
    source = Embedding(min_similarity=0.1, **options)
    assert source(Text.parse("The Film , zebra ...")) == {1: ("movie", "picture")}


def test_euclidean_with_a_limit(options: dict[str, str]) -> None:
    text = Text.parse("film")
    assert Embedding(metric="euclidean", **options)(text)[0] == (
        "picture",
        "shot",
        "anger",
        "movie",
    )
    near = Embedding(metric="euclidean", max_distance=1.5, **options)
    assert near(text)[0] == ("picture", "shot")
    assert 0 not in Embedding(metric="euclidean", max_distance=0.0, **options)(text)


def test_the_most_frequent_words_only(options: dict[str, str]) -> None:
    assert Embedding(vocabulary=5, **options)(Text.parse("film"))[0] == ("movie",)


def test_reasons(options: dict[str, str]) -> None:
    rows = explain(Embedding(k=1, min_similarity=0.5, **options), "the film , zebra")
    assert [row.reason for row in rows] == ["stop word", "", "punctuation", "no vector"]
    assert {c.word: c.rejected for c in rows[1].candidates} == {
        "movie": "",
        "picture": "not among the best 1",
        "the": "stop word",
        "42nd": "not a plain word",
        "...": "not a plain word",
        "shot": "similarity below 0.5",
        "anger": "similarity below 0.5",
    }


def test_an_answer_does_not_depend_on_what_was_asked_before(options: dict[str, str]) -> None:
    warm = Embedding(**options)
    warm(Text.parse("movie shot anger"))
    assert warm(Text.parse("film picture")) == Embedding(**options)(Text.parse("film picture"))


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="vocabulary is at least 1"):
        Embedding(vocabulary=0)
    with pytest.raises(InputError, match="max_distance needs metric=euclidean"):
        Embedding(max_distance=0.5)


@pytest.mark.assets("glove-50", "stopwords")
def test_real_neighbours() -> None:
    found = Embedding(k=3)(Text.parse("a wonderful movie"))
    assert set(found) == {1, 2}
    assert "film" in found[2]
    assert all(len(words) == 3 for words in found.values())
