"""Tables, sememe tables, mappings and functions as sources."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from unfooled.candidates import explain, load
from unfooled.candidates.sememes import Sememes
from unfooled.candidates.table import Table
from unfooled.errors import InputError
from unfooled.text import Text

TEXT = Text.parse("A Film and a film .")


def test_json_and_tsv_agree(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"film": ["movie", "pic", "movie", "film"]}))
    (tmp_path / "t.tsv").write_text("film\tmovie\nfilm\tpic\n\n")
    for name in ("t.json", "t.tsv"):
        found = Table(str(tmp_path / name))(TEXT)
        assert {p: [w for w in words if w != "film"] for p, words in found.items()} == {
            1: ["movie", "pic"],
            4: ["movie", "pic"],
        }


def test_the_first_k(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("film\tmovie\tpic\n")
    source = Table(str(tmp_path / "t.tsv"), k=1)
    assert source(TEXT)[4] == ("movie",)
    rows = explain(source, TEXT)
    assert rows[4].candidates[1].rejected == "not among the best 1"
    assert (rows[0].reason, rows[5].reason) == ("not in the table", "punctuation")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("t.tsv", "film\tmovie\nlonely\n", "line 2 must be a word, a tab"),
        ("t.tsv", "film\t\tmovie\n", "line 1 must be a word, a tab"),
        ("t.json", "{", "is not JSON"),
        ("t.json", "[1]", "must be a JSON object"),
        ("t.json", '{"film": "movie"}', "'film' needs a list of words"),
    ],
)
def test_a_bad_table_is_named(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=complaint):
        Table(str(path))(TEXT)


PLAIN = {"t.json": json.dumps({"film": ["movie", "pic"]}), "t.tsv": "film\tmovie\tpic\n"}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("ending", [".gz", ".GZ"])
def test_a_compressed_table_is_the_same(tmp_path: Path, name: str, ending: str) -> None:
    (tmp_path / name).write_text(PLAIN[name])
    packed = tmp_path / f"{name}{ending}"
    packed.write_bytes(gzip.compress(PLAIN[name].encode()))
    assert load(f"table:{packed}")(TEXT) == Table(str(tmp_path / name))(TEXT) != {}


@pytest.mark.parametrize("damage", ["cut", "flipped", "plain", "empty", "trailing"])
def test_a_damaged_compressed_table_is_named(tmp_path: Path, damage: str) -> None:
    whole = gzip.compress(PLAIN["t.tsv"].encode() * 50, mtime=0)
    content = {
        "cut": whole[:-9],
        "flipped": whole[:20] + bytes([whole[20] ^ 0xFF]) + whole[21:],
        "plain": PLAIN["t.tsv"].encode(),
        "empty": b"",
        "trailing": whole + b"rest",
    }[damage]
    path = tmp_path / "t.tsv.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"the table .*t\.tsv\.gz is no whole gzip file"):
        Table(str(path))(TEXT)


def test_a_mapping() -> None:
    source = load({"film": ["movie"], "Film": ["Flick"]})
    assert source(TEXT) == {1: ("Flick",), 4: ("movie",)}
    reordered = load({"Film": ("Flick",), "film": ("movie",)})
    assert source.fingerprint == reordered.fingerprint
    assert source.fingerprint != load({"film": ["movie"]}).fingerprint


def test_a_mapping_of_positions_belongs_to_space() -> None:
    with pytest.raises(InputError, match="positions and their candidates go straight into Space"):
        load({1: ("movie",)})


def _swaps(text: Text, by: str = "movie") -> Mapping[int, Sequence[str]]:
    return {i: [by, word] for i, word in enumerate(text.words) if word == "film"}


def test_a_function() -> None:
    source = load(_swaps)
    assert source(TEXT) == {4: ("movie",)}
    assert explain(source, TEXT)[0].reason == "none given"
    assert source.fingerprint == load(_swaps).fingerprint


def test_functions_with_other_code_or_captured_values_differ() -> None:
    made = [lambda t, by=by: {0: [by]} for by in ("x", "y")]
    others = [functools.partial(_swaps, by=by) for by in ("x", "y")]
    prints = [load(f).fingerprint for f in (_swaps, lambda t: {}, *made, *others)]
    assert len(set(prints)) == len(prints)


def test_a_function_may_name_its_own_fingerprint() -> None:
    def other(text: Text) -> dict[int, list[str]]:
        return {}

    other.fingerprint = "abc"  # type: ignore[attr-defined]
    assert load(other).fingerprint == "abc"


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ([1], "must return {position: candidates}"),
        ({9: ["x"]}, "gave position 9 for 6 words"),
        ({0: "word"}, "where words were expected"),
        ({0: [3]}, "where words were expected"),
    ],
)
def test_a_function_that_answers_nonsense(answer: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        load(lambda text: answer)(TEXT)


def test_sememes_in_the_form_of_the_word(tiny: dict[str, str], tmp_path: Path) -> None:
    table = {
        "film": {"noun": [["shows", "artwork"]]},
        "movie": {"noun": [["artwork", "shows"]]},
        "picture": {"noun": [["artwork", "shows"], ["image"]]},
        "find": {"verb": [["look", "get"]]},
        "discover": {"verb": [["get", "look"]]},
        "celluloid": {"adj": [["artwork", "shows"]]},
    }
    path = tmp_path / "sememes.json"
    path.write_text(json.dumps(table))
    source = Sememes(str(path), **tiny)
    found = source(Text.parse("the films found a film"))
    assert found == {1: ("movies", "pictures"), 2: ("discovered",), 4: ("movie", "picture")}
    assert Sememes(str(path), k=1, **tiny)(Text.parse("film")) == {0: ("movie",)}
    assert source.fingerprint != Sememes(str(path), k=1, **tiny).fingerprint
    assert set(source.resources()) == {"file", "wordnet", "tagger", "vectors", "stopwords"}
