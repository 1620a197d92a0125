"""`unfooled presets`, `attack --preset` and `unfooled sweep` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_desk import Desk

from tiny_lexicon import write_vectors
from unfooled.presets import PRESETS


def flat(text: str) -> str:
    return " ".join(text.split())


def test_all_are_listed(desk: Desk) -> None:
    done = desk.run("presets")
    assert (done.code, done.err) == (0, "")
    for name, preset in PRESETS.items():
        assert name in done.out
        assert preset.about.split(":")[0].split(",")[0] in flat(done.out)
    assert "unfooled presets" in flat(desk.run("attack", "--help").out)


def test_one_says_all_it_sets(desk: Desk) -> None:
    out = flat(desk.run("presets", "defender-imdb").out)
    for told in (
        "max_rate 0.1",
        "max_queries 50x",
        "similarity angular",
        "section 3.2",
        "masked_lm",
    ):
        assert told in out
    bad = desk.run("presets", "defender")
    assert (bad.code, bad.err.count("\n")) == (2, 1)
    assert "did you mean 'defender-imdb'" in bad.err


def test_an_attack_under_a_preset(desk: Desk) -> None:
    vectors = str(write_vectors(desk.folder / "vectors.txt"))
    near = ("--preset", "tf-cv50", "--word-vectors", vectors)
    done = desk.attack("--out", "run", "--show", "0", *near)
    assert (done.code, done.err) == (0, "")
    assert "preset tf-cv50 candidates per word 0.3 candidates per swappable word 1.0" in flat(
        done.out
    )
    assert json.loads(Path("run/manifest.json").read_text())["options"]["preset"] == "tf-cv50"
    shown = desk.attack("--out", "run", "--json", *near).json
    # film -> movie (0.8) in five texts of 16 words; nice and ok have no vector
    assert shown["candidates_per_word"] == pytest.approx(5 / 16)
    assert shown["candidates_per_swappable_word"] == 1
    free = desk.attack("--out", "free", "--json", *near, "--min-word-cosine", "-1").json
    assert free["candidates_per_word"] == pytest.approx(5 / 16)
    assert "candidates_per_word" not in desk.attack("--json").json


def test_the_least_cosine_without_a_preset(desk: Desk) -> None:
    vectors = str(write_vectors(desk.folder / "vectors.txt"))
    near = ("--min-word-cosine", "0.5", "--word-vectors", vectors)
    assert desk.attack("--json", *near).json["success_rate"] == 0
    assert desk.attack("--json").json["success_rate"] == 0.75
    assert len(list(Path("runs").iterdir())) == 2
    assert desk.attack("--min-word-cosine", "2").code == 2


def test_presets_have_folders_of_their_own(desk: Desk) -> None:
    runs = [
        desk.attack("--json").json["run"],
        desk.attack("--json", "--preset", "pwws").json["run"],
        desk.attack("--json", "--preset", "pwws", "--max-rate", "0.5").json["run"],
    ]
    assert len(set(runs)) == 3


def test_bad_presets_are_told_before_anything_is_loaded(desk: Desk) -> None:
    for arguments in (
        ["--preset", "tf"],
        ["--preset", "pwws", "--min-similarity", "0.5", "--similarity", "dot"],
    ):
        done = desk.attack(*arguments, victim="absent")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "absent" not in done.err


def test_a_sweep(desk: Desk) -> None:
    what = ("sweep", "greedy,pwws", desk.victim(), desk.data, *desk.candidates)
    over = ("--over", "max-rate=0.1,0.5", "--over", "max-candidates=1", "--out", "points")
    done = desk.run(*what, *over, "--quiet")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines() if line.strip()]
    assert ["0.1", "80.0", "%", "80.0", "%"] in rows
    assert ["0.5", "20.0", "%", "20.0", "%"] in rows
    assert ["1", "60.0", "%", "60.0", "%"] in rows
    assert Path("points/sweep.svg").is_file()
    shown = desk.run(*what, *over, "--json").json
    assert shown["chart"] == "points/sweep.svg"
    assert [(p["attack"], p["value"]) for p in shown["points"]] == [
        ("greedy", 0.1), ("pwws", 0.1), ("greedy", 0.5), ("pwws", 0.5), ("greedy", 1), ("pwws", 1),
    ]  # fmt: skip
    assert shown["points"][0]["run"] == "points/greedy-max-rate-0.1"


def test_a_sweep_over_what_is_no_limit(desk: Desk) -> None:
    done = desk.run("sweep", "greedy", desk.victim("absent"), desk.data, "--over", "seed=1,2")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "no limit 'seed' to sweep" in done.err
