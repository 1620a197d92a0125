"""The page of exact results against figures worked out by hand from five texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unfooled as uf
from results import exact_page
from results.exact_page import Figures, page
from results.exact_runs import measured
from runner_toys import DATA, TABLE, victim


@pytest.fixture(scope="module")
def cell() -> Figures:
    """The figures of a toy victim under the name of a cell, as its file has them: m is 1, 1, 2, one
    text is a tie, one cannot be fooled."""
    attacks = ("textfooler", "pdp")
    audit = uf.audit(victim(), DATA, candidates=TABLE, radius=2, attacks=attacks)
    about = {"cell": "mr-mlp", "device": "cpu", "budget": 20_000, "time_limit": 10.0}
    found: Figures = json.loads(json.dumps({**about, **measured(audit)}))
    return found


def columns(text: str, start: str) -> list[list[str]]:
    rows = [row for row in text.splitlines() if row.startswith(start)]
    return [[part.strip() for part in row.strip("|").split("|")] for row in rows]


def test_figures_stand_beside_the_papers(cell: Figures) -> None:
    text = page([cell])
    (row,) = columns(text, "| MR | 5 |")
    # One text is an exact tie from the start: it may have either label.
    assert row[2:7] == ["0.800", "0.200", "0.200 to 0.400", "1.33", "100.0 %"]
    assert row[8:] == ["SST-2", "0.838", "0.280", "0.280", "1.99"]
    assert "Nothing: every text was decided." in text
    (row,) = columns(text, "| MR | 3 |")
    assert row[2:8] == ["3", "0", "0", "0", "0", "0.00"]  # TextFooler needs no more than the least
    assert row[8:] == ["2", "1", "0", "0", "0", "0"]


def test_every_radius_has_a_row_and_every_certifier_its_due(cell: Figures) -> None:
    text = page([cell])
    first, second = columns(text, "| MR | MLP | 4 |")
    assert [first[i] for i in (4, 5, 6, 8, 10)] == ["100.0 %", "1", "50.00", "50.00", "0.00"]
    assert [second[i] for i in (5, 6, 8, 10)] == ["2", "75.00", "25.00", "0.00"]
    assert "so long for a text: 10 s (MR MLP)." in text
    (row,) = columns(text, "| MR | MLP | exhaustive |")
    assert row[3:6] == ["2", "2", "2"]


def test_the_page_is_made_of_the_files_that_are_there(
    cell: Figures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_page, "PAGE", tmp_path / "docs" / "exact.md")
    (tmp_path / "mr-mlp.json").write_text(json.dumps(cell))
    text = exact_page.write(["mr-mlp", "imdb-mlp"], alone=[], figures=tmp_path).read_text()
    assert text == page([cell])
    assert "| MR | 5 |" in text
    assert "| IMDB |" not in text


def test_a_device_that_is_no_cpu_is_named(cell: Figures) -> None:
    assert columns(page([{**cell, "device": "NVIDIA H200"}]), "| MR | MLP, NVIDIA H200 | 4 |")
