"""Runs of `uf.attack`: resumed, refused, sharded, merged, interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner_toys import DATA, LABELS, Counted, Drawn, attack, told, victim
from unfooled.errors import RunError, VictimError
from unfooled.fingerprints import PAIR_PROBES, PROBES
from unfooled.records import merge, read

# --- runs ---------------------------------------------------------------------------------------


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = attack(out=tmp_path / "whole")
    records = (tmp_path / "whole" / "records.jsonl").read_text().splitlines(keepends=True)
    for kept in range(len(records) + 1):
        folder = tmp_path / f"part-{kept}"
        folder.mkdir()
        (folder / "manifest.json").write_bytes((tmp_path / "whole/manifest.json").read_bytes())
        (folder / "records.jsonl").write_text("".join(records[:kept]))
        done = {json.loads(line)["original"] for line in records[:kept]}
        function = Counted()
        found = attack(who=victim(function), out=folder)
        assert told(found) == told(whole)
        assert found.resumed == kept
        asked = [text for text in function.seen if text not in PROBES]
        assert not done & set(asked)
        assert len(asked) == sum(o.forwards + 3 for o in whole if str(o.original) not in done)
    assert function.seen == [*PROBES, *PROBES], "nothing left: only the fingerprint is taken"


REFUSALS = {
    "victim": ({"who": victim(Counted({"ok": 2.0}))}, "victim fingerprint, scores of probe"),
    "data": ({"data": DATA[:4]}, "data fingerprint"),
    "labels": ({"data": [*DATA[:4], ("a great film", "neg")]}, "data fingerprint"),
    "candidates": ({"candidates": {"good": ["ok"]}}, "candidates fingerprint"),
    "method": ({"name": "beam"}, 'method "greedy", not "beam"'),
    "limit": ({"max_swaps": 2}, "options.max_swaps null, not 2"),
    "target": ({"target": 1}, "options.target null, not 1"),
    "seed": ({"seed": 1}, "seed 0, not 1"),
    "shard": ({"shard": "1/2"}, 'shard null, not "1/2"'),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_another_question_is_not_answered_from_the_same_run(what: str, tmp_path: Path) -> None:
    attack(out=tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    more, reason = REFUSALS[what]
    with pytest.raises(
        RunError, match="cannot be resumed, it was made with other settings"
    ) as found:
        attack(**more, out=tmp_path)
    assert reason in str(found.value)
    assert (tmp_path / "records.jsonl").read_bytes() == before


def test_shards_make_up_the_whole(tmp_path: Path) -> None:
    data = [(f"{text} {number}", label) for text, label in DATA for number in range(6)]
    whole = attack(Drawn(), data=data, seed=3)
    parts = [
        attack(Drawn(), data=data, seed=3, shard=f"{i}/3", out=tmp_path / str(i)) for i in (1, 2, 3)
    ]
    assert sum(map(len, parts)) == len(whole)
    assert all(parts), "with 30 texts no part is empty"
    for part in parts:
        ids = [o.id for o in part]
        assert told(part) == [r for r in told(whole) if r["id"] in ids]
    with merge([tmp_path / str(i) for i in (3, 1, 2)], tmp_path / "all") as run:
        merged = {
            r["id"]: {k: v for k, v in r.items() if k not in ("key", "method")}
            for r in run.records()
        }
    assert merged == {r["id"]: r for r in told(whole)}
    assert run.manifest["texts"] == 30
    # The merged run is the whole run: asked again, nothing is left to do.
    assert attack(Drawn(), data=data, seed=3, out=tmp_path / "all").resumed == 30


def test_the_seed_decides_and_nothing_else() -> None:
    data = [(f"{text} {number}", label) for text, label in DATA for number in range(6)]
    one, same, other = (
        attack(Drawn(), data=data, seed=s, in_flight=f) for s, f in ((3, 64), (3, 1), (4, 64))
    )
    assert told(one) == told(same)
    assert told(one) != told(other)
    assert told(attack(Drawn(), data=data[::-1], seed=3)) != told(one)[::-1], "ids are by place"


def test_an_interrupted_run_keeps_what_is_done(tmp_path: Path) -> None:
    data = DATA * 10
    whole, honest = attack(data=data), Counted()

    def interrupted(texts: list[str]) -> list[list[float]]:
        if len(honest.seen) > 200:
            raise KeyboardInterrupt
        return honest(texts)

    with pytest.raises(KeyboardInterrupt):
        attack(data=data, who=victim(interrupted), in_flight=4, out=tmp_path)
    kept = len(read(tmp_path).done)
    assert 0 < kept < len(data)
    found = attack(data=data, out=tmp_path)
    assert told(found) == told(whole)
    assert found.resumed == kept


def test_a_victim_without_files_is_recognised_by_its_scores(tmp_path: Path) -> None:
    pairs = [(("a film", "so good"), 1)]
    function = Counted()
    attack(who=victim(function), data=pairs, out=tmp_path / "pairs")
    assert function.seen[: len(PAIR_PROBES)] == list(PAIR_PROBES)
    manifest = read(tmp_path / "pairs").manifest
    assert manifest["fingerprints"]["victim"] == [[0.0, Counted().score(p)] for p in PAIR_PROBES]
    assert (manifest["victim"], manifest["labels"]) == ("toy", LABELS)

    def broken(texts: list[Any]) -> Any:
        raise LookupError("no such text")

    with pytest.raises(VictimError, match="toy fails on every text it is given: LookupError: no"):
        attack(who=victim(broken), out=tmp_path / "none")
    with pytest.raises(VictimError, match=r"expected numbers of shape \(12, 2\)"):
        attack(who=victim(lambda texts: [[1.0]] * len(texts)), out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_probe_that_the_victim_refuses_is_part_of_its_fingerprint(tmp_path: Path) -> None:
    honest = Counted()

    def touchy(texts: list[str]) -> list[list[float]]:
        if any("not bad" in text for text in texts):
            raise RuntimeError("language!")
        return honest(texts)

    assert told(attack(who=victim(touchy), out=tmp_path)) == told(attack())
    assert attack(who=victim(touchy), out=tmp_path).resumed == 5
    rows = read(tmp_path).manifest["fingerprints"]["victim"]
    assert [["inf", "inf"] if "not bad" in p else [0.0, honest.score(p)] for p in PROBES] == rows
    with pytest.raises(RunError, match="victim fingerprint, scores of probe 3"):
        attack(who=victim(honest), out=tmp_path)


def test_folders_that_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunError, match="cannot write a run into"):
        attack(out=tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text('{"name": "of another program"}')
    with pytest.raises(RunError, match="was not written by unfooled"):
        attack(out=tmp_path / "other")
    assert (tmp_path / "other" / "manifest.json").read_text() == '{"name": "of another program"}'
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(RunError, match="is not empty and holds no run"):
        attack(out=tmp_path / "notes")
    assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"
