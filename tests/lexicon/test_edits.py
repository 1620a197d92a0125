"""Edit distance against its recursive definition; keys and homoglyphs against what they are."""

from __future__ import annotations

import unicodedata
from functools import cache
from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.lexicon.edits import HOMOGLYPHS, beside, distance

short = st.text(alphabet="abc", max_size=6)


@cache
def by_definition(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return by_definition(one[1:], other[1:])
    return 1 + min(
        by_definition(one[1:], other),
        by_definition(one, other[1:]),
        by_definition(one[1:], other[1:]),
    )


@settings(deadline=None)
@given(short, short)
def test_the_distance_is_that_of_the_definition(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one) == by_definition(one, other)


@settings(deadline=None)
@given(short, short, short)
def test_no_detour_is_shorter(one: str, other: str, third: str) -> None:
    assert distance(one, other) <= distance(one, third) + distance(third, other)


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("", "", 0), ("", "ab", 2), ("flaw", "lawn", 2), ("intention", "execution", 5), ("ж", "з", 1)],
)
def test_distances_by_hand(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == edits


def test_keys_touch_each_other() -> None:
    for letter in ascii_lowercase:
        assert beside(letter)
        assert letter not in beside(letter)
        assert all(letter in beside(other) for other in beside(letter))
    # Read off a keyboard.
    assert set(beside("q")) == set("wa")
    assert set(beside("s")) == set("adwezx")
    assert set(beside("m")) == set("njk")
    assert beside("é") == beside("1") == ""


def test_homoglyphs_are_small_letters_of_another_alphabet() -> None:
    for letter, other in HOMOGLYPHS.items():
        assert letter in ascii_lowercase
        assert len(other) == 1
        assert unicodedata.name(other).startswith("CYRILLIC SMALL LETTER ")
        assert unicodedata.category(other) == "Ll"
        # Compatibility forms (fullwidth, mathematical) would be undone by normalising.
        assert unicodedata.normalize("NFKC", other) == other
    assert len(set(HOMOGLYPHS.values())) == len(HOMOGLYPHS)


SAID = {
    "a": "A", "c": "ES", "d": "KOMI DE", "e": "IE", "h": "SHHA", "j": "JE", "o": "O", "p": "ER",
    "i": "BYELORUSSIAN-UKRAINIAN I", "q": "QA", "s": "DZE", "v": "IZHITSA", "w": "WE", "x": "HA",
    "y": "U",
}  # fmt: skip


def test_each_homoglyph_is_the_letter_that_it_should_be() -> None:
    names = {letter: unicodedata.name(other) for letter, other in HOMOGLYPHS.items()}
    assert names == {letter: f"CYRILLIC SMALL LETTER {name}" for letter, name in SAID.items()}
