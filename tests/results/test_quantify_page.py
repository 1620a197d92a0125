"""The result page against figures worked out by hand from five texts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import unfooled as uf
from results import quantify_page
from results.markdown import table
from results.quantify_page import Found, page
from runner_toys import DATA, TABLE, victim


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The runs of a toy victim under the name of a cell; three of its four texts can be fooled."""
    folder = tmp_path_factory.mktemp("quantify") / "mr-bilstm"
    texts = [example for example in DATA if example[0] != "some plain film"]
    for name in ("greedy", "pdp"):
        uf.attack(name, victim(), texts, candidates=TABLE, out=folder / name)
    uf.audit(victim(), texts, candidates=TABLE, radius=4, out=folder / "audit")
    uf.estimate(victim(), texts, candidates=TABLE, rate=0.5, out=folder / "pr")
    facts = {"length": [3.2, 3, 4], "train": 6805, "test": 885, "accuracy": 0.776}
    (folder / "data.json").write_text(json.dumps(facts))
    return Found(folder)


def test_swaps_are_those_of_the_outcomes(cell: Found) -> None:
    wanted = [(1, 3), (1, 3), (2, 4), (math.inf, 3)]
    for name in ("greedy", "pdp", "paper"):
        assert sorted(cell.swaps[name]) == sorted(wanted)


def test_the_page_has_every_table_beside_the_papers_numbers(cell: Found) -> None:
    text = page([cell])
    for line in (
        "| MR | BiLSTM | 3 (3/4) | 6,805 | 885 | 77.60 | 82.47 |",
        "| MR | BiLSTM | PDP, tightened | 4 | 3 (75.00 %) | 0 | 38.89 | 1.33 |",  # (1/3 + 1/3 + 2/4) / 3
        "| MR | BiLSTM | *the paper's PDP, BiLSTM* | 880 | 655 (74.43 %) | 33 | 10.44 | – |",
    ):
        assert line in text
    lines = [row for row in text.splitlines() if row.startswith("| MR | BiLSTM | 4 | 20,000 |")]
    shares = [[row.split(" | ")[i] for i in (5, 7, 9, 10)] for row in lines]
    # found, certified, unknown, the paper's found
    assert shares[:2] == [["50.00", "50.00", "0.00", "36.00"], ["75.00", "25.00", "0.00", "58.00"]]


def test_a_win_needs_a_rival_that_fools_the_text_too() -> None:
    toy = Found(Path("mr-bilstm"))
    few, many, none = (1.0, 5), (2.0, 5), (math.inf, 5)
    toy.__dict__["swaps"] = {
        "greedy": [many, none, few],
        "pdp": [few, few, few],
        "paper": [few, many, few],
    }
    assert [quantify_page._wins(toy, name) for name in toy.swaps] == [0, 1, 1]


def test_the_figures_are_written(
    cell: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantify_page, "PAGE", tmp_path / "quantify.md")
    quantify_page.write([cell.folder, tmp_path / "imdb-bilstm"])  # the second is not there yet
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "quantify-pr.svg", "quantify-survival.svg", "quantify.md",
    ]  # fmt: skip
    assert "<svg" in (tmp_path / "quantify-pr.svg").read_text()


def test_a_table_has_a_head_a_rule_and_rows() -> None:
    assert table(("a", "b"), [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
