"""Which candidates a space takes, and the reasons for the others."""

from __future__ import annotations

import pytest

from unfooled.admission import Admitted, Dropped, admitted, check_positions
from unfooled.errors import InputError
from unfooled.text import Text

TEXT = Text.parse("A GOOD film")


def test_candidates_take_the_case_of_the_word_and_come_by_position() -> None:
    found = admitted(TEXT, {2: ["Movie", "movie", "film"], 1: iter(["fine", "Good", " "]), 0: []})
    assert found == Admitted(
        {1: ("FINE",), 2: ("movie",)},
        (
            Dropped(1, "Good", "the original word"),
            Dropped(1, " ", "empty"),
            Dropped(2, "movie", "a duplicate"),
            Dropped(2, "film", "the original word"),
        ),
    )
    assert list(found.kept) == [1, 2]


def test_no_row_could_number_more() -> None:
    found = admitted(TEXT, {2: [f"f{i}" for i in range(2**15)]})
    assert len(found.kept[2]) == 2**15 - 1
    assert [d.reason for d in found.dropped] == ["more than 32767 candidates"]


@pytest.mark.parametrize(
    ("offered", "said"),
    [
        ({3: ["x"]}, "position 3 has candidates, but the text has positions 0 to 2: 'A GOOD film'"),
        ({-1: ["x"]}, "position -1"),
        ({1: "fine"}, "the candidates at position 1 are one string, not a list"),
        ({1: [7]}, "candidate 7 at position 1 is not a string"),
    ],
)
def test_what_is_no_offer_is_refused(offered: dict[int, list[str]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        admitted(TEXT, offered)
    check_positions(TEXT, {0: [], 2: ["x"]})
