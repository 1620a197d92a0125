"""`unfooled merge`: the parts of a sharded run are the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_desk import Desk

from sweep_toys import KNOWN, victim
from unfooled import models
from unfooled.records import read


@pytest.fixture
def parts(desk: Desk) -> list[str]:
    for i in (1, 2, 3):
        assert desk.attack("--shard", f"{i}/3", "--out", f"part-{i}").code == 0
    return ["part-1", "part-2", "part-3"]


def test_the_parts_are_the_whole(desk: Desk, parts: list[str]) -> None:
    whole = desk.attack("--out", "whole", "--json").json
    done = desk.run("merge", *parts, "--out", "joined", "--json")
    assert (done.code, done.err) == (0, "")
    del whole["seconds"]
    assert done.json == {**whole, "run": "joined"}
    assert read("joined").done == read("whole").done
    assert sum(len(read(part).done) for part in parts) == 5
    # The joined run is one that the plain command finds complete.
    assert desk.attack("--out", "joined").out.count("–") == 1, "nothing was run again"


def test_the_table_and_the_diffs(desk: Desk, parts: list[str]) -> None:
    done = desk.run("merge", *parts, "-o", "joined", "--show", "5")
    assert done.out.count("→ neg") + done.out.count("→ pos") == 3
    assert "clean accuracy 80.0 %" in " ".join(done.out.split())
    assert done.out.splitlines()[-1] == "run joined"
    assert desk.run("merge", *parts, "-o", "joined").out.count("→") == 0


def test_a_part_that_is_missing_is_told(desk: Desk, parts: list[str]) -> None:
    # Keys depend on where the victim lies, so any part may be empty: the fullest is left out.
    missing = max(parts, key=lambda part: len(read(part).done))
    others = [part for part in parts if part != missing]
    here = sum(len(read(part).done) for part in others)
    done = desk.run("merge", *others, "-o", "joined", "--json")
    assert done.code == 0
    assert done.err == f"unfooled: {here} of 5 texts are there: a part is missing or not finished\n"
    assert done.json["texts"] == here
    assert desk.run("merge", missing, "-o", "joined").err == "", "now it is whole"


def test_default_folders_of_parts(desk: Desk) -> None:
    for i in (1, 2):
        assert desk.attack("--shard", f"{i}/2").code == 0
    names = sorted(p.name for p in Path("runs").iterdir())
    assert [name[-7:] for name in names] == ["-1-of-2", "-2-of-2"]
    assert len({name[:-7] for name in names}) == 1


def test_runs_that_do_not_belong_together(desk: Desk, parts: list[str]) -> None:
    assert desk.attack("--seed", "7", "--out", "other").code == 0
    done = desk.run("merge", "part-1", "other", "-o", "joined")
    assert (done.code, done.out) == (2, "")
    assert "other cannot be merged with part-1, made with other settings: seed 0, not 7" in done.err
    assert not Path("joined").exists()
    into = desk.run("merge", *parts, "-o", "other")
    assert into.code == 2
    assert "other cannot be resumed" in into.err


def test_the_candidates_of_a_preset_are_those_of_all_parts(desk: Desk) -> None:
    preset = ("--preset", "pwws")
    whole = desk.attack("--out", "whole", "--json", *preset).json
    for i in (1, 2, 3):
        assert desk.attack("--shard", f"{i}/3", "--out", f"part-{i}", *preset).code == 0
    parts = ["part-1", "part-2", "part-3"]
    joined = desk.run("merge", *parts, "-o", "joined", "--json").json
    del whole["seconds"]
    assert joined == {**whole, "run": "joined"}
    # good: 2, fine: 1, bad: 1, film: 1 in texts of 3, 3, 4, 3 and 3 words
    assert joined["candidates_per_word"] == pytest.approx((2 + 1 + 1 + 2 + 5) / 16)
    assert joined["candidates_per_swappable_word"] == pytest.approx(11 / 9)
    shown = " ".join(desk.run("merge", *parts, "-o", "joined").out.split())
    assert "preset pwws candidates per word 0.7 candidates per swappable word 1.2" in shown


def test_parts_of_older_runs_do_not_say_how_many_candidates_there_were(desk: Desk) -> None:
    assert desk.attack("--out", "old", "--preset", "pwws").code == 0
    path = Path("old/records.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        del record["choices"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    done = desk.run("merge", "old", "-o", "joined", "--json")
    assert done.code == 0
    assert "candidates_per_word" not in done.json
    again = desk.attack("--out", "old", "--preset", "pwws", "--json").json
    assert again["candidates_per_word"] == pytest.approx(11 / 16), "asked for again"


def test_parts_of_the_least_swaps_are_the_whole(desk: Desk) -> None:
    models.save(victim("mlp", classes=2).model, "mlp")
    desk.write("texts.csv", "text,label\n" + "".join(f"wa wb {w} wd,c0\n" for w in KNOWN[:9]))
    desk.write("words.json", json.dumps({w: ["wa", "wx"] for w in KNOWN}))
    command = ("certify", "minimum", "mlp", "texts.csv", "--candidates", "table:words.json", "-q")
    whole = desk.run(*command, "--out", "whole", "--json").json
    for i in (1, 2):
        assert desk.run(*command, "--shard", f"{i}/2", "--out", f"part-{i}").code == 0
    joined = desk.run("merge", "part-1", "part-2", "-o", "joined", "--json").json
    times = {"run", "median_s", "p90_s", "max_s"}
    assert {k: v for k, v in joined.items() if k not in times} == {
        k: v for k, v in whole.items() if k not in times
    }
    assert "mean minimum swaps" in desk.run("merge", "part-1", "part-2", "-o", "joined").out
