"""Pairs from WordNet and from files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tiny_lexicon import write_wordnet
from unfooled.errors import InputError
from unfooled.lexicon.constraints import constraints, from_files, from_wordnet, read_pairs
from unfooled.lexicon.wordnet import WordNet

SENSES = (
    ("v", "v", ["like", "enjoy"], [(1, 1, 1)]),
    ("v", "v", ["dislike"], [(1, 0, 1)]),
    ("v", "v", ["like", "bed"], []),
    ("v", "v", ["bed", "embed"], []),
    ("n", "n", ["Paris", "City_of_Light", "capital"], []),
)


def test_pairs_are_ordered_and_antonyms_win() -> None:
    made = constraints([("b", "a"), ("a", "b"), ("c", "c"), ("d", "c")], [("c", "d")])
    assert made.synonyms == {("a", "b")}
    assert made.antonyms == {("c", "d")}
    assert made.within({"a", "c", "d"}).synonyms == frozenset()
    assert made.within({"a", "c", "d"}).antonyms == {("c", "d")}


def test_wordnet_in_all_forms_that_have_vectors(tmp_path: Path) -> None:
    wordnet = WordNet(write_wordnet(tmp_path))
    words = ["film", "movie", "films", "movies", "good", "bad", "child", "kid", "children", "kids"]
    words += ["find", "discover", "found", "discovered", "moving", "picture", "paris"]
    made = from_wordnet(wordnet, words)
    assert made.antonyms == {("bad", "good")}
    assert made.synonyms == {
        ("film", "movie"), ("films", "movies"), ("child", "kid"), ("children", "kids"),
        ("discover", "find"), ("discovered", "found"), ("film", "picture"), ("movie", "picture"),
    }  # fmt: skip


def test_rare_senses_and_names_are_left_out(tmp_path: Path) -> None:
    wordnet = WordNet(write_wordnet(tmp_path, SENSES))
    words = ["like", "enjoy", "bed", "embed", "dislike", "disliked", "liked", "paris", "capital"]
    assert from_wordnet(wordnet, words).synonyms == {
        ("enjoy", "like"), ("bed", "like"), ("bed", "embed"),
    }  # fmt: skip
    # `bed` and `like` share the second sense of one and the first of the other.
    first = from_wordnet(wordnet, words, senses=1)
    assert first.synonyms == {("enjoy", "like")}
    assert first.antonyms == {("dislike", "like"), ("disliked", "liked")}


def test_files_plain_and_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text("en_Good en_fine\n\ngood fine \r\n")
    packed.write_bytes(gzip.compress(b"good\tbad\n"))
    made = from_files([plain], [packed])
    assert made.synonyms == {("fine", "good")}
    assert made.antonyms == {("bad", "good")}


def test_bad_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("good bad\nonly\n")
    with pytest.raises(InputError, match=r"pairs\.txt line 2 must be two words, not 'only'"):
        read_pairs(path)
    path.write_bytes(b"\x1f\x8bnot gzip")
    with pytest.raises(InputError, match=r"pairs\.txt cannot be read"):
        read_pairs(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"pairs\.txt cannot be read"):
        read_pairs(path)
    with pytest.raises(InputError, match="nowhere cannot be read"):
        read_pairs(tmp_path / "nowhere")
