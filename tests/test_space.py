"""Space: the contract that other code and outside tests use."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from unfooled import space as module
from unfooled.errors import InputError
from unfooled.space import DELETED, UNKNOWN, Dropped, Space
from unfooled.text import Text
from victim_doubles import members

COUNTS = st.lists(st.integers(1, 4), max_size=4).map(tuple)


def shaped(counts: tuple[int, ...]) -> Space:
    """A space with so many candidates at each position, among fixed words."""
    words = " ".join(f"w{i} and" for i in range(len(counts)))
    return Space(words, {2 * i: [f"c{k}" for k in range(n)] for i, n in enumerate(counts)})


@pytest.fixture
def film() -> Space:
    return Space("A good and touching film", {1: ("lovely", "delightful"), 3: ("moving",)})


def test_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(module).failed == 0


def test_the_contract(film: Space) -> None:
    assert film.positions == (1, 3)
    assert [film.size(r) for r in range(4)] == [1, 4, 6, 6]
    assert film.size(None) == film.size() == 6
    rows = film.sample(1, 7, np.random.default_rng(0))
    assert rows.shape == (7, 2)
    assert np.issubdtype(rows.dtype, np.integer)
    listed = [row for chunk in film.enumerate(2) for row in chunk.tolist()]
    assert listed[0] == [0, 0]
    assert sorted(listed[1:4]) == [[0, 1], [1, 0], [2, 0]]
    assert sorted(listed[4:]) == [[1, 1], [2, 1]]
    assert str(film.text((2, 1))) == "A delightful and moving film"
    assert film.swaps((2, 1)) == 2
    assert film.swaps([(0, 0), (0, 1)]).tolist() == [0, 1]  # type: ignore[union-attr]
    assert film.row("A lovely and touching film").tolist() == [1, 0]
    assert film.row(film.text((2, 1))).tolist() == [2, 1]
    assert film.changes((2, 0)) == {1: ("good", "delightful")}
    with pytest.raises(InputError, match="not in the space"):
        film.row("A lousy and touching film")


def test_keys_and_candidates_may_be_any_iterables() -> None:
    space = Space("a b c", {np.int64(2): iter(["x", "y"]), 0: {"z": 1}})  # type: ignore[dict-item]
    assert space.positions == (0, 2)
    assert space.candidates == (("z",), ("x", "y"))
    assert len(space.fingerprint) == 16


@given(COUNTS, st.integers(0, 5) | st.none())
def test_size_counts_what_brute_force_lists(counts: tuple[int, ...], radius: int | None) -> None:
    assert shaped(counts).size(radius) == len(members(shaped(counts), radius))


@given(COUNTS, st.integers(0, 5) | st.none(), st.integers(1, 9))
@settings(max_examples=50)
def test_enumeration_lists_every_member_once(
    counts: tuple[int, ...], radius: int | None, chunk: int
) -> None:
    space = shaped(counts)
    rows = [tuple(row) for part in space.enumerate(radius, chunk=chunk) for row in part.tolist()]
    assert sorted(rows) == sorted(members(space, radius))
    swaps = [space.swaps(row) for row in rows]
    assert swaps == sorted(swaps)  # type: ignore[type-var]
    assert len({str(space.text(row)) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("counts", "radius"), [((1, 30, 2), 1), ((1, 30, 2), 2), ((2, 2, 2), None), ((5, 1, 1, 9), 3)]
)
def test_samples_are_uniform_over_the_enumeration(
    counts: tuple[int, ...], radius: int | None
) -> None:
    space = shaped(counts)
    listed = [tuple(r) for part in space.enumerate(radius) for r in part.tolist()]
    rows = space.sample(radius, 150 * len(listed), np.random.default_rng(11))
    seen = Counter(map(tuple, rows.tolist()))
    assert set(seen) <= set(listed)
    assert chisquare([seen[row] for row in listed]).pvalue > 1e-4


def test_a_long_text() -> None:
    space = shaped((50,) * 400)
    assert space.size(None) == 51**400
    assert space.size(2) == 1 + 400 * 50 + comb(400, 2) * 2500
    assert space.size(200) == sum(comb(400, k) * 50**k for k in range(201))
    rows = space.sample(17, 50, np.random.default_rng(0))
    assert space.contains(rows, 17).all()
    assert space.swaps(rows).max() == 17  # type: ignore[union-attr]
    assert "texts" in repr(space)


def test_a_space_too_large_to_print_still_has_a_name() -> None:
    assert "3000 positions" in repr(shaped((50,) * 3000))


def test_no_candidates() -> None:
    for space in (Space("just a film", {}), Space("", {}), Space("a", {0: ()})):
        assert space.positions == ()
        assert space.size() == space.size(3) == 1
        assert space.sample(2, 4, np.random.default_rng(0)).shape == (4, 0)
        assert [part.shape for part in space.enumerate()] == [(1, 0)]
        assert space.swaps(space.origin) == 0
        assert space.text(space.origin) == space.original
        assert space.neighbours(space.origin).shape == (0, 0)
        assert space.probes(space.origin).shape == (0, 0)
        assert space.contains(space.origin).tolist() == [True]


# --- what is dropped ----------------------------------------------------------------------------


def test_duplicates_and_the_original_are_dropped_with_a_reason() -> None:
    space = Space("A Good film", {1: ("good", "Fine", "fine", "great", "FINE", " ", "")})
    assert space.candidates == (("Fine", "Great", "FINE"),)
    assert space.dropped == (
        Dropped(1, "good", "the original word"),
        Dropped(1, "fine", "a duplicate"),
        Dropped(1, " ", "empty"),
        Dropped(1, "", "empty"),
    )
    assert space.size() == 4


def test_a_position_that_loses_all_its_candidates_is_none() -> None:
    space = Space("A good film", {1: ("Good", "GOOD"), 2: ("movie",)})
    assert space.positions == (2,)
    assert [d.reason for d in space.dropped] == ["the original word"] * 2


def test_candidates_may_have_spaces_or_no_letters() -> None:
    space = Space("a good film", {1: ("really good", "g00d!", "...", "go od")})
    assert space.size() == 5
    for k in range(1, 5):
        text = space.text([k])
        assert len(text) == 3  # still one position
        assert space.row(text).tolist() == [k]
        assert space.row(str(text)).tolist() == [k]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({5: ("x",)}, "position 5 .* positions 0 to 2"),
        ({-1: ("x",)}, "position -1"),
        ({0: "word"}, "position 0 are one string"),
        ({0: (3,)}, "candidate 3 at position 0 is not a string"),
    ],
)
def test_bad_candidates_are_refused(candidates: dict[int, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space("one two three", candidates)  # type: ignore[arg-type]


def test_a_negative_radius_is_refused(film: Space) -> None:
    for ask in (film.size, lambda r: film.sample(r, 1, np.random.default_rng(0)), film.enumerate):
        with pytest.raises(InputError, match="not -1"):
            ask(-1)


@pytest.mark.parametrize("row", [(3, 0), (0, 2), (0, -3), (0,), (0, 0, 0)])
def test_a_row_that_is_none_is_refused(film: Space, row: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="row"):
        film.text(row)


# --- operations on rows -------------------------------------------------------------------------


@given(COUNTS.filter(len), st.data())
@settings(max_examples=60)
def test_neighbours_differ_in_one_column(counts: tuple[int, ...], data: st.DataObject) -> None:
    space = shaped(counts)
    rows = data.draw(st.lists(st.sampled_from(members(space)), min_size=1, max_size=3))
    columns = data.draw(st.none() | st.lists(st.sampled_from(range(len(counts))), unique=True))
    allowed = range(len(counts)) if columns is None else columns
    expected = Counter(
        other
        for row in rows
        for other in members(space)
        if [c for c in range(len(row)) if row[c] != other[c]] in [[c] for c in allowed]
    )
    found = space.neighbours(rows, columns)
    assert Counter(map(tuple, found.tolist())) == expected
    assert found.dtype == np.int16


@given(COUNTS.filter(len), st.data())
@settings(max_examples=60)
def test_at_lists_every_choice_of_a_column(counts: tuple[int, ...], data: st.DataObject) -> None:
    space = shaped(counts)
    rows = data.draw(st.lists(st.sampled_from(members(space)), min_size=1, max_size=3))
    column = data.draw(st.sampled_from(range(len(counts))))
    expected = [
        [*row[:column], k, *row[column + 1 :]] for row in rows for k in range(counts[column] + 1)
    ]
    assert space.at(rows, column).tolist() == expected


def test_mutation_draws_another_choice_uniformly() -> None:
    space = shaped((3, 1, 9))
    rows = np.tile(np.array([2, 1, 0], dtype=np.int16), (9000, 1))
    columns = np.arange(9000) % 3
    mutated = space.mutate(rows, columns, np.random.default_rng(2))
    assert (rows == [2, 1, 0]).all()  # the argument is left alone
    changed = mutated != rows
    assert (changed.sum(axis=1) == 1).all()
    assert (changed.argmax(axis=1) == columns).all()
    assert space.contains(mutated).all()
    for column, others in [(0, [0, 1, 3]), (1, [0]), (2, [*range(1, 10)])]:
        seen = Counter(mutated[columns == column, column].tolist())
        assert sorted(seen) == others
        assert chisquare([seen[k] for k in others]).pvalue > 1e-4 or len(others) == 1


def test_probes_hide_one_word_at_a_time(film: Space) -> None:
    assert film.probes((2, 0)).tolist() == [[UNKNOWN, 0], [2, UNKNOWN]]
    assert film.probes((2, 0), DELETED).tolist() == [[DELETED, 0], [2, DELETED]]
    assert not film.contains(film.probes(film.origin)).any()  # probes are never members
    assert [str(film.text(r)) for r in film.probes((2, 0))] == [
        "A [UNK] and touching film",
        "A delightful and [UNK] film",
    ]
    assert str(film.text((DELETED, 1), unknown="?")) == "A and moving film"
    assert str(film.text((UNKNOWN, 1), unknown="?")) == "A ? and moving film"


@given(st.lists(st.tuples(st.integers(-2, 3), st.integers(0, 3)), max_size=10))
def test_unique_keeps_the_first_of_each(rows: list[tuple[int, int]]) -> None:
    space = shaped((3, 3))
    array = np.array(rows, dtype=np.int16).reshape(-1, 2)
    assert space.unique(array).tolist() == [list(r) for r in dict.fromkeys(rows)]


@given(COUNTS, st.integers(0, 4) | st.none(), st.data())
def test_contains_agrees_with_brute_force(
    counts: tuple[int, ...], radius: int | None, data: st.DataObject
) -> None:
    space = shaped(counts)
    entries = st.tuples(*[st.integers(-2, n + 1) for n in counts])
    rows = data.draw(st.lists(entries, min_size=1, max_size=5))
    inside = set(members(space, radius))
    found = space.contains(np.array(rows).reshape(len(rows), len(counts)), radius)
    assert found.tolist() == [row in inside for row in rows]


def test_rows_of_another_width_are_refused(film: Space) -> None:
    with pytest.raises(InputError, match="2 entries here, not 3"):
        film.contains((0, 0, 0))


@given(COUNTS, st.sampled_from([None, "first", "second", "both"]), st.data())
@settings(max_examples=60)
def test_many_sources_are_those_of_each_text(
    counts: tuple[int, ...], side: str | None, data: st.DataObject
) -> None:
    words = " ".join(f"w{i}  and" for i in range(len(counts)))
    text = Text.parse(words) if side is None else Text.pair(words, words, editable=side)  # type: ignore[arg-type]
    space = Space(text, {2 * i: [f"c{k}" for k in range(n)] for i, n in enumerate(counts)})
    rows = data.draw(
        st.lists(st.tuples(*[st.integers(-2, n) for n in counts]), min_size=1, max_size=4)
    )
    array = np.array(rows, dtype=np.int16).reshape(len(rows), len(counts))
    expected = [space.text(row, unknown="<?>").source for row in rows]
    assert space.sources(array, unknown="<?>") == expected


@given(st.permutations(range(4)), st.lists(st.tuples(*[st.integers(-2, 1)] * 4), max_size=4))
def test_sources_of_an_open_copy_whose_columns_are_in_any_order(
    order: list[int], rows: list[tuple[int, ...]]
) -> None:
    first, *rest = order
    copy = Space("ein sehr guter  Film", {first: ("eins",)}).open(rest)
    for column in range(1, 4):
        assert copy.extend(column, [f"wort{column}"]) == [1]
    assert copy.positions == tuple(order)
    array = np.array(rows, dtype=np.int16).reshape(len(rows), 4)
    assert copy.sources(array) == [copy.text(row).source for row in rows]


@pytest.mark.parametrize("row", [(3, 0), (0, 9), (-3, 0), (-1, 3)])
def test_sources_refuse_rows_of_another_space(film: Space, row: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="not all rows are of this space"):
        film.sources([(0, 0), row])


def test_swaps_keep_the_case_of_the_words_they_replace() -> None:
    space = Space("GOOD Film, it 's", {0: ("fine",), 1: ("movie",), 3: ("THAT",)})
    assert str(space.text((1, 1, 1))) == "FINE Movie, that 's"


# --- open copies --------------------------------------------------------------------------------


def test_only_an_open_copy_grows(film: Space) -> None:
    with pytest.raises(InputError, match=r"frozen.*open"):
        film.extend(0, ["nice"])
    copy = film.open()
    assert copy.extend(0, ["nice", "lovely", "good", "nice"]) == [3, 1, 0, 3]
    assert copy.candidates[0] == ("lovely", "delightful", "nice")
    assert copy.version == 1
    assert film.candidates[0] == ("lovely", "delightful")  # the frozen space is not touched
    assert film.version is None


def test_rows_made_before_an_extension_stay_valid(film: Space) -> None:
    copy = film.open()
    before = {tuple(r): str(copy.text(r)) for part in copy.enumerate() for r in part.tolist()}
    sources = copy.sources(list(before))
    copy.extend(0, ["Nice"])
    copy.extend(1, ["sad", "slow"])
    assert copy.counts == (3, 3)
    assert {row: str(copy.text(row)) for row in before} == before
    assert copy.sources(list(before)) == sources
    assert copy.sources([(3, 3)]) == ["A nice and slow film"]
    assert copy.size() == 16


def test_further_positions_start_without_candidates(film: Space) -> None:
    copy = film.open([4, 1, 0])
    assert sorted(copy.positions) == [0, 1, 3, 4]
    assert copy.size() == film.size()
    assert copy.sample(1, 30, np.random.default_rng(0)).shape == (30, 4)
    assert sum(len(part) for part in copy.enumerate()) == 6
    column = copy.positions.index(0)
    assert copy.extend(column, ["the"]) == [1]
    assert copy.changes(np.eye(4, dtype=int)[column]) == {0: ("A", "The")}
    with pytest.raises(InputError, match="position 9"):
        film.open([9])


# --- identity -----------------------------------------------------------------------------------


def test_fingerprints_tell_spaces_apart() -> None:
    spaces = [
        Space("a b", {0: ("x",)}),
        Space("a b", {1: ("x",)}),
        Space("a b", {0: ("x", "y")}),
        Space("a  b", {0: ("x",)}),
        Space(("a b", "a b"), {0: ("x",)}),
        Space(Text.pair("a b", "a b", editable="both"), {0: ("x",)}),
        Space("a \ud800", {0: ("x",)}),
    ]
    assert len({s.fingerprint for s in spaces}) == len(spaces)
    assert Space("a b", {0: ("x",)}).fingerprint == spaces[0].fingerprint


def test_fingerprints_do_not_depend_on_the_hash_seed() -> None:
    code = "from unfooled.space import Space; print(Space('a b', {0: ('x', 'y')}).fingerprint)"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(found) == 1
