"""Ids joined from pieces are the tokenizer's, for every tokenizer, text and row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.text import Text
from unfooled.victims.encoder import Encoder
from unfooled.victims.token_table import TokenTable, token_tables

FAMILIES = ("uncased", "cased", "bytes", "prefixed bytes", "metaspace", "unsplit")
_encoders: dict[tuple[str, int], Encoder] = {}


def encoder(tokenizer: Any, family: str, limit: int = 512) -> Encoder:
    if (family, limit) not in _encoders:
        _encoders[family, limit] = Encoder(tokenizer(family, limit), limit=limit)
    return _encoders[family, limit]


def expected(made: Encoder, space: Space, rows: Any) -> list[tuple[list[int], list[int]]]:
    """The ids and token types that transformers' own call gives for the strings of rows."""
    sources = [space.text(row, unknown=made.unknown).source for row in rows]
    first = [s if isinstance(s, str) else s[0] for s in sources]
    second = [s[1] for s in sources if not isinstance(s, str)] or None
    found = made.tokenizer(first, second, truncation=True, max_length=made.limit)
    types = found.get("token_type_ids") or [[0] * len(ids) for ids in found["input_ids"]]
    return list(zip(found["input_ids"], types, strict=True))


def table_of(space: Space, encoder: Encoder) -> TokenTable:
    return token_tables([space], encoder)()[0]


def joined(table: TokenTable, rows: Any) -> list[tuple[list[int], list[int]]]:
    lines = table.lines(np.asarray(rows, dtype=np.int16))
    ids = [np.frombuffer(line, dtype=np.int64).tolist() for line in lines.ids]
    types = [list(t) for t in lines.types] or [[0] * len(row) for row in ids]
    return list(zip(ids, types, strict=True))


def all_rows(space: Space) -> list[list[int]]:
    """Every choice at every column alone, and all columns with each code at once."""
    rows = [[0] * len(space.counts)]
    for column, count in enumerate(space.counts):
        for code in (*range(1, count + 1), UNKNOWN, DELETED):
            rows.append([code if c == column else 0 for c in range(len(space.counts))])
    return rows + [[code] * len(space.counts) for code in (1, UNKNOWN, DELETED)]


