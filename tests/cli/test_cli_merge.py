"""`unfooled merge`: the parts of a sharded run are the whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_desk import Desk

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
