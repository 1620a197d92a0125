"""Candidates and similarity: made again where they are at hand, and said to be unchecked where not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from companion_doubles import WordEncoder
from runner_toys import DATA, TABLE, victim
from unfooled.check import Report, check


def report(run: Path, **how: Any) -> Report:
    return check(run, victim(), full=True, **how)


def why(run: Path, **how: Any) -> str:
    return "; ".join(f"{what}: {reason}" for what, reason in report(run, **how).refused)


def spaces() -> list[uf.Space]:
    words = [text.split() for text, _ in DATA]
    tables = [{i: TABLE[w] for i, w in enumerate(text) if w in TABLE} for text in words]
    return [uf.Space(text, table) for (text, _), table in zip(DATA, tables, strict=True)]


def edit(run: Path, **fields: Any) -> None:
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["fingerprints"] |= fields
    path.write_text(json.dumps(manifest))


def test_the_fingerprint_of_candidates_is_compared_with_those_given(tmp_path: Path) -> None:
    run = tmp_path / "run"
    uf.attack("pdp", victim(), DATA, candidates=TABLE, out=run)
    honest = report(run, candidates=TABLE)
    assert honest.passed
    assert not any("candidates" in line for line in honest.not_checked)
    assert "candidates that were given" in why(run, candidates=TABLE | {"film": ["reel"]})
    edit(run, candidates="0" * 64)
    assert "candidates that were given" in why(run, candidates=TABLE)
    assert any("the candidates are those of" in line for line in report(run).not_checked)


def test_a_word_that_is_no_candidate_is_refused_in_a_run_of_an_attack(tmp_path: Path) -> None:
    run = tmp_path / "run"
    uf.attack("pdp", victim(), DATA[:1], candidates=TABLE, out=run)
    (record,) = (json.loads(line) for line in (run / "records.jsonl").read_text().splitlines())
    record["changes"][0][2] = "bad"
    record.update(text="a bad film", scores=[0.0, -1.0])
    (run / "records.jsonl").write_text(json.dumps(record) + "\n")
    assert report(run).passed, "without the candidates any word is one"
    assert "'bad' is no candidate at position 1" in why(run, candidates=TABLE)


def test_ready_spaces_are_known_by_the_records_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    uf.audit(victim(), DATA, candidates=spaces(), radius=2, out=run)
    honest = report(run)
    assert honest.passed
    assert not any("candidates" in line for line in honest.not_checked)
    assert report(run, candidates=spaces()[::-1]).passed
    edit(run, candidates="sha256:0")
    assert "do not have the fingerprint" in why(run)


TWICE = [("a good film", 1), ("a good film", 1)]
RUNS = {
    "attack": lambda **how: uf.attack("pdp", victim(), TWICE, **how),
    "audit": lambda **how: uf.audit(victim(), TWICE, radius=2, **how),
    "certify": lambda **how: uf.certify("exhaustive", victim(), TWICE, **how),
    "estimate": lambda **how: uf.estimate(victim(), TWICE, radius=2, **how),
}


@pytest.mark.parametrize("what", RUNS)
def test_a_text_that_is_there_twice_with_other_candidates(what: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    mine = [uf.Space(TWICE[0][0], {1: ("nice", "ok")}), uf.Space(TWICE[1][0], {2: ("movie",)})]
    RUNS[what](candidates=mine, out=run)
    assert report(run).passed
    honest = report(run, candidates=mine, data=TWICE)
    assert honest.passed, honest.refused
    assert not any("candidates" in line for line in honest.not_checked)
    alone = report(run, candidates=mine)
    assert alone.passed
    assert any("give the data too, which says whose they are" in w for w in alone.not_checked)
    assert not report(run, candidates=mine[::-1], data=TWICE).passed, "each has the other's"
    assert not report(run, candidates=mine[:1] * 2).passed
    assert not report(run, candidates=mine[:1], data=TWICE).passed


def test_the_certificate_of_a_run_has_the_candidates_of_its_source(tmp_path: Path) -> None:
    """A certificate about fewer candidates is consistent in itself, and not what was asked."""
    run = tmp_path / "run"
    uf.certify(
        "exhaustive", victim(), DATA[:1], candidates={"good": ["nice", "fine", "bad"]}, out=run
    )
    smaller = tmp_path / "smaller"
    few = {"good": ["nice"]}
    uf.certify("exhaustive", victim(), DATA[:1], candidates=few, out=smaller)
    (run / "records.jsonl").write_text((smaller / "records.jsonl").read_text())
    assert report(run).passed
    full = {"good": ["nice", "fine", "bad"]}
    assert "its candidates are not those that the run has" in why(run, candidates=full)


def test_a_source_that_cannot_be_read_here_is_said(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("".join(f"{word}\t{' '.join(found)}\n" for word, found in TABLE.items()))
    run, spec = tmp_path / "run", f"table:{table}"
    uf.attack("pdp", victim(), DATA, candidates=spec, out=run)
    assert json.loads((run / "manifest.json").read_text())["candidates_spec"] == spec
    assert report(run, candidates=spec).passed
    table.unlink()
    found = report(run, candidates=spec)
    assert found.passed
    assert any("the source of the candidates" in line for line in found.not_checked)


def test_similarity_is_judged_again_by_the_encoder_of_the_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    limits: dict[str, Any] = {"min_similarity": -1.0, "encoder": WordEncoder()}
    uf.attack("pdp", victim(), DATA, candidates=TABLE, out=run, **limits)
    assert any("similar enough to words" in line for line in report(run).not_checked)
    honest = report(run, encoder=WordEncoder())
    assert honest.passed
    assert not any("similar enough" in line for line in honest.not_checked)
    other = WordEncoder()
    other.fingerprint = "words:2"
    assert any(
        "is another than that of the run" in x for x in report(run, encoder=other).not_checked
    )


def test_a_text_that_is_not_similar_enough_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    limits: dict[str, Any] = {"min_similarity": -1.0, "encoder": WordEncoder()}
    uf.attack("pdp", victim(), DATA[:1], candidates=TABLE, out=run, **limits)
    record = json.loads((run / "records.jsonl").read_text())
    assert record["status"] == "success"
    strict = tmp_path / "strict"
    asked = limits | {"min_similarity": 0.9999}
    uf.attack("pdp", victim(), DATA[:1], candidates=TABLE, out=strict, **asked)
    refused = json.loads((strict / "records.jsonl").read_text())
    assert refused["status"] != "success"
    (strict / "records.jsonl").write_text(json.dumps(record | {"key": refused["key"]}) + "\n")
    assert report(strict).passed, "without the encoder any text is similar enough"
    assert "less similar to the original than 0.9999" in why(strict, encoder=WordEncoder())


@pytest.mark.parametrize("said", [0, 1, 99, -1, None, "2", True])
def test_how_many_candidates_the_words_had_is_counted(said: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    uf.attack("pdp", victim(), DATA[:1], candidates=TABLE, out=run)
    (record,) = (json.loads(line) for line in (run / "records.jsonl").read_text().splitlines())
    assert record["choices"] == sum(len(TABLE.get(word, ())) for word in DATA[0][0].split())
    record["choices"] = said
    (run / "records.jsonl").write_text(json.dumps(record) + "\n")
    assert not report(run, candidates=TABLE).passed
