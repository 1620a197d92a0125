"""`unfooled candidates`, `unfooled assets` and `unfooled train` on tiny files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_desk import Desk

import unfooled as uf
from unfooled import assets


def test_candidates_of_a_sentence(desk: Desk) -> None:
    done = desk.run("candidates", "A fine, good film.", *desk.candidates)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["1", "fine", "ok"] in rows
    assert ["3", "good", "nice,", "ok"] in rows
    assert ["0", "A", "–", "not", "in", "the", "table"] in rows
    assert ["2", ",", "–", "punctuation"] in rows
    # (1 + 1) (1 + 2) (1 + 1) texts; 1 + 4 within one swap, 3 more pairs of positions within two.
    assert done.out.splitlines()[-1] == "12 texts in the space (5 within 1, 10 within 2 swaps)"


def test_candidates_as_json(desk: Desk) -> None:
    shown = desk.run("candidates", "a good film", *desk.candidates, "--json").json
    assert shown["size"] == 6
    assert [row["word"] for row in shown["rows"]] == ["a", "good", "film"]
    assert [c["word"] for c in shown["rows"][1]["candidates"]] == ["nice", "ok"]


def test_rejected_candidates_are_shown_with_the_reason(desk: Desk) -> None:
    only = ("--candidates", f"{desk.candidates[1]},k=1")
    assert "ok" not in desk.run("candidates", "good", *only).out
    assert "ok ✗ not among the best 1" in desk.run("candidates", "good", *only, "--rejected").out


def test_words_that_look_like_markup(desk: Desk) -> None:
    desk.write("marks.json", json.dumps({"good": ["[/b]", "[red]bad", ":smile:"]}))
    done = desk.run(
        "candidates", "a [/] good :cat: [b]film[/i]", "--candidates", "table:marks.json"
    )
    assert (done.code, done.err) == (0, "")
    assert "[/b], [red]bad, :smile:" in done.out
    assert re.search(r"^ *1 +\[/\] ", done.out, re.MULTILINE)
    out = desk.attack(
        "--candidates", "table:marks.json", data=desk.write("d.csv", "text,label\nok good,1\n")
    )
    assert (out.code, out.err) == (0, "")


def test_the_list_of_assets(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNFOOLED_HOME", str(desk.folder / "home"))
    done = desk.run("assets", "list")
    assert (done.code, done.err) == (0, "")
    for name in assets.names():
        assert re.search(rf"^ +{name} ", done.out, re.MULTILINE)
    assert "✓" not in done.out
    assert done.out.splitlines()[-1] == f"kept in {desk.folder / 'home'}"
    shown = desk.run("assets", "list", "--json").json
    assert [a["name"] for a in shown["assets"]] == list(assets.names())
    assert not any(a["here"] for a in shown["assets"])
    assert all(a["licence"] and a["summary"] and a["kind"] for a in shown["assets"])


def test_an_asset_that_cannot_be_had_is_one_sentence(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNFOOLED_HOME", str(desk.folder / "home"))
    done = desk.run("assets", "get", "stopwords", "--file", desk.data, "--quiet")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("unfooled: ")
    assert "Traceback" not in done.err


SIMLEX = "word1\tword2\tSimLex999\ngood\tfine\t9\ngood\tbad\t1\nfine\tbad\t2\n"


def test_counter_fitting_vectors_of_ones_own(desk: Desk) -> None:
    desk.write("v.txt", "good 1 0 0.2\nfine 0 1 0\nbad 1 0.1 0\nfilm 0 0 1\n")
    simlex, near, apart = (
        desk.write("simlex.txt", SIMLEX),
        desk.write("near.txt", "en_good en_fine\n"),
        desk.write("apart.txt", "bad good\nbad fine\nbad absent\n"),
    )
    fit = ("assets", "counter-fit", "v.txt", "-o", "fitted", "--quiet", "--simlex", simlex)
    done = desk.run(*fit, "--synonyms", near, "--antonyms", apart)
    assert (done.code, done.err) == (0, "")
    made, before, after = done.out.splitlines()
    assert made == "fitted: 4 words; pairs: 2 antonyms, 1 synonyms, 0 preserved"
    # Cosines 0, 0.98, 0.1 rank 1 3 2 against the ratings' 3 1 2: exactly turned round.
    assert before == "v.txt: correlation with SimLex-999 -1.000 on 3 of 3 pairs"
    assert re.fullmatch(r"fitted: correlation with SimLex-999 (0\.5|1\.0)00 on 3 of 3 pairs", after)
    assert json.loads(Path("fitted/fit.json").read_text())["pairs"]["antonyms"] == 2
    shown = desk.run(
        "candidates", "good", "--candidates", "embedding:vectors=fitted,stopwords=none,k=1"
    )
    assert "fine" in shown.out
    again = desk.run(*fit)
    assert (again.code, again.err) == (
        2,
        "unfooled: fitted exists already; name a folder that does not\n",
    )


def test_ratings_need_vectors(desk: Desk) -> None:
    done = desk.run("assets", "get", "stopwords", "--simlex", desk.write("simlex.txt", SIMLEX))
    assert done.code == 2
    assert "--simlex judges word vectors" in done.err


def test_a_built_asset_comes_from_no_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNFOOLED_HOME", str(desk.folder / "home"))
    done = desk.run("assets", "get", "glove-50-counter-fitted", "--file", desk.data)
    assert done.code == 2
    assert "built from glove-50 and wordnet" in done.err


WORDS = {"pos": ("good", "fine", "great", "nice"), "neg": ("bad", "dull", "poor", "sad")}


@pytest.fixture
def corpus(desk: Desk) -> str:
    rows = [
        f"the {word} film {i},{label}"
        for label, words in WORDS.items()
        for word in words
        for i in range(8)
    ]
    return desk.write("train.csv", "\n".join(["text,label", *rows]))


def test_train_and_attack(desk: Desk, corpus: str) -> None:
    pytest.importorskip("torch")
    done = desk.run(
        "train", "cnn", corpus, "-o", "model", "--test", corpus,
        "--epochs", "1", "--vectors", "none", "--quiet",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(
        r"trained cnn on 64 texts in \d+ s, dev accuracy [01]\.\d{3}, test accuracy [01]\.\d{3}; "
        r"saved in model\n",
        done.out,
    )
    assert uf.load("model").labels == ("neg", "pos")
    shown = desk.run("attack", "greedy", "model", corpus, *desk.candidates, "--json").json
    assert shown["texts"] == 64
    accuracy = float(re.findall(r"test accuracy (\S+);", done.out)[0])
    assert shown["clean_accuracy"] == pytest.approx(accuracy, abs=1e-3)


def test_train_as_json_without_a_dev_split(desk: Desk, corpus: str) -> None:
    pytest.importorskip("torch")
    shown = desk.run(
        "train", "mlp", corpus, "-o", "model", "--epochs", "1", "--vectors", "none",
        "--no-early-stopping", "--limit", "20", "--json",
    ).json  # fmt: skip
    assert shown.pop("seconds") > 0
    assert shown == {"model": "model", "dev_accuracy": None, "test_accuracy": None}
    assert Path("model/model.safetensors").exists()
