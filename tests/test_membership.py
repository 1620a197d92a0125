"""Which row gives a text, also when candidates contain spaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.membership import find_row
from unfooled.space import Space
from unfooled.text import Text
from victim_doubles import members

WORD = st.text(st.sampled_from("ab !"), min_size=1, max_size=4)
CANDIDATES = st.dictionaries(st.integers(0, 3), st.lists(WORD, max_size=3), max_size=3)
SIDES = st.sampled_from(["first", "second", "both"])


def fewest(space: Space, source: object) -> list[tuple[int, ...]]:
    """Brute force: the rows with the fewest swaps that spell a text."""
    found = [row for row in members(space) if space.text(row).source == source]
    least = min((sum(k > 0 for k in row) for row in found), default=0)
    return [row for row in found if sum(k > 0 for k in row) == least]


@given(CANDIDATES, st.data())
@settings(max_examples=150)
def test_a_string_gives_the_row_with_the_fewest_swaps(
    candidates: dict[int, list[str]], data: st.DataObject
) -> None:
    space = Space("a  ab b!", candidates)
    row = data.draw(st.sampled_from(members(space)))
    source = space.text(row).source
    assert tuple(space.row(source).tolist()) in fewest(space, source)


@given(CANDIDATES, SIDES, st.data())
@settings(max_examples=150)
def test_a_pair_of_strings_too(
    candidates: dict[int, list[str]], side: str, data: st.DataObject
) -> None:
    text = Text.pair("a  ab b !", "b a! ab b", editable=side)  # type: ignore[arg-type]
    space = Space(text, candidates)
    row = data.draw(st.sampled_from(members(space)))
    source = space.text(row).source
    assert tuple(space.row(source).tolist()) in fewest(space, source)


@given(CANDIDATES, SIDES | st.none(), st.data())
@settings(max_examples=150)
def test_a_text_gives_back_its_own_row(
    candidates: dict[int, list[str]], side: str | None, data: st.DataObject
) -> None:
    text = (
        Text.parse("a  ab b!") if side is None else Text.pair("a ab b !", "b a! ab", editable=side)
    )  # type: ignore[arg-type]
    space = Space(text, candidates)
    row = data.draw(st.sampled_from(members(space)))
    assert tuple(space.row(space.text(row)).tolist()) == row


@given(CANDIDATES, st.text(st.sampled_from("ab! "), max_size=12))
@settings(max_examples=150)
def test_a_string_is_a_member_when_brute_force_finds_it(
    candidates: dict[int, list[str]], source: str
) -> None:
    space = Space("a ab b!", candidates)
    assert bool(fewest(space, source)) == (
        find_row(space.original, dict(zip(space.positions, space.candidates, strict=True)), source)
        is not None
    )


def test_a_candidate_with_spaces_and_one_that_swallows_its_neighbour() -> None:
    space = Space("not good film", {0: ("not very",), 1: ("very good",), 2: ("film film",)})
    assert space.row("not very good film").tolist() in ([1, 0, 0], [0, 1, 0])
    assert space.row("not very very good film").tolist() == [1, 1, 0]
    assert space.row("not good film film").tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "outside",
    [
        "a great movie",  # movie is no candidate
        "a  great film",  # another spacing
        "a great film ",
        "a great",
        "great film",
        "",
        ("a great film", "a great film"),
    ],
)
def test_a_text_outside_is_named(outside: str) -> None:
    space = Space("a good film", {1: ("great",)})
    with pytest.raises(InputError, match=r"not in the space of 'a good film'.*word.*spacing"):
        space.row(outside)


def test_the_fixed_side_of_a_pair_must_match() -> None:
    space = Space(Text.pair("a man", "a dog"), {1: ("cat",)})
    assert space.row(("a man", "a cat")).tolist() == [1]
    for outside in [("a cat", "a cat"), ("a man", "a bird"), "a cat", ("a cat", "a man")]:
        with pytest.raises(InputError, match="not in the space"):
            space.row(outside)


def test_the_same_words_on_other_sides_are_another_text() -> None:
    """Pairs whose words and gaps agree, but not where the premise ends."""
    space = Space(Text.pair("a ", "b", editable="both"), {0: ("x",)})
    with pytest.raises(InputError, match="not in the space"):
        space.row(Text.pair("a b", "", editable="both"))
    swapped = Space(Text.pair("same", "x", editable="second"), {0: ("y",)})
    with pytest.raises(InputError, match="not in the space"):
        swapped.row(Text.pair("x", "same", editable="first"))


def test_the_same_pair_with_another_side_editable_is_found() -> None:
    space = Space(Text.pair("a man", "a dog"), {1: ("cat",)})
    assert space.row(Text.pair("a man", "a cat", editable="first")).tolist() == [1]


def test_an_open_copy_finds_rows_in_the_order_of_its_columns() -> None:
    space = Space("a b c", {1: ("x",)}).open([0, 2])
    column = space.positions.index(0)
    space.extend(column, ["y"])
    row = np.zeros(3, dtype=int)
    row[column] = 1
    assert str(space.text(row)) == "y b c"
    assert space.row("y b c").tolist() == row.tolist()


def test_long_texts_are_found_quickly() -> None:
    words = ["word"] * 400
    space = Space(" ".join(words), {i: [f"c{k} d" for k in range(50)] for i in range(400)})
    row = space.sample(None, 1, np.random.default_rng(0))[0]
    assert (space.row(str(space.text(row))) == row).all()
