"""Every malformed row is named by its line and column."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled import tables
from unfooled.errors import InputError, MissingExtra

CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def cells(path: Path) -> list[dict]:
    return [row.cells for row in tables.read(path)]


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_csv_reads_what_the_csv_module_wrote(tmp_path_factory, pairs) -> None:
    path = tmp_path_factory.mktemp("t") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([("text", "label"), *pairs])
    assert [(c["text"], c["label"]) for c in cells(path)] == pairs


@given(st.lists(st.dictionaries(CELL, CELL, min_size=1), min_size=1, max_size=5), st.booleans())
def test_jsonl_reads_what_json_wrote(tmp_path_factory, rows, ascii_only: bool) -> None:
    lines = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    path = written(tmp_path_factory.mktemp("t"), "a.jsonl", lines)
    assert cells(path) == rows


def test_tsv_takes_quotation_marks_as_letters(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'text\tlabel\n"oh" he said\t1\na " b\t0\n')
    assert cells(path) == [{"text": '"oh" he said', "label": "1"}, {"text": 'a " b', "label": "0"}]


@pytest.mark.parametrize("suffix", ["csv", "CSV"])
def test_bom_crlf_and_blank_lines(tmp_path: Path, suffix: str) -> None:
    content = b"\xef\xbb\xbftext,label\r\na,1\r\n\r\nb,0\r\n"
    rows = tables.read(written(tmp_path, f"a.{suffix}", content))
    assert [(row.cells, row.line) for row in rows] == [
        ({"text": "a", "label": "1"}, 2), ({"text": "b", "label": "0"}, 4)
    ]  # fmt: skip
    rows = tables.read(written(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\r\n'))
    assert [(row.cells, row.line) for row in rows] == [({"a": 1}, 1), ({"a": 2}, 3)]


def test_lines_are_counted_through_quoted_newlines(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'text,label\n"one\ntwo",1\nthree,0\n')
    rows = tables.read(path)
    assert [row.line for row in rows] == [2, 4]
    assert rows[1].where("label") == "a.csv, line 4, column 'label'"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "text,label\nfine,1\nshort\n", "a.csv, line 3, column 'label': missing"),
        (
            "a.csv",
            "text,label\nwell, then,1\n",
            "a.csv, line 2, after column 'label': the row has 3",
        ),
        (
            "a.csv",
            'text,label\n"open,1\n',
            "a.csv, line 2: a quotation mark opens a field that is never closed",
        ),
        (
            "a.csv",
            "text;label\na;0\n",
            "a.csv, line 1: there is one column only, 'text;label': save the",
        ),
        ("a.csv", "text\tlabel\na\t0\n", "or with tabs as .tsv"),
        ("a.csv", "text,text\na,b\n", "a.csv, line 1: the column 'text' occurs twice"),
        ("a.tsv", "text\tlabel\na b\n", "a.tsv, line 2, column 'label': missing"),
        ("a.csv", b"text,label\nok,1\ncaf\xe9,0\n", "a.csv, line 3, byte 4: not UTF-8"),
        ("a.csv", b"\xef\xbb\xbfte\xe9", "a.csv, line 1, byte 6: not UTF-8"),
        ("a.jsonl", '{"text": "a"}\n{"text": }\n', "a.jsonl, line 2, character 10: broken JSON"),
        ("a.jsonl", '{"a": 1}\n[1]\n', "a.jsonl, line 2: expected a JSON object, not [1]"),
        ("a.jsonl", "", "the file has no rows"),
        ("a.csv", "", "the file has no rows"),
        ("a.csv", "text,label\n", "the file has no rows"),
        ("a.parquet", "no parquet", "not a readable Parquet file"),
        ("a.txt", "text", "expected a file ending in .csv, .tsv, .jsonl, .parquet"),
    ],
)
def test_malformed_files(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(InputError) as caught:
        tables.read(written(tmp_path, name, content))
    assert message in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        tables.read(tmp_path / "a.csv")


def test_long_fields_are_read_and_the_limit_is_put_back(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = written(tmp_path, "a.csv", "text,label\n" + "x" * 200_000 + ",1\n")
    assert len(cells(path)[0]["text"]) == 200_000
    assert csv.field_size_limit() == before


def test_parquet_rows(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": ["a", "b"], "label": [1, 0]}), tmp_path / "a.parquet")
    rows = tables.read(tmp_path / "a.parquet")
    assert [row.cells for row in rows] == [{"text": "a", "label": 1}, {"text": "b", "label": 0}]
    assert rows[1].where("label") == "a.parquet, row 2, column 'label'"


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"unfooled\[data\]"):
        tables.read(written(tmp_path, "a.parquet", "x"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(InputError, match=r"a\.csv: this is a folder"):
        tables.read(tmp_path / "a.csv")