CASES = {
    "plain": (
        "The film is warm , and funny .",
        {1: ("movie", "story"), 3: ("dull", "unwatchable")},
    ),
    "glued": ("A (lovely) film, really!", {2: ("moving", "ugly"), 4: ("movie",), 6: ("truly",)}),
    "two in one": ("good/bad film", {0: ("fine", "Watchable"), 2: ("dull", "poor"), 3: ("movie",)}),
    "emoji": ("good🙂 film ❤️ yes", {0: ("fine",), 2: ("movie🎬",), 4: ("no",)}),
    "family emoji": ("the 👩‍👩‍👧 film", {0: ("a",), 2: ("movie",)}),
    "combining": ("cafe\u0301 \u0301film naïve", {0: ("bar",), 1: ("résume\u0301", "x")}),
    "zero width": ("good\u200bfilm \u200b warm", {0: ("fine",), 2: ("movie",), 4: ("dull",)}),
    "mask": ("a literal [MASK] or <mask> film", {0: ("the",), 1: ("plain",), 9: ("movie",)}),
    "special candidate": ("a good film", {1: ("[MASK]", "<mask>", "[UNK]", "fine"), 2: ("</s>",)}),
    "spaces": (
        "a good film here",
        {1: ("very fine", " fine", "fine ", "a  b"), 2: ("moving story",)},
    ),
    "odd gaps": ("  two\t\tmen \n play\xa0football \x1c here ", {0: ("3",), 2: ("watch",)}),
    "control": ("a\x00b film\x07 \x1bgood", {0: ("x",)}),
    "clitics": ("It 's n't we'll 've \"'tis\"", {0: ("He",), 2: ("not",), 5: ("was",)}),
    "cjk": ("好的 film 電影好", {0: ("壞",), 1: ("movie",)}),
    "surrogate candidate": ("a good film", {1: ("fi\ud800ne", "fine")}),
    "empty": ("", {}),
    "blank": (" \n ", {}),
    "no candidates": ("good film .", {}),
}
ENCODABLE = [name for name in CASES if name != "surrogate candidate"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("limit", [512, 7])
@pytest.mark.parametrize("case", ENCODABLE)
def test_rows_are_the_tokenizers(tokenizer: Any, family: str, limit: int, case: str) -> None:
    text, candidates = CASES[case]
    parsed = Text.parse(text)
    space = Space(parsed, {p: c for p, c in candidates.items() if p < len(parsed)})
    made = encoder(tokenizer, family, limit)
    table = table_of(space, made)
    rows = all_rows(space)
    assert joined(table, rows) == expected(made, space, rows)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("editable", ["first", "second", "both"])
@pytest.mark.parametrize("limit", [512, 12, 9, 8, 4])
def test_pairs_are_truncated_as_the_tokenizer_does(
    tokenizer: Any, family: str, editable: Any, limit: int
) -> None:
    made = encoder(tokenizer, family, limit)
    for premise, hypothesis in (
        ("Two men are playing football.", "Nobody watches"),
        ("film", "A warm, funny and moving story about people"),
        ("", "the film"),
        ("the long film never ends", ""),
    ):
        text = Text.pair(premise, hypothesis, editable=editable)
        spots = dict.fromkeys(range(0, len(text), 2), ("unwatchable", "it"))
        space = Space(text, spots)
        table = table_of(space, made)
        rows = all_rows(space)
        assert joined(table, rows) == expected(made, space, rows)
        longest = max(len(ids) for ids, _ in joined(table, rows))
        assert longest <= limit


_letters = st.sampled_from("aefilmnou XY19'.,!-()/\t’éñ🙂\u200b\u0301好")
_words = st.one_of(
    st.sampled_from(
        ["film", "Movie", "unwatchable", "it", "n't", "'s", "90", "!", "[MASK]", "a b"]
    ),
    st.text(_letters, min_size=1, max_size=5),
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_text_space_and_rows(tokenizer: Any, data: st.DataObject) -> None:
    family = data.draw(st.sampled_from(FAMILIES))
    made = encoder(tokenizer, family, data.draw(st.sampled_from([512, 11])))
    strings = st.lists(_words, max_size=7).map(" ".join) | st.text(_letters, max_size=20)
    text = Text.parse(data.draw(strings))
    if data.draw(st.booleans()):
        sides = st.sampled_from(["first", "second", "both"])
        text = Text.pair(data.draw(strings), data.draw(strings), editable=data.draw(sides))
    places = st.integers(0, max(0, len(text) - 1))
    picked = data.draw(st.dictionaries(places, st.lists(_words, max_size=3), max_size=5))
    space = Space(text, picked if len(text) else {})
    choices = [st.integers(-2, count) for count in space.counts]
    rows = data.draw(st.lists(st.tuples(*choices), min_size=1, max_size=5))
    table = table_of(space, made)
    array = np.array(rows, dtype=np.int16).reshape(len(rows), -1)
    found = joined(table, array)
    assert found == expected(made, space, rows)
    few = (array == DELETED).sum(axis=1) < 2
    if table.canon is not None and few.any():
        same = table.canon[np.arange(array.shape[1]), array[few]]
        assert joined(table, same) == [found[i] for i in np.flatnonzero(few)]
    whole = all(None not in o for side in table._editable for o in side.options.values())
    if table.exact_pieces and whole and not any(side.glued for side in table._editable):
        assert table.tokens(array) >= max(len(ids) for ids, _ in found)


@pytest.mark.parametrize("family", ["uncased", "cased", "bytes", "metaspace"])
def test_ordinary_texts_take_the_fast_path(tokenizer: Any, family: str) -> None:
    for case in ("plain", "glued", "two in one", "spaces", "no candidates", "empty"):
        text, candidates = CASES[case]
        assert table_of(Space(text, candidates), encoder(tokenizer, family)).exact_pieces, case


def test_what_cannot_be_cut_alone_is_spelled_out(tokenizer: Any) -> None:
    bert, crossing = encoder(tokenizer, "uncased"), encoder(tokenizer, "unsplit")
    assert not table_of(Space("a [MASK] film", {0: ("the",)}), bert).exact_pieces
    assert not table_of(Space("two\x1cmen play", {0: ("3",)}), bert).exact_pieces
    assert not table_of(Space("half \ud800 here", {0: ("all",)}), bert).exact_pieces
    assert not table_of(Space("a film", {0: ("the",)}), crossing).exact_pieces
    # One odd candidate does not spoil the others.
    table = table_of(Space(*CASES["surrogate candidate"]), bert)
    assert table.exact_pieces
    assert joined(table, [[2]]) == expected(bert, table.space, [[2]])


def test_candidates_with_the_same_ids_are_one_choice(tokenizer: Any) -> None:
    space = Space("a iPhone film", {1: ("iphone", "Movie", "moVie", "好")})
    table = table_of(space, encoder(tokenizer, "uncased"))
    assert table.canon is not None
    first, iphone, movie, again, odd = table.canon[0, :5].tolist()
    assert (first, iphone, movie, again, odd) == (0, 0, 2, 2, 4)
    assert table.canon[0, UNKNOWN] == 4  # 好 is unknown to this vocabulary
    assert table.canon[0, DELETED] == DELETED
    both = Space("a xY film", {1: ("It", "it")})
    cased = table_of(both, encoder(tokenizer, "cased")).canon
    assert cased is not None  # xY itself is unknown
    assert cased[0].tolist() == [0, 1, 2, DELETED, 0]
    uncased = table_of(both, encoder(tokenizer, "uncased")).canon
    assert uncased is not None
    assert uncased[0, 2] == 1


def test_words_that_are_always_cut_off_have_one_choice(tokenizer: Any) -> None:
    made = encoder(tokenizer, "uncased", 7)
    space = Space("the film is a film is a film is a film", {1: ("movie",), 10: ("movie",)})
    table = table_of(space, made)
    assert table.canon is not None
    assert table.canon[:, 1].tolist() == [1, 0]
    assert joined(table, [[0, 1]]) == joined(table, [[0, 0]])


def test_tokens_is_the_longest_row(tokenizer: Any) -> None:
    made = encoder(tokenizer, "uncased")
    space = Space("the film is warm .", {1: ("unwatchable", "story"), 3: ("dull", "xyzzy")})
    table = table_of(space, made)
    for rows in ([[0, 0]], [[1, 0]], [[0, 2], [1, 1]], [[UNKNOWN, 0]], [[DELETED, DELETED]]):
        array = np.array(rows, dtype=np.int16)
        assert table.tokens(array) == max(len(ids) for ids, _ in expected(made, space, rows))


def test_open_copies_may_have_columns_out_of_order(tokenizer: Any) -> None:
    made = encoder(tokenizer, "uncased")
    space = Space("the film is warm .", {3: ("dull",)}).open([1])
    space.extend(1, ["movie", "story"])
    assert space.positions == (3, 1)
    table = table_of(space, made)
    rows = [[1, 2], [0, 1], [1, 0], [UNKNOWN, 2], [1, DELETED]]
    assert joined(table, rows) == expected(made, space, rows)


@pytest.mark.parametrize("together", [True, False])
def test_units_may_be_forgotten_while_spaces_are_laid_out(
    tokenizer: Any, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unfooled.victims.units._MOST", 6)
    made = Encoder(tokenizer("uncased", 512), limit=512)
    spaces = [
        Space(f"{start} people don't give up.\n", {1: ("men",), 2: ("do",), 3: ("not",), 5: ("!",)})
        for start in ("the", "two", "funny")
    ]
    tables = token_tables(spaces, made)() if together else [table_of(s, made) for s in spaces]
    for space, table in zip(spaces, tables, strict=True):
        assert table.exact_pieces
        rows = all_rows(space)
        assert joined(table, rows) == expected(made, space, np.array(rows, dtype=np.int16))
