"""Completeness: a run with records removed, relabelled or added is refused, also by one who knows the keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from runner_toys import DATA, TABLE, victim
from unfooled import records
from unfooled.check import check
from unfooled.errors import RunError
from unfooled.fingerprints import examples_fingerprint
from unfooled.keys import named, record_key
from unfooled.outcomes import reread
from unfooled.text import Example

Record = dict[str, Any]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    given: dict[str, Any] = {"attacks": ("pdp", "greedy"), "certifiers": ("exhaustive",)}
    uf.audit(victim(), DATA, candidates=TABLE, radius=2, out=folder, **given)
    assert check(folder, victim()).passed
    return folder


def lines(run: Path) -> list[Record]:
    return [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]


def write(run: Path, changed: list[Record]) -> None:
    (run / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in changed))


def restate(run: Path, **fields: Any) -> None:
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def rekeyed(run: Path, record: Record) -> Record:
    """The record under the key that the run itself would have given it."""
    manifest = json.loads((run / "manifest.json").read_text())
    example = Example(reread(record["original"]), record["label"], record["id"])
    key = record_key(
        example=named(example),
        method=record["method"],
        options=manifest["options"],
        victim=manifest["victim"],
    )
    return record | {"key": key}


def of(method: str, text: str) -> Callable[[Record], bool]:
    return lambda record: record["method"] == method and record["original"] == text


def reasons(run: Path, **how: Any) -> list[str]:
    return [f"{what}: {why}" for what, why in check(run, victim(), **how).refused]


@pytest.mark.parametrize("method", ["greedy", "pdp", "candidates", "exhaustive", "pr"])
def test_no_record_can_be_removed(run: Path, method: str) -> None:
    gone = next(r for r in lines(run) if r["method"] == method)
    write(run, [r for r in lines(run) if r != gone])
    said = reasons(run)
    assert said
    if method != "candidates":  # without them nothing of the text can be checked
        assert f"{gone['id']} ({method}): its record is missing" in said


def test_a_second_attack_cannot_pass_for_an_estimate(run: Path) -> None:
    """Neither under its own key, nor under that of an estimate, though the figures are true."""
    changed = lines(run)
    at = next(i for i, r in enumerate(changed) if of("greedy", "some plain film")(r))
    estimate = next(r for r in changed if r["method"] == "pr")
    posing = {**estimate, **{n: changed[at][n] for n in ("id", "original", "label", "key")}}
    # A tie, and so is the other text of its space: neither is kept or lost.
    posing |= {"value": 1.0, "low": 0.0, "high": 1.0, "samples": 2, "size": 2, "exact": False}
    write(run, [*changed[:at], posing, *changed[at + 1 :]])
    ((what, why),) = check(run, victim()).refused
    assert (what, "its key is not that of its text" in why) == ("list:3 (pr)", True)
    write(run, [*changed[:at], rekeyed(run, posing), *changed[at + 1 :]])
    missing, surplus = reasons(run)
    assert missing == "list:3 (greedy): its record is missing"
    assert surplus.startswith("list:3 (pr): this was not asked of the text")


def test_an_estimate_where_all_is_proved_is_not_asked_for(run: Path) -> None:
    changed = lines(run)
    (proof,) = filter(of("exhaustive", "a great film"), changed)
    assert proof["verdict"] == "certified"
    whole = {"value": 1.0, "low": 1.0, "high": 1.0, "samples": 2, "exact": True, "size": 2}
    shared = {n: proof[n] for n in ("id", "original", "label")} | {"method": "pr", "error": None}
    more = {"radius": 2, "rule": "exact", "misclassified": False, "queries": 2, "forwards": 2}
    write(run, [*changed, rekeyed(run, shared | whole | more)])
    ((what, why),) = check(run, victim()).refused
    assert (what, "was not asked" in why) == ("list:4 (pr)", True)


def test_a_removed_text_is_missed_also_where_the_number_is_changed(run: Path) -> None:
    kept = [r for r in lines(run) if r["original"] != "a good film"]
    write(run, kept)
    restate(run, texts=4)
    assert any("fingerprint of the data" in why for why in reasons(run))
    # With another fingerprint it is an honest run about other data, which only the data can tell.
    texts = {r["id"]: Example(reread(r["original"]), r["label"], r["id"]) for r in kept}
    manifest = json.loads((run / "manifest.json").read_text())
    data = examples_fingerprint(texts.values())
    restate(run, fingerprints=manifest["fingerprints"] | {"data": data})
    found = check(run, victim())
    assert found.passed
    assert any("texts and labels are those of a data set" in why for why in found.not_checked)
    assert any("data that was given" in why for why in reasons(run, data=DATA))


def test_the_data_of_an_honest_run_is_recognised(run: Path) -> None:
    found = check(run, victim(), data=DATA)
    assert found.passed
    assert not any("data set" in why for why in found.not_checked)
    other = [("a good movie", "pos"), *DATA[1:]]
    assert any("data that was given" in why for why in reasons(run, data=other))


@pytest.mark.parametrize("options", [{"max_queries": 7}, {"attacks": {"pdp": {}}}])
def test_options_cannot_be_changed_under_records(run: Path, options: dict[str, Any]) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    restate(run, options=manifest["options"] | options)
    assert any("its key is not that of its text" in why for why in reasons(run))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"certifiers": {"exhaustive": {"radius": 1}}, "max_rate": 0.0}, "0 are allowed"),
        ({"max_rate": 0.4}, "1 are allowed"),
        ({"pr": {"radius": 1, "rate": None}}, "its radius is 1"),
        (
            {"attacks": {"pdp": {}, "greedy": {}, "beam": {}}},
            "list:0 (beam): its record is missing",
        ),
        ({"certifiers": {"linear": {"radius": 2}}}, "the run has no method 'exhaustive'"),
    ],
)
def test_options_hold_also_under_keys_that_were_derived_again(
    run: Path, options: dict[str, Any], reason: str
) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    restate(run, options=manifest["options"] | options)
    write(run, [rekeyed(run, record) for record in lines(run)])
    said = reasons(run)
    assert any(reason in why for why in said)
    assert not any("its key is not" in why for why in said)


@pytest.mark.parametrize("shard", ["1/2", "2/2"])
def test_a_shard_is_checked_for_what_is_its_own(tmp_path: Path, shard: str) -> None:
    folder = tmp_path / "part"
    uf.audit(victim(), DATA, candidates=TABLE, radius=2, shard=shard, out=folder)
    found = check(folder, victim())
    assert found.passed
    assert any(f"all texts of shard {shard}" in why for why in found.not_checked)
    assert check(folder, victim(), data=DATA).passed
    restate(folder, shard="2/2" if shard == "1/2" else "1/2")
    assert any("no work of the shard" in why for why in reasons(folder))
    restate(folder, shard=None)
    assert any("texts are there" in why for why in reasons(folder))
    restate(folder, shard=shard)
    one = lines(folder)[0]["original"]
    write(folder, [r for r in lines(folder) if r["original"] != one])
    assert check(folder, victim()).passed, "which texts a shard has is in the data alone"
    assert any("texts are there" in why for why in reasons(folder, data=DATA))


def test_merged_shards_are_whole(tmp_path: Path) -> None:
    parts = [tmp_path / "one", tmp_path / "two"]
    for number, part in enumerate(parts, 1):
        uf.attack("pdp", victim(), DATA, candidates=TABLE, shard=f"{number}/2", out=part)
    records.merge(parts, tmp_path / "all").close()
    assert check(tmp_path / "all", victim(), data=DATA, candidates=TABLE).passed
    records.merge(parts[:1], tmp_path / "half").close()
    assert any("texts are there" in why for why in reasons(tmp_path / "half"))


@pytest.mark.parametrize("shard", ["3/2", 5, "x", []])
def test_a_shard_that_is_none_is_damage(run: Path, shard: Any) -> None:
    restate(run, shard=shard)
    with pytest.raises(RunError, match="is no shard"):
        check(run, victim())


def test_the_scores_of_a_text_are_its_own(run: Path) -> None:
    for status in ("success", "failed", "skipped"):
        changed = lines(run)
        hit = next(r for r in changed if r.get("status") == status)
        hit["scores"] = [s + 0.01 for s in hit["scores"]]
        write(run, changed)
        assert any("a score is said to be" in why for why in reasons(run))
        hit["scores"] = [s - 0.01 for s in hit["scores"]]
        write(run, changed)


def test_an_attack_that_found_nothing_shows_nothing(run: Path) -> None:
    changed = lines(run)
    (hit,) = filter(of("greedy", "a good film"), changed)
    before = dict(hit)
    for fields in ({"status": "failed"}, {"status": "error", "error": "it failed"}):
        hit.update(before, **fields)
        write(run, changed)
        assert any("shows a text that fools" in why for why in reasons(run))
    hit.update(before, status="failed", text=None, changes=[], error="it failed")
    write(run, changed)
    assert any("with the error" in why for why in reasons(run))


def test_what_a_check_cannot_see_is_said(run: Path) -> None:
    """A success that is turned into a failure claims less: it passes, and the report says so."""
    changed = lines(run)
    for hit in filter(of("greedy", "a good film"), changed):
        (scores,) = victim().scores([hit["original"]])
        hit.update(status="failed", text=None, changes=[], scores=list(map(float, scores)))
    write(run, changed)
    found = check(run, victim())
    assert found.passed
    assert any("attacks that found nothing (5) did search" in why for why in found.not_checked)
    assert any("the candidates are those of" in why for why in found.not_checked)


def test_classes_and_arithmetic_are_those_of_the_victim(run: Path) -> None:
    for fields, why in (
        ({"labels": ["pos", "neg"]}, "the classes of toy are neg, pos"),
        ({"dtype": "float16"}, "the victim computed in float16"),
    ):
        before = (run / "manifest.json").read_text()
        restate(run, **fields)
        assert any(why in reason for reason in reasons(run))
        (run / "manifest.json").write_text(before)
