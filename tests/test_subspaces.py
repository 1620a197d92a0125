"""Parts of a space: windows that are shifted at the borders, first candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.space import Space
from unfooled.subspaces import first_candidates, view, window
from unfooled.text import Text


@given(length=st.integers(1, 40), width=st.integers(1, 45), data=st.data())
@settings(deadline=None)
def test_a_window_has_its_words_and_its_centre(
    length: int, width: int, data: st.DataObject
) -> None:
    centre = data.draw(st.integers(0, length - 1))
    words = window(length, centre, width=width)
    assert len(words) == min(width, length)
    assert centre in words
    assert words.start >= 0
    assert words.stop <= length
    inner = width // 2 <= centre < length - (width - width // 2) + 1
    if inner and width <= length:
        assert words.start == centre - width // 2


@pytest.mark.parametrize(
    ("centre", "expected"),
    [(0, (0, 15)), (7, (0, 15)), (8, (1, 16)), (12, (5, 20)), (13, (5, 20)), (19, (5, 20))],
)
def test_textfoolers_window_in_a_text_of_20_words(centre: int, expected: tuple[int, int]) -> None:
    words = window(20, centre, width=15)
    assert (words.start, words.stop) == expected


def test_without_a_width_there_is_no_window() -> None:
    assert window(20, 3, width=None) == range(20)


def test_a_view_is_the_window_of_every_row() -> None:
    space = Space("  One two, three four.", {0: ("uno",), 2: ("tres", "trois"), 4: ("five",)})
    assert space.original.words == ("One", "two", ",", "three", "four", ".")
    space = Space("  One two, three four.", {0: ("uno",), 3: ("tres", "trois"), 4: ("cinq",)})
    part = view(space, range(1, 5))
    assert str(part.space.original) == "two, three four"
    assert part.columns.tolist() == [1, 2]
    assert part.space.sources(np.array([[2, 1]])) == ["two, trois cinq"]
    assert str(view(space, range(6)).space.original) == "  One two, three four."


@given(st.lists(st.integers(0, 2), min_size=6, max_size=6), st.integers(1, 8), st.integers(0, 5))
@settings(deadline=None)
def test_views_agree_with_cutting_the_text(row: list[int], width: int, centre: int) -> None:
    space = Space("a b c d e f", {p: (f"x{p}", f"y{p}") for p in range(6)})
    words = window(6, centre, width=width)
    part = view(space, words)
    (found,) = part.space.sources(np.array([row], dtype=np.int16)[:, part.columns])
    cut = space.text(np.array(row)).words[words.start : words.stop]
    assert found == " ".join(cut)


def test_only_the_editable_side_of_a_pair_is_seen() -> None:
    for editable, expected in [
        ("second", "a dog"),
        ("first", "the cat"),
        ("both", "the cat a dog"),
    ]:
        text = Text.pair("the cat", "a dog", editable=editable)  # type: ignore[arg-type]
        assert str(view(Space(text, {}), range(len(text))).space.original) == expected


def test_an_open_copy_may_have_its_positions_in_another_order() -> None:
    space = Space("a b c", {2: ("z",)}).open([0, 1])
    space.extend(space.positions.index(0), ["x"])
    part = view(space, range(3))
    assert part.columns.tolist() == [space.positions.index(0), space.positions.index(2)]
    assert part.inside.tolist() == [0, 1, 2]


def test_first_candidates() -> None:
    space = Space("Good film", {0: ("fine", "great", "Good", "ok"), 1: ("movie",)})
    few = first_candidates(space, 2)
    assert few.candidates == (("Fine", "Great"), ("movie",))
    assert [(d.position, d.candidate) for d in few.dropped] == [(0, "Good"), (0, "Ok")]
    assert few.dropped[-1].reason == "not among the first 2"
    assert first_candidates(space, 9).candidates == space.candidates
    with pytest.raises(InputError, match="1 or more, not 0"):
        first_candidates(space, 0)
