"""What cannot be done gets one sentence on standard error and exit code 2, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_desk import Desk

ATTACKS = {
    "attack": (["gredy", "VICTIM", "DATA"], "there is no attack named 'gredy'; did you mean 'greedy'?"),
    "option": (
        ["beam", "VICTIM", "DATA", "--widht", "8"],
        "neither unfooled attack nor beam has an option --widht; did you mean 'width'",
    ),
    "misspelt option": (["greedy", "VICTIM", "DATA", "--max-swap", "1"], "did you mean 'max-swaps'"),
    "option before": (["greedy", "--fast", "VICTIM", "DATA"], "has an option --fast"),
    "argument of uf.attack": (["greedy", "VICTIM", "DATA", "--progress", "1"], "option --progress"),
    "option's type": (
        ["beam", "VICTIM", "DATA", "--width", "wide"],
        "option width of beam cannot be 'wide': Input should be a valid integer",
    ),
    "option's range": (["beam", "VICTIM", "DATA", "--width", "0"], "width is at least 1, not 0"),
    "option's value": (["beam", "VICTIM", "DATA", "--width"], "option --width needs a value"),
    "no value, then another": (
        ["beam", "VICTIM", "DATA", "--width", "--quiet"],
        "option --width needs a value",
    ),
    "victim": (["greedy", "nobody", "DATA"], "'nobody' is no victim that is known here; expected"),
    "victim's file": (["greedy", "python:no.py:f", "DATA"], "there is no file no.py"),
    "victim's function": (["greedy", "VICTIM_", "DATA"], "has no 'score_'"),
    "victim's module": (["greedy", "python:nowhere:f", "DATA"], "no module named 'nowhere'"),
    "victim's option": (["greedy", "VICTIM", "DATA", "--device", "cpu"], "has no option 'device'"),
    "file": (["greedy", "VICTIM", "no.csv"], "no.csv: there is no such file"),
    "empty file": (["greedy", "VICTIM", "empty.csv"], "empty.csv: the file has no rows"),
    "no rows": (["greedy", "VICTIM", "header.csv"], "header.csv: the file has no rows"),
    "asset": (["greedy", "VICTIM", "imbd"], "'imbd' is neither a file nor a data set; did you mean 'imdb'"),
    "not data": (["greedy", "VICTIM", "wordnet"], "the asset 'wordnet' is a lexicon, not a data set"),
    "split": (["greedy", "VICTIM", "DATA", "--split", "dev"], "data.csv has no column 'split'"),
    "text column": (["greedy", "VICTIM", "DATA", "--text-column", "body"], "has no column 'body'"),
    "label column": (["greedy", "VICTIM", "DATA", "--label-column", "gold"], "has no column 'gold'"),
    "label": (["greedy", "VICTIM", "labels.csv"], "the data has the classes maybe, "),
    "high label": (["greedy", "VICTIM", "high.csv"], "example high:0 has label 7, but "),
    "target": (["greedy", "VICTIM", "DATA", "--target", "maybe"], "the target 'maybe' is no class of"),
    "shard": (["greedy", "VICTIM", "DATA", "--shard", "0/2"], "a shard is i/n with 1 <= i <= n"),
    "shard's form": (["greedy", "VICTIM", "DATA", "--shard", "../up"], "a shard is i/n"),
    "candidates": (
        ["greedy", "VICTIM", "DATA", "--candidates", "tabel:x"],
        "there is no source of candidates 'tabel'; did you mean 'table'?",
    ),
    "candidates' file": (["greedy", "VICTIM", "DATA", "--candidates", "table:no.tsv"], "'no.tsv'"),
    "masked model unused": (["greedy", "VICTIM", "DATA", "--masked", "minilm"], "would do nothing"),
    "reference unused": (
        ["textfooler", "VICTIM", "DATA", "--step-similarity", "none", "--reference", "previous"],
        "step_window and reference say how step_similarity compares, which is not given",
    ),
    "window unused": (
        ["greedy", "VICTIM", "DATA", "--window", "5"],
        "window, similarity and reference say how min_similarity compares, which is not given",
    ),
    "reference without similarity": (
        ["greedy", "VICTIM", "DATA", "--reference", "previous"],
        "window, similarity and reference say how min_similarity compares, which is not given",
    ),
    "reference of populations": (
        ["genetic", "VICTIM", "DATA", "--min-similarity", "0.8", "--reference", "previous"],
        "which bae, textbugger and textfooler have and genetic has not",
    ),
    "reference given twice": (
        ["bae", "VICTIM", "DATA", "--min-similarity", "0.8", "--reference", "previous", "--step-similarity", "0.9"],
        "so step_similarity would be given twice: leave out one",
    ),
    "reference unknown": (
        ["greedy", "VICTIM", "DATA", "--min-similarity", "0.8", "--reference", "first"],
        "reference of the limits cannot be 'first'",
    ),
    "metric unused": (["greedy", "VICTIM", "DATA", "--similarity", "angular"], "min_similarity 0.9"),
    "vectors unused": (
        ["greedy", "VICTIM", "DATA", "--word-vectors", "glove-50"],
        "word_vectors glove-50 are for min_word_cosine, which is not given",
    ),
    "vectors of an attack": (
        ["mcts", "VICTIM", "DATA", "--vectors", "nope"],
        "there is neither a file nor a lexical asset 'nope'",
    ),
    "folder": (["greedy", "VICTIM", "DATA", "--out", "data.csv"], "cannot write a run into data.csv"),
    "foreign": (["greedy", "VICTIM", "DATA", "--out", "foreign"], "was not written by unfooled"),
}  # fmt: skip


@pytest.mark.parametrize("what", ATTACKS)
def test_a_bad_value_of_attack(desk: Desk, what: str) -> None:
    desk.write("empty.csv", "")
    desk.write("header.csv", "text,label\n")
    desk.write("labels.csv", "text,label\na film,maybe\n")
    desk.write("high.csv", "text,label\na film,7\n")
    Path("foreign").mkdir()
    desk.write("foreign/manifest.json", '{"mine": true}')
    args, sentence = ATTACKS[what]
    names = {"VICTIM": desk.victim(), "VICTIM_": desk.victim("score_"), "DATA": desk.data}
    words = [names.get(word, word) for word in args]
    if "--candidates" not in words:
        words += desk.candidates
    done = desk.run("attack", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("unfooled: ")
    assert done.err.count("\n") == 1
    assert sentence in done.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "misshapen",
            "returned an array of shape (12, 1) and type float64; expected numbers of shape",
        ),
        ("broken", "fails on every text it is given: RuntimeError: out of order"),
        ("LABELS", "a victim is a function from texts to scores, not ['neg', 'pos']"),
        ("CALLS", "a victim is a function from texts to scores, not []"),
    ],
)
def test_a_victim_that_is_none(desk: Desk, name: str, sentence: str) -> None:
    done = desk.attack(victim=name)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["nothing"],
        ["attack", "greedy"],
        ["attack", "greedy", "VICTIM", "DATA", "more"],
        ["attack", "greedy", "VICTIM", "DATA", "--seed"],
        ["attack", "greedy", "VICTIM", "DATA", "--seed", "x"],
        ["attack", "greedy", "VICTIM", "DATA", "--max-rate", "2"],
        ["attack", "greedy", "VICTIM", "DATA", "--max-rate", "nan"],
        ["attack", "greedy", "VICTIM", "DATA", "--limit", "0"],
        ["attack", "greedy", "VICTIM", "DATA", "-x"],
        ["candidates"],
        ["candidates", "a", "--nothing"],
        ["train", "cnn"],
        ["train", "cnn", "DATA"],
        ["merge", "a"],
        ["merge", "-o", "b"],
        ["assets", "nothing"],
        ["assets", "get"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_cannot_be_read(desk: Desk, args: list[str]) -> None:
    names = {"VICTIM": desk.victim(), "DATA": desk.data}
    done = desk.run(*[names.get(word, word) for word in args])
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    assert "─ Error ─" in done.err
    assert "Usage" not in done.err or "Usage: unfooled " in done.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["candidates", "a film", "--candidates", "nothing"], "no source of candidates 'nothing'"),
        (["candidates", "a film", "--candidates", "table:no.json"], "'no.json'"),
        (["candidates", "a film", "--candidates", "table"], "table needs file"),
        (["train", "cnnn", "data.csv", "-o", "m"], "unknown architecture 'cnnn'"),
        (["train", "cnn", "no.csv", "-o", "m"], "no.csv: there is no such file"),
        (
            ["train", "cnn", "data.csv", "-o", "m", "--dev", "no.csv"],
            "no.csv: there is no such file",
        ),
        (["train", "cnn", "data.csv", "-o", "m", "--vectors", "no.txt"], "no.txt"),
        (["merge", "no-run", "-o", "m"], "no-run is not a run: there is no such folder"),
        (["merge", "data.csv", "-o", "m"], "data.csv is not a run: it is a file"),
        (["assets", "get", "nothing"], "no asset 'nothing'; known: "),
        (
            ["assets", "get", "mr", "imdb", "--file", "x"],
            "--file holds one asset, but 2 were named",
        ),
    ],
)
def test_a_bad_value_of_another_command(desk: Desk, args: list[str], sentence: str) -> None:
    done = desk.run(*args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("unfooled: ")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not Path("m").exists()


REFUSALS = {
    "victim": ({"victim": "turned"}, (), "victim fingerprint, scores of probe"),
    "data": ({}, ("--limit", "2"), "data fingerprint"),
    "candidates": ({}, ("--candidates", "table:other.json"), "candidates fingerprint"),
    "attack": ({"name": "beam"}, (), 'method "greedy", not "beam"'),
    "limit": ({}, ("--max-swaps", "1"), "options.max_swaps null, not 1"),
    "seed": ({}, ("--seed", "5"), "seed 0, not 5"),
    "shard": ({}, ("--shard", "1/2"), 'shard null, not "1/2"'),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSALS)
def test_a_run_is_not_resumed_with_another_question(desk: Desk, what: str) -> None:
    assert desk.attack("--out", "run").code == 0
    before = Path("run/records.jsonl").read_bytes()
    desk.write("other.json", '{"good": ["ok"]}')
    given, more, reason = REFUSALS[what]
    done = desk.attack("--out", "run", *more, **given)
    assert (done.code, done.out) == (2, "")
    assert "run cannot be resumed, it was made with other settings: " in done.err
    assert reason in done.err
    assert done.err.count("\n") == 1
    assert Path("run/records.jsonl").read_bytes() == before


def test_a_missing_part_of_the_package_is_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    desk.write("d.parquet", "")
    done = desk.attack(data="d.parquet")
    assert done.code == 2
    assert "pip install 'unfooled[data]'" in done.err


def test_texts_that_are_taken_for_labels_do_not_fill_the_screen(desk: Desk) -> None:
    rows = "".join(f"a film that goes on and on and on {i},pos\n" for i in range(500))
    done = desk.attack("--label-column", "text", data=desk.write("many.csv", "text,label\n" + rows))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a film that goes on… and 480 more, " in done.err
    assert len(done.err) < 1000


@pytest.mark.parametrize(
    "command",
    [
        ("attack", "greedy"),
        ("audit",),
        ("certify", "exhaustive"),
        ("estimate",),
    ],
)
def test_a_folder_that_cannot_be_made_is_told(desk: Desk, command: tuple[str, ...]) -> None:
    words = (*command, desk.victim(), desk.data, *desk.candidates, "-q")
    done = desk.run(*words, "--out", "data.csv/run")
    assert (done.code, done.out) == (2, "")
    assert done.err == "unfooled: cannot write a run into data.csv/run: Not a directory\n"
    other = desk.run(*words, "--out", ".")
    assert other.err == "unfooled: . is not empty and holds no run: give another --out\n"


@pytest.mark.parametrize(
    "command",
    [
        ("attack", "greedy"),
        ("attack", "pdp"),
        ("audit",),
        ("certify", "exhaustive"),
        ("estimate",),
    ],
)
def test_a_text_of_no_words_is_a_text(desk: Desk, command: tuple[str, ...]) -> None:
    data = desk.write("bare.csv", 'text,label\n"",pos\n...,pos\na good film,pos\n')
    done = desk.run(*command, desk.victim(), data, *desk.candidates, "--json")
    assert (done.code, done.json["texts"]) == (0, 3)
    assert not done.json.get("errors")


def test_pairs_for_a_function_of_single_texts(desk: Desk) -> None:
    data = desk.write("pairs.csv", "premise,hypothesis,label\na film,a good film,pos\n")
    done = desk.attack(data=data)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "fails on every pair it is given: AttributeError: 'tuple'" in done.err
