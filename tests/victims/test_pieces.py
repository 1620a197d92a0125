"""Tables of pieces, against joining the pieces of each row one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.victims.pieces import PieceTable, canonical_choices, covering_rows

_pieces = st.lists(st.integers(1, 9), max_size=3).map(tuple)
_single = st.integers(1, 9).map(lambda i: (i,))


@st.composite
def tables(draw: st.DrawFn) -> Any:
    words = draw(st.integers(0, 6))
    kind = draw(st.sampled_from([_pieces, _single]))
    spots = draw(st.lists(st.integers(0, words - 1), unique=True)) if words else []
    counts = {p: draw(st.integers(1, 3)) for p in spots}
    text = " ".join("abcdefg"[:words])
    space = Space(text, {p: [f"x{k}" for k in range(n)] for p, n in counts.items()})
    fixed = [draw(kind) for _ in range(words)]
    choices = [[draw(kind) for _ in found] for found in space.candidates]
    unknown = draw(kind)
    table = PieceTable(space, fixed=fixed, choices=choices, unknown=unknown)
    return table, fixed, choices, unknown


def naive(row: Any, space: Space, fixed: Any, choices: Any, unknown: Any) -> list[int]:
    words = list(fixed)
    for column, choice in enumerate(row):
        if choice > 0:
            words[space.positions[column]] = choices[column][choice - 1]
        elif choice:
            words[space.positions[column]] = unknown if choice == UNKNOWN else ()
    return [i for word in words for i in word]


def row_lists(space: Space) -> Any:
    return st.lists(st.tuples(*[st.integers(-2, n) for n in space.counts]), min_size=1, max_size=6)


@settings(deadline=None)
@given(tables(), st.data())
def test_rows_are_the_pieces_joined(made: Any, data: st.DataObject) -> None:
    table, fixed, choices, unknown = made
    rows = data.draw(row_lists(table.space))
    array = np.array(rows, dtype=np.int16).reshape(len(rows), -1)
    expected = [naive(row, table.space, fixed, choices, unknown) for row in rows]
    ids, lengths = table.body(array)
    assert [row[:n].tolist() for row, n in zip(ids, lengths, strict=True)] == expected
    longest = max(map(len, expected))
    assert table.tokens(array) >= longest if table.simple else table.tokens(array) == longest
    if table.simple and not (array == DELETED).any():
        for width in {len(table.base), max(0, len(table.base) - 2)}:
            out = np.zeros((len(rows), width), dtype=np.int64)
            table.fill(array, out)
            assert out.tolist() == [row[:width] for row in expected]


@settings(deadline=None)
@given(tables(), st.data())
def test_canonical_rows_have_the_same_pieces(made: Any, data: st.DataObject) -> None:
    table, *pieces = made
    rows = np.array(data.draw(row_lists(table.space)), dtype=np.int16)
    if table.canon is not None:
        same = table.canon[np.arange(rows.shape[1]), rows]
        assert [naive(r, table.space, *pieces) for r in same.tolist()] == [
            naive(r, table.space, *pieces) for r in rows.tolist()
        ]
        again = table.canon[np.arange(rows.shape[1]), same]
        assert again.tolist() == same.tolist()


@settings(deadline=None)
@given(tables(), st.data())
def test_spans_and_means_belong_to_the_columns(made: Any, data: st.DataObject) -> None:
    table, fixed, choices, unknown = made
    rows = np.array(data.draw(row_lists(table.space)), dtype=np.int16)
    starts, sizes = table.spans(rows)
    vectors = np.random.default_rng(0).normal(size=(10, 3))
    means = table.means(vectors)
    for row, start, size in zip(rows.tolist(), starts, sizes, strict=True):
        whole = naive(row, table.space, fixed, choices, unknown)
        for column, choice in enumerate(row):
            word = {0: fixed[table.space.positions[column]], UNKNOWN: unknown, DELETED: ()}
            mine = word[choice] if choice <= 0 else choices[column][choice - 1]
            here = whole[start[column] : start[column] + size[column]]
            assert tuple(here) == mine
            if choice >= 0 and mine:
                assert means[column, choice] == pytest.approx(vectors[list(mine)].mean(axis=0))


def test_canonical_choices_by_hand() -> None:
    options = [["a", "b", "a", "u", "", "u"], ["c", "d", "e", None, "", "u"]]
    found = canonical_choices(options, 6)
    assert found is not None
    assert found.tolist() == [[0, 1, 0, 3, DELETED, 3], [0, 1, 2, 3, DELETED, UNKNOWN]]
    assert canonical_choices(options[1:], 6) is None


def test_covering_rows_use_every_choice() -> None:
    space = Space("a b c", {0: ("x",), 1: ("x", "y", "z"), 2: ("x", "y")})
    rows = covering_rows(space)
    assert len(rows) == 4
    assert all(set(rows[:, c].tolist()) >= set(range(n + 1)) for c, n in enumerate(space.counts))
    assert covering_rows(Space("a b", {})).shape == (1, 0)
