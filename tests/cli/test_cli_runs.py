"""What is made of the run of an attack: `swaps`, `export` and `report`."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from cli_desk import Desk

from companion_doubles import WordEncoder, similarity_of
from unfooled import encoders, exports


@pytest.fixture
def vectors(desk: Desk) -> str:
    return desk.write("vectors.txt", "good 1 0\nok 1 1\nfine 0 1\nbad -1 0\nnice 1 0\n")


@pytest.fixture
def ran(desk: Desk) -> str:
    assert desk.attack("--out", "run").code == 0
    return "run"


def test_swaps_beside_the_training_data(desk: Desk, ran: str, vectors: str) -> None:
    done = desk.run("swaps", ran, "--train", desk.data, "--vectors", vectors, "--json")
    figures = done.json
    # good -> ok, bad -> nice, fine -> ok, good -> ok; the data is the five texts of the desk.
    assert figures["swaps"] == 4
    assert figures["original_words"] == {
        "median_occurrences": 1.5,
        "most_frequent_in_true_class": 1.0,
        "unseen": 0.0,
    }
    assert figures["attack_words"]["unseen"] == 1.0
    assert figures["mean_cosine"] == pytest.approx((3 * 0.5**0.5 - 1) / 4)
    shown = desk.run("swaps", ran, "--train", desk.data, "--vectors", vectors)
    assert (shown.code, shown.err) == (0, "")
    assert "original     1.5   100.0 %    0.0 %" in shown.out
    assert "attack       0.0     0.0 %  100.0 %" in shown.out
    assert "median" in shown.out
    assert "words " not in desk.run("swaps", ran, "--vectors", vectors).out


def test_a_narrow_window(
    desk: Desk, ran: str, vectors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = desk.run("swaps", ran, "--train", desk.data, "--vectors", vectors).out
    assert max(map(len, out.splitlines())) <= 40
    assert "…" not in out


@pytest.mark.parametrize("words", [("swaps",), ("export",), ("report",)], ids=" ".join)
@pytest.mark.parametrize("width", [40, 80])
def test_help_teaches_by_example(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = desk.run(*words, "--help")
    assert f"Example: unfooled {words[0]} " in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= width


def test_export(desk: Desk, ran: str) -> None:
    done = desk.run("export", ran, "-o", "fooled.csv")
    assert (done.code, done.out) == (0, "texts 3\nfile fooled.csv\n")
    with Path("fooled.csv").open(encoding="utf-8-sig", newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["label"], first["predicted"], first["adversarial"]) == ("pos", "neg", "a ok film")
    found = desk.run("export", ran, "-o", "fooled.jsonl", "--json").json
    assert found == {"file": "fooled.jsonl", "texts": 3}
    assert exports.read("fooled.jsonl") == exports.read("fooled.csv")
    again = desk.attack("--text-column", "adversarial", "--json", data="fooled.csv").json
    assert (again["texts"], again["clean_accuracy"]) == (3, 0.0)  # they fool it still


def test_a_page(desk: Desk, ran: str, vectors: str) -> None:
    done = desk.run("report", ran, "--train", desk.data, "--vectors", vectors)
    assert (done.code, done.out) == (0, "report run/report.html\n")
    assert "Swapped words in the training data" in Path("run/report.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "nowhere", "-o", "x.csv"), "nowhere is not a run: there is no such folder"),
        (("export", "run", "-o", "x.xlsx"), "expected a file ending in .csv, .jsonl, .parquet"),
        (("swaps", "run", "--train", "nowhere.csv"), "there is no such file"),
        (("swaps", "run", "--vectors", "nowhere"), "nowhere"),
        (("report", "run", "--encoder", "minilmm"), "there is no sentence encoder 'minilmm'"),
    ],
)
def test_wrong_arguments_are_one_sentence(
    desk: Desk, ran: str, words: tuple[str, ...], said: str
) -> None:
    done = desk.run(*words)
    assert done.code == 2
    assert done.err.startswith("unfooled: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_similarity_is_measured_where_an_encoder_is_asked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoders, "load_encoder", lambda name, device=None: WordEncoder())
    data = desk.write("one.csv", "text,label\na good film,pos\n")
    value = similarity_of("a ok film", "a good film")
    assert "similarity" not in desk.attack(data=data).out
    assert "mean_similarity" not in desk.attack("--json", data=data).json
    shown = desk.attack("--encoder", "toy", data=data).out
    assert re.search(rf"^similarity +{value:.3f}", shown, re.MULTILINE)
    found = desk.attack("--encoder", "toy", "--json", data=data).json
    assert found["mean_similarity"] == pytest.approx(value)
