"""Vocabulary: numbering, building, and a file that comes back exactly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.models import Vocabulary
from unfooled.text import Text

WORDS = st.text(min_size=1, max_size=40).map(lambda s: Text.parse(s).words).map(list)


def test_zero_is_padding_one_is_unknown_and_words_follow():
    known = Vocabulary(["a", "good", "film"])
    assert (known.padding, known.unknown, len(known)) == (0, 1, 5)
    assert known.ids(["a", "good", "film", "movie"]) == [2, 3, 4, 1]


def test_case_does_not_matter():
    known = Vocabulary(["good"])
    assert known.ids(["GOOD", "Good", "gOOD"]) == [2, 2, 2]
    assert "Good" in known
    assert "bad" not in known


def test_the_names_of_padding_and_unknown_are_not_words():
    known = Vocabulary(["a"])
    assert known.ids(["<padding>", "<unknown>"]) == [1, 1]


def test_build_keeps_the_most_frequent_words_in_a_fixed_order():
    texts = [["b", "a", "B"], ["c", "a", "d"]]
    known = Vocabulary.build(texts, size=5)
    assert known.words == ("a", "b", "c")  # a and b twice, then c before d
    assert Vocabulary.build(reversed(texts), size=5) == known


def test_size_counts_padding_and_unknown():
    known = Vocabulary.build([[f"word{n}" for n in range(50)]], size=20)
    assert len(known) == 20


def test_extra_words_come_on_top_and_only_once():
    known = Vocabulary.build([["good", "film"]], size=4, extra=["Good", "superb", "SUPERB", "fine"])
    assert known.words == ("film", "good", "superb", "fine")


def test_a_word_that_would_break_the_file_is_left_out():
    assert Vocabulary.build([["good"]], extra=["a\nb", "c\rd", "", "ok"]).words == ("good", "ok")


def test_strings_are_refused_because_their_letters_are_not_words():
    with pytest.raises(InputError, match="lists of words"):
        Vocabulary.build(["a good film"])


def test_too_small_a_size_is_refused():
    with pytest.raises(InputError, match="at least 3"):
        Vocabulary.build([["a"]], size=2)


def test_a_word_twice_is_refused():
    with pytest.raises(InputError, match="'a' twice"):
        Vocabulary(["a", "b", "a"])


@given(st.lists(WORDS, max_size=6))
def test_every_built_word_has_its_own_number(texts: list[list[str]]):
    known = Vocabulary.build(texts)
    counts = Counter(word.lower() for words in texts for word in words)
    assert set(known.words) == set(counts)
    assert [counts[word] for word in known.words] == sorted(counts.values(), reverse=True)
    assert known.ids(known.words) == list(range(2, len(known)))


@given(texts=st.lists(WORDS, max_size=6))
def test_the_file_comes_back_exactly(texts: list[list[str]], tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.txt"
    known = Vocabulary.build(texts)
    known.save(path)
    assert Vocabulary.load(path) == known
    assert hash(Vocabulary.load(path)) == hash(known)


def test_the_line_is_the_number(tmp_path: Path):
    path = tmp_path / "vocabulary.txt"
    Vocabulary(["film", "good"]).save(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[2:] == ["film", "good"]
    assert len(lines) == 4


@pytest.mark.parametrize("content", [b"", b"good\nfilm\n", b"<padding>\n<unknown>\ncut"])
def test_another_file_is_not_taken_for_a_vocabulary(tmp_path: Path, content: bytes):
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a vocabulary"):
        Vocabulary.load(path)


def test_a_file_in_another_encoding_is_named(tmp_path: Path):
    path = tmp_path / "vocabulary.txt"
    path.write_bytes("<padding>\n<unknown>\ncafé\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        Vocabulary.load(path)


def test_repr_says_how_large_it_is():
    assert repr(Vocabulary(["a"])) == "Vocabulary(3 entries)"
    assert Vocabulary(["a"]) != ["a"]
