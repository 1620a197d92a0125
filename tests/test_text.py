"""Text: exact round trips, words a person would name, case, pairs."""

from __future__ import annotations

import doctest
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled import text as module
from unfooled.errors import InputError
from unfooled.text import Example, Text, is_word, match_case

ANY = st.text(st.characters(exclude_categories=()))  # lone surrogates included
TRICKY = st.text(st.sampled_from(list("aB'’-. ,1!_\n\t\u0301\u200d\ufe0f❤é\ud800ſßİ")))


@given(ANY | TRICKY)
def test_every_string_round_trips(source: str) -> None:
    text = Text.parse(source)
    assert str(text) == source
    assert text.source == source
    assert len(text.gaps) == len(text.words) + 1 == len(text) + 1


@given(ANY | TRICKY)
def test_gaps_are_white_space_and_words_are_not(source: str) -> None:
    text = Text.parse(source)
    assert all(gap == "" or gap.isspace() for gap in text.gaps)
    assert not any(letter.isspace() for word in text.words for letter in word)
    assert all(text.words)


@given(ANY | TRICKY, ANY | TRICKY, st.sampled_from(["first", "second", "both"]))
def test_every_pair_round_trips(premise: str, hypothesis: str, editable: str) -> None:
    text = Text.pair(premise, hypothesis, editable=editable)  # type: ignore[arg-type]
    assert text.source == (premise, hypothesis)
    assert str(text) == f"{premise}\n{hypothesis}"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("It's a well-made film.", ["It's", "a", "well-made", "film", "."]),
        ("it 's good , is n't it", ["it", "'s", "good", ",", "is", "n't", "it"]),
        ("do n't , they 've , I 'd", ["do", "n't", ",", "they", "'ve", ",", "I", "'d"]),
        ("we ’re here", ["we", "’re", "here"]),
        ("the dogs' bowl", ["the", "dogs", "'", "bowl"]),
        ("'quoted' words", ["'", "quoted", "'", "words"]),
        ("'same old", ["'", "same", "old"]),  # no clitic: a quotation mark opens
        ("o'clock rock-'n'-roll", ["o'clock", "rock", "-'", "n", "'-", "roll"]),
        ("wait... what?!", ["wait", "...", "what", "?!"]),
        ("3.14 and 1,000 at 10:30.", ["3.14", "and", "1,000", "at", "10:30", "."]),
        ("U.S. e.g.", ["U", ".", "S", ".", "e", ".", "g", "."]),
        ("a -- b", ["a", "--", "b"]),
        ("e\u0301te\u0301 naïve", ["e\u0301te\u0301", "naïve"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("I ❤️ it 👨‍👩‍👧!", ["I", "❤️", "it", "👨‍👩‍👧!"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_words(source: str, words: list[str]) -> None:
    assert list(Text.parse(source).words) == words


def test_a_punctuation_run_has_a_position_of_its_own() -> None:
    text = Text.parse("Great?! (really)")
    assert [is_word(w) for w in text.words] == [True, False, False, True, False]


@given(ANY)
def test_a_combining_mark_is_never_torn_from_its_letter(source: str) -> None:
    text = Text.parse(unicodedata.normalize("NFD", f"caf\u00e9 {source}"))
    assert text.words[0] == "cafe\u0301" or source[:1] == ""


@pytest.mark.parametrize(
    ("word", "model", "expected"),
    [
        ("Movie", "film", "movie"),
        ("movie", "FILM", "MOVIE"),
        ("movie", "Film", "Movie"),
        ("big movie", "Film", "Big movie"),
        ("we", "I", "We"),  # one capital letter is no shouting
        ("NASA", "Film", "NASA"),
        ("movie", "iPhone", "movie"),
        ("MoVie", "iPhone", "MoVie"),
        ("movie", "42", "movie"),
        ("movie", "...", "movie"),
        ("cannot", "Can't", "Cannot"),
        ("movie", "É", "Movie"),
        ("", "Film", ""),
    ],
)
def test_case_pattern(word: str, model: str, expected: str) -> None:
    assert match_case(word, model) == expected


def test_a_swap_keeps_spacing_and_case() -> None:
    text = Text.parse("  A GOOD\tFilm ,\n it 's")
    assert str(text.swap({1: "fine", 2: "movie", 4: "That"})) == "  A FINE\tMovie ,\n that 's"
    assert str(text) == "  A GOOD\tFilm ,\n it 's"


@given(st.lists(st.sampled_from(["a", "Bc", "!"]), min_size=1), st.data())
def test_a_swap_touches_one_word(words: list[str], data: st.DataObject) -> None:
    text = Text.parse("  ".join(words))
    position = data.draw(st.integers(0, len(text) - 1))
    swapped = text.swap({position: "xyz"})
    assert swapped.gaps == text.gaps
    assert [i for i, w in enumerate(swapped.words) if w != text.words[i]] == [position]


@pytest.mark.parametrize("position", [-1, 3, 100])
def test_a_swap_outside_is_refused(position: int) -> None:
    with pytest.raises(InputError, match=f"position {position} .* 3 words"):
        Text.parse("one two three").swap({position: "x"})


def test_only_the_second_of_a_pair_is_editable() -> None:
    text = Text.pair("A man sleeps.", "A dog runs.")
    assert text.words == ("A", "dog", "runs", ".")  # positions count from its first word
    assert text.is_pair
    assert text.swap({1: "cat"}).source == ("A man sleeps.", "A cat runs.")
    assert Text.parse(("A man sleeps.", "A dog runs.")) == text


def test_the_first_of_a_pair_when_asked() -> None:
    text = Text.pair("A man sleeps.", "A dog runs.", editable="first")
    assert text.swap({1: "cat"}).source == ("A cat sleeps.", "A dog runs.")


def test_both_of_a_pair_when_asked() -> None:
    text = Text.pair(" A man. ", " A  dog ", editable="both")
    assert text.words == ("A", "man", ".", "A", "dog")
    assert text.swap({1: "cat", 4: "bird"}).source == (" A cat. ", " A  bird ")


@pytest.mark.parametrize("bad", [3, None, ("a",), ("a", "b", "c"), ("a", 1), b"bytes"])
def test_what_is_no_text_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match=r"string|strings"):
        Text.parse(bad)  # type: ignore[arg-type]


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(InputError, match="'first', 'second' or 'both', not 'third'"):
        Text.pair("a", "b", editable="third")  # type: ignore[arg-type]


def test_parsing_a_text_changes_nothing() -> None:
    text = Text.pair("a", "b", editable="both")
    assert Text.parse(text) is text


def test_texts_are_values() -> None:
    assert {Text.parse("a b"), Text.parse("a b"), Text.parse("a  b")} == {
        Text.parse("a b"),
        Text.parse("a  b"),
    }
    assert hash(Example(Text.parse("a"), 1, "x")) == hash(Example(Text.parse("a"), 1, "x"))


@pytest.mark.parametrize(
    ("gone", "left"),
    [([1], "one  three."), ([0], " two  three."), ([3], "one two  three"), ([0, 1, 2, 3], "")],
)
def test_a_word_leaves_with_the_gap_before_it(gone: list[int], left: str) -> None:
    assert str(Text.parse("one two  three.").without(gone)) == left


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ([2], ("a b ", " d ")),
        ([3], ("a b ", "c ")),
        ([2, 3], ("a b ", " ")),
        ([0, 1], (" ", "c d ")),
        ([1, 2], ("a ", " d ")),
        ([0, 1, 2, 3], (" ", " ")),
    ],
)
def test_words_leave_either_side_of_a_pair(gone: list[int], left: tuple[str, str]) -> None:
    assert Text.pair("a b ", "c d ", editable="both").without(gone).source == left


@given(TRICKY, TRICKY, st.data())
def test_the_sides_of_a_pair_lose_words_alone(first: str, second: str, data: st.DataObject) -> None:
    both = Text.pair(first, second, editable="both")
    gone = data.draw(st.sets(st.integers(0, max(len(both) - 1, 0))))
    one = Text.parse(first).without(i for i in gone)
    two = Text.parse(second).without(i - both.split for i in gone)
    assert both.without(gone).source == (str(one), str(two))


def test_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(module).failed == 0
