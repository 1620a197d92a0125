"""Exports: round trips of any text in three formats, and no cell that a spreadsheet would run."""

from __future__ import annotations

import builtins
import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from unfooled import data, exports, tables
from unfooled.errors import InputError, MissingExtra
from unfooled.outcomes import Outcome, changed
from unfooled.text import Text

LABELS = ("neg", "pos")
FORMATS = (".csv", ".jsonl", ".parquet")
FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "＝1",
    "'=1",
    "''-",
    "- x",
)
PLAIN = ("", "'", "'tis", "a = b", "1-1", '"quoted", and;more', "two\nlines", "a\r\nb", "''tis")


def fooled(source: Any, *swaps: tuple[int, str], id: str = "t:0", **more: Any) -> Outcome:
    text = Text.pair(*source, **more) if isinstance(source, tuple) else Text.parse(source)
    changes = tuple((p, text.words[p], new) for p, new in swaps)
    final = changed(text, changes)
    return Outcome(id, "success", text, 1, final, changes, 7, 5, (0.9, 0.1))


FOUND = [
    fooled("- a good film", (2, "fine"), id="t:1"),
    Outcome("t:2", "failed", Text.parse("a dull film"), 0, scores=(1.0, 0.0)),
    fooled('so "good", =really', (2, "bad")),
]


def test_the_columns_by_hand() -> None:
    first, second = exports.rows(FOUND, labels=LABELS)
    assert first == {
        "id": "t:1",
        "label": "pos",
        "predicted": "neg",
        "original": "- a good film",
        "adversarial": "- a fine film",
        "swaps": 1,
        "rate": 1 / 4,
        "queries": 7,
        "changes": [[2, "good", "fine"]],
    }
    assert second["adversarial"] == 'so "bad", =really'


def test_pairs_have_columns_for_each_side() -> None:
    [row] = exports.rows([fooled(("he naps", "it rests"), (1, "sleeps"))], labels=LABELS)
    assert list(row) == [
        "id", "label", "predicted", "original_premise", "original_hypothesis",
        "adversarial_premise", "adversarial_hypothesis", "swaps", "rate", "queries", "changes",
    ]  # fmt: skip
    assert (row["original_hypothesis"], row["adversarial_hypothesis"]) == ("it rests", "it sleeps")
    assert row["original_premise"] == row["adversarial_premise"] == "he naps"


@pytest.mark.parametrize("ending", FORMATS)
def test_what_was_written_is_read(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    found = exports.rows(FOUND, labels=LABELS)
    path = exports.write(tmp_path / "new" / f"fooled{ending}", found)
    assert exports.read(path) == found


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [*FORMULAS, *PLAIN]
)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), st.sampled_from(FORMATS))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back(
    tmp_path: Path, texts: list[tuple[str, str, str]], ending: str
) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    found = [
        {
            "id": id, "label": id or "pos", "predicted": "neg", "original": old,
            "adversarial": new, "swaps": 1, "rate": 1 / 3, "queries": 5, "changes": [[0, old, new]],
        }
        for id, old, new in texts
    ]  # fmt: skip
    assert exports.read(exports.write(tmp_path / f"x{ending}", found)) == found


@given(TEXTS | st.text(";\t\r\n'= a", max_size=9))
@example("'")
@example("; \t=")
def test_guards_come_off_and_leave_nothing_to_run(cell: str) -> None:
    safe = exports.guarded(cell)
    assert exports.unguarded(safe) == cell
    assert not safe.startswith(("\t", "\r", "\n"))
    for part in re.split("[;\t\r\n]", safe):
        assert not part.lstrip().startswith(("=", "+", "-", "@", "＝"))
    assert safe.replace("'", "") == cell.replace("'", "")


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_are_guarded(cell: str) -> None:
    assert exports.guarded(cell) in ("'" + cell, f"'{cell[0]}'{cell[1:]}")


