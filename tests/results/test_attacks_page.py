"""The page of attacks against figures worked out by hand, from files that a toy run wrote."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

import unfooled as uf
from results import (
    attack_runs,
    attacks,
    attacks_figures,
    attacks_page,
    attacks_papers,
    attacks_tables,
    mcts_runs,
)
from results.attack_runs import Cell, Subject, each, written
from results.attacks_page import Found
from runner_toys import DATA, TABLE, victim
from unfooled.space import Space
from unfooled.text import Example, Text

ROBUST = {  # a run of 10 texts, 8 of them right, 6 of those fooled
    "texts": 10, "errors": 0, "clean_accuracy": 0.8, "success_rate": 0.75, "accuracy_under_attack": 0.2,
    "mean_queries": 12.34, "mean_forwards": 11.0, "candidates_per_word": 2.5,
    "words": {
        "swaps": 7,
        "original_words": {"median_occurrences": 20.0, "most_frequent_in_true_class": 0.5},
        "attack_words": {"median_occurrences": 3.0, "most_frequent_in_true_class": 0.25},
    },
}  # fmt: skip
FACTS = {"texts": 10, "train": 4000, "test": 7600, "mean_words": 44.2, "accuracy": 0.901}


def found(experiment: str, data: str, model: str, runs: dict[str, object]) -> Found:
    return Found(Cell(experiment, data, model, 10), {**FACTS, "runs": runs})


def pdp_cell() -> Found:
    words = [4, 5, 10, 8]
    swaps = {"sem-pso": [2, None, 3, 1], "textfooler": [2, 1, None, None], "pdp": [1, 1, 2, None]}
    runs = {
        name: {"mean_queries": 9.0, "each": {"words": words, "swaps": s, "first": s}}
        for name, s in swaps.items()
    }
    runs["pdp"]["each"] = {"words": words, "swaps": swaps["pdp"], "first": [1, 1, 3, None]}
    return found("pdp", "imdb", "bilstm", runs)


@pytest.mark.parametrize(("part", "whole"), [(0, 7), (6, 8), (8, 8), (39, 40)])
def test_a_share_has_the_exact_binomial_interval(part: int, whole: int) -> None:
    exact = binomtest(part, whole).proportion_ci(0.95, method="exact")
    wanted = f"{100 * part / whole:.1f} ({100 * exact.low:.0f}–{100 * exact.high:.0f})"
    assert attacks_tables.share(part, whole) == wanted


def test_a_share_of_nothing_is_none() -> None:
    assert attacks_tables.share(0, 0) == "–"
    assert attacks_tables.success({"success_rate": None}) == "–"
    assert attacks_tables.success(None) == "–"


def test_success_rates_stand_above_the_papers() -> None:
    runs = {"textfooler": ROBUST, "bae": {**ROBUST, "success_rate": 0.0}}
    text = attacks_tables.robust([found("robust", "ag_news", "minilm", runs)])
    assert (
        "| AG News | MiniLM | 90.10 | 8 | 75.0 (35–97) | – | – | 0.0 (0–37) | – | – | – |" in text
    )
    theirs = "| 84.99 | 64.95 | 79.43 | 14.27 | 16.38 | 20.72 | 0.32 |"
    assert f"| AG News | *the paper's BERT* | 94.57 | about 1,000 {theirs}" in text


def test_data_that_the_paper_has_not_gets_no_row_of_it() -> None:
    cell = found("robust", "r8", "bilstm", {"tf-cv50": ROBUST})
    assert "paper" not in attacks_tables.adjusted([cell])
    assert "| R8 | BiLSTM | 2.5 |" in attacks_tables.choice(
        [found("robust", "r8", "bilstm", {"textfooler": ROBUST})]
    )


def test_the_words_and_the_baselines() -> None:
    cell = found("robust", "yelp", "bilstm", {"textfooler": ROBUST})
    assert "| Yelp | BiLSTM | TextFooler | 7 | 20 | 50.00 | 3 | 25.00 |" in attacks_tables.words(
        [cell]
    )
    text = attacks_tables.defender([found("defender", "imdb", "minilm", {"textfooler": ROBUST})])
    assert (
        "| IMDB | MiniLM | 10 | TextFooler | 80.0 | 20.0 (3–56) | 75.0 (35–97) | 12.3 | 11.0 |"
        in text
    )
    assert "| *the paper's BERT* | – | TextFooler | 92.1 | 10.3 | 88.8 | 488.2 | – |" in text


def test_the_tables_of_mcts() -> None:
    one = {**ROBUST, "seconds_per_text": 1.5, "swappable_words": 0.125, "distance_mean": 0.4,
           "distance_deviation": 0.05}  # fmt: skip
    cell = found("mcts", "mr", "lstm", {"single": one, "within-2": ROBUST, "words-3": ROBUST})
    assert (
        "| MR | LSTM | 8 | 1.50 | 75.0 (35–97) | 12.5 | 0.400 ± 0.050 |"
        in attacks_tables.single([cell])
    )
    assert "| MR | LSTM | 75.0 (35–97) | – | – | 75.0 | – | – |" in attacks_tables.several([cell])


def test_wins_need_a_rival_that_fools_the_text_too() -> None:
    swaps = pdp_cell().swaps
    # Text 1: 1 against 2 and 2. Text 2: a tie. Text 3: 2 (or 3, the paper's) against 3. Text 4: alone.
    assert attacks_tables.wins(swaps, "pdp") == 2
    assert attacks_tables.wins(swaps, "paper") == 1
    assert attacks_tables.wins(swaps, "sem-pso") == 0
    text = attacks_tables.pdp([pdp_cell()])
    # (1/4 + 1/5 + 2/10) / 3
    assert "| IMDB | BiLSTM | PDP, tightened | 4 | 3 (75.00 %) | 2 | 21.67 | 1.33 | 9 |" in text
    assert "| *PDP, the paper's BiLSTM* | 1000 | 989 (98.90 %) | 599 | 3.11 | – | – |" in text


def test_the_page_is_written_from_files_and_names_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attacks_page, "PAGE", tmp_path / "docs" / "attacks.md")
    cells = [pdp_cell().cell, Cell("robust", "r8", "bilstm", 10), Cell("mcts", "mr", "lstm", 10)]
    (tmp_path / f"{cells[0].name}.json").write_text(written(dict(pdp_cell().known)))
    robust = {**FACTS, "runs": {"pwws": ROBUST}}
    (tmp_path / f"{cells[1].name}.json").write_text(json.dumps(robust))
    text = attacks_page.write(cells, figures=tmp_path).read_text()
    assert "attacks-scatter.svg" in text
    assert "`mcts-mr-lstm`, `robust-r8-bilstm` (textfooler, bert-attack" in text
    assert "## Assessing" not in text  # of which there are no figures
    made = sorted(path.name for path in (tmp_path / "docs").iterdir())
    assert made == ["attacks-scatter.svg", "attacks-survival.svg", "attacks.md"]


def test_figures_are_a_line_for_each_run_and_read_back() -> None:
    known = {"cell": "a", "seed": 0, "runs": {"one": {"x": 1}, "two": {"x": [1, None]}}}
    text = written(known)
    assert json.loads(text) == known
    assert [line.strip()[:5] for line in text.splitlines() if "x" in line] == ['"one"', '"two"']


def test_a_cell_is_made_once_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A toy victim stands in for the models; the second call finds all figures there."""
    texts = list(uf.data.load(DATA[:3], labels=victim().labels))
    calls: list[str] = []

    def attack(
        self: Subject, run: str, name: str, examples: list[Example], **how: object
    ) -> object:
        calls.append(run)
        how = {"candidates": TABLE, "out": self.cell.folder(run)}
        return uf.attack(name, self.victim, examples[: self.cell.texts], **how)

    cell = Cell("pdp", "mr", "bilstm", 3)
    monkeypatch.setattr(attack_runs, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(Subject, "attack", attack)
    monkeypatch.setattr(attack_runs, "_subject", lambda c, d: Subject(c, victim(), texts, texts, d))
    monkeypatch.setattr(attack_runs, "_data", lambda c, v: {"accuracy": 1.0})
    attack_runs.make(cell, figures=tmp_path)
    attack_runs.make(cell, figures=tmp_path)
    assert calls == ["sem-pso", "textfooler", "pdp"]
    known = json.loads((tmp_path / "pdp-mr-bilstm.json").read_text())
    assert known["command"] == "python -m results.attacks --cells pdp-mr-bilstm"
    outcomes = uf.attack("pdp", victim(), texts, candidates=TABLE)
    assert known["runs"]["pdp"]["each"] == each(outcomes)
    assert known["runs"]["pdp"]["success_rate"] == outcomes.summary()["success_rate"]
    attack_runs.make(Cell("pdp", "mr", "bilstm", 2), figures=tmp_path)  # another size: made anew
    assert len(calls) == 6


def test_a_text_is_cut_to_its_first_words() -> None:
    text = Text.parse("One, two three.")
    assert str(mcts_runs.shortened(text, 3)) == "One, two"  # the comma is a word
    assert mcts_runs.shortened(text, 9) is text


def test_a_restricted_space_has_only_the_drawn_words() -> None:
    space = Space("a good , short film", {1: ("fine",), 3: ("brief",), 4: ("movie",)})
    seen = set()
    for seed in range(200):
        some = mcts_runs.restricted(space, 2, rng=np.random.default_rng(seed))
        seen.add(some.positions)
        assert all(space.candidates[space.positions.index(p)] for p in some.positions)
    # pairs of the four words, of which "a" has no candidates
    assert seen == {(1,), (3,), (4,), (1, 3), (1, 4), (3, 4)}


def test_the_closest_fooling_swap_of_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = {"fine": 0.5, "great": 0.3, "movie": 0.7, "odd": math.inf}
    monkeypatch.setattr(mcts_runs, "Distances", lambda name: lambda old, new: apart[new])
    text = Text.parse("a good film .")
    outcome = uf.Outcome(
        "1", "success", text, 0, text=text, changes=((1, "good", "fine"),),
        others=(((1, "good", "great"),), ((2, "film", "movie"),), ((0, "a", "odd"),)),
    )  # fmt: skip
    failed = uf.Outcome("2", "failed", text, 0)
    figures = mcts_runs.closest([outcome, failed])
    assert figures["swappable_words"] == 3 / 6  # of a, good, film, twice
    assert figures["distance_mean"] == pytest.approx(0.5)  # 0.3 and 0.7
    assert figures["distance_deviation"] == pytest.approx(0.2)


def test_every_cell_has_an_experiment_and_a_name_of_its_own() -> None:
    names = [cell.name for cell in attacks.CELLS]
    assert len(set(names)) == len(names)
    for cell in attacks.CELLS:
        assert cell.experiment in attack_runs.EXPERIMENTS
        if cell.experiment == "pdp":
            assert (cell.data, cell.model) in attacks_papers.PDP
        if cell.experiment == "mcts":
            assert cell.data in mcts_runs.LENGTHS


def test_panels_without_a_cell_stay_empty(tmp_path: Path) -> None:
    swaps = {"textfooler": [1.0, math.inf], "sem-pso": [1.0, 2.0], "pdp": [1.0, 1.0]}
    attacks_figures.survival({"one": swaps}, tmp_path / "one.svg")
    attacks_figures.survival({"one": swaps, "two": swaps}, tmp_path / "two.svg")
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    axes = [file.read_text().count('<g id="matplotlib.axis_') for file in files]
    assert axes == [2, 4]  # an x and a y for each


def test_every_file_of_figures_belongs_to_a_cell_and_says_where_it_comes_from() -> None:
    names = {cell.name: cell for cell in attacks.CELLS}
    files = sorted(attack_runs.FIGURES.glob("*.json"))
    assert files
    for path in files:
        known = json.loads(path.read_text(encoding="utf-8"))
        cell = names[path.stem]
        assert known["texts"] == cell.texts
        assert f" --cells {cell.name}" in known["command"]
        assert ("--device" in known["command"]) == (known["device"] != "cpu")
        assert {"seed", "versions", "accuracy"} <= known.keys()
        assert set(known["runs"]) <= set(attack_runs.NAMES[cell.experiment])


def test_figures_of_mcts_were_made_with_the_settings_that_the_page_names() -> None:
    plans = dict(mcts_runs.plans())
    cells = [
        f
        for f in attacks_page.read(attacks.CELLS, attack_runs.FIGURES)
        if f.cell.experiment == "mcts"
    ]
    for name, run in [item for f in cells for item in f.runs.items()]:
        options = plans[name]["options"]
        own = {key: value for key, value in options.items() if key != "max_swaps"}
        assert own.items() <= run["options"]["attack"].items(), name
    for f in cells:
        draws = {run["texts"] for name, run in f.runs.items() if name.startswith("words")}
        assert draws <= {mcts_runs.DRAWS * f.runs["single"]["texts"]}


def test_the_page_in_the_docs_is_what_the_figures_say() -> None:
    found = list(attacks_page.read(attacks.CELLS, attack_runs.FIGURES))
    missing = attacks_page._missing(attacks.CELLS, found)
    assert attacks_page.PAGE.read_text(encoding="utf-8") == attacks_page.page(
        found, missing=missing
    )


def test_attacks_are_compared_on_the_same_candidates() -> None:
    cells = attacks_page.read(attacks.CELLS, attack_runs.FIGURES)
    for f in (f for f in cells if f.cell.experiment == "pdp"):
        assert len({run["candidates"] for run in f.runs.values()}) == 1, f.cell.name