def test_nor_is_there_a_formula_where_cells_are_parted_at_semicolons(tmp_path: Path) -> None:
    found = [fooled(f"good; {sign} ;film", (0, "x;=2")) for sign in FORMULAS]
    path = exports.write(tmp_path / "x.csv", exports.rows(found, labels=LABELS))
    lines = re.split("[\r\n]", path.read_text(encoding="utf-8-sig"))
    cells = [cell.strip() for line in lines for cell in re.split("[;\t]", line)]
    assert len(cells) > 4 * len(FORMULAS)
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "＝")]
    assert exports.read(path) == exports.rows(found, labels=LABELS)


@pytest.mark.parametrize("cell", PLAIN)
def test_what_is_no_formula_stays(cell: str) -> None:
    assert exports.guarded(cell) == cell


def test_no_cell_of_the_file_begins_a_formula(tmp_path: Path) -> None:
    found = [fooled(f"{sign} good film", (len(Text.parse(sign)), "x")) for sign in FORMULAS]
    path = exports.write(tmp_path / "x.csv", exports.rows(found, labels=["=neg", "@pos"]))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")  # or a spreadsheet may not see UTF-8
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in list(csv.reader(file))[1:] for cell in row]
    assert len(cells) == 9 * len(FORMULAS)
    assert not [cell for cell in cells if cell.strip()[:1] in ("=", "+", "-", "@", "＝")]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("column", ["original", "adversarial"])
def test_an_export_is_data_again(tmp_path: Path, ending: str, column: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = exports.write(tmp_path / f"x{ending}", exports.rows(FOUND, labels=LABELS))
    loaded = data.load(path, text_column=column, labels=LABELS)
    expected = [row[column] for row in exports.rows(FOUND, labels=LABELS)]
    if ending == ".csv":
        expected = list(map(exports.guarded, expected))  # the guard is part of the cell
    assert [str(e.text) for e in loaded] == expected
    assert [e.label for e in loaded] == [1, 1]


def test_exported_pairs_are_data_again(tmp_path: Path) -> None:
    found = exports.rows([fooled(("he naps", "it rests"), (1, "sleeps"))], labels=LABELS)
    path = exports.write(tmp_path / "x.csv", found)
    [loaded] = data.load(path, text_column="adversarial_premise,adversarial_hypothesis")
    assert loaded.text.source == ("he naps", "it sleeps")


@pytest.mark.parametrize("ending", FORMATS)
def test_nothing_broken_is_a_table_without_rows(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = exports.write(tmp_path / f"x{ending}", [])
    with pytest.raises(InputError, match="the file has no rows"):
        tables.read(path)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_half_a_character_is_told_and_fits_into_json(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    found = exports.rows([fooled("half \ud83d a good film", (3, "fine"))], labels=LABELS)
    with pytest.raises(InputError, match="half a character"):
        exports.write(tmp_path / f"x{ending}", found)
    assert exports.read(exports.write(tmp_path / "x.jsonl", found)) == found


def test_json_lines_are_one_object_each(tmp_path: Path) -> None:
    path = exports.write(tmp_path / "x.jsonl", exports.rows(FOUND, labels=LABELS))
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["t:1", "t:0"]


def test_wrong_files_are_told(tmp_path: Path) -> None:
    found = exports.rows(FOUND, labels=LABELS)
    with pytest.raises(InputError, match=r"expected a file ending in \.csv, \.jsonl, \.parquet"):
        exports.write(tmp_path / "x.xlsx", found)
    with pytest.raises(InputError, match="expected a file ending in"):
        exports.read(tmp_path / "x.tsv")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        exports.write(tmp_path / "file" / "x.csv", found)
    pairs = exports.rows([fooled(("he naps", "it rests"), (1, "sleeps"))], labels=LABELS)
    with pytest.raises(InputError, match="do not go into one table"):
        exports.write(tmp_path / "x.csv", [*found, *pairs])


def test_parquet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"unfooled\[data\]"):
        exports.write(tmp_path / "x.parquet", exports.rows(FOUND, labels=LABELS))
