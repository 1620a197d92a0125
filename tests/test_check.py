"""The checker: honest runs pass, tampered ones are refused with the reason, nothing crashes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unfooled as uf
from runner_toys import DATA, TABLE, WEIGHTS, Counted, victim
from unfooled.auditing import audit
from unfooled.check import check
from unfooled.errors import InputError, RunError

Tamper = Callable[[dict[str, Any]], None]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    audit(victim(), DATA, candidates=TABLE, radius=2, out=tmp_path / "run")
    return tmp_path / "run"


def lines(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]


def rewrite(run: Path, tamper: Tamper, *, method: str, text: str) -> None:
    """Changes the record of one method about one text."""
    changed = lines(run)
    (hit,) = [r for r in changed if r["method"] == method and r["original"] == text]
    tamper(hit)
    (run / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in changed))


def test_an_honest_run_passes(run: Path) -> None:
    found = check(run, victim())
    assert found.passed
    # Three texts were fooled; proofs: below two swaps of one, and the whole space of another.
    assert (found.checked, found.spot_checked) == (3, 2)
    full = check(run, victim(), full=True)
    assert (full.passed, full.checked, full.spot_checked) == (True, 5, 0)


def test_another_victim_is_refused(run: Path) -> None:
    other = victim(Counted(WEIGHTS | {"bad": 5.0}))
    with pytest.raises(RunError, match="speaks of another victim"):
        check(run, other)


def test_a_sample_has_at_least_one_text(run: Path) -> None:
    with pytest.raises(InputError, match="sample is 1 or more"):
        check(run, victim(), sample=0)


def put(*path: str | int, value: Any) -> Tamper:
    """Sets one value somewhere in a record."""

    def tamper(record: dict[str, Any]) -> None:
        place: Any = record
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return tamper


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (put("changes", 0, 2, value="nice"), "does not fool the victim"),
        (put("changes", value=[]), "does not fool the victim"),
        (put("changes", 0, 1, value="fine"), "position 1 of the text is not 'fine'"),
        (put("changes", 0, 0, value=77), "position 77 of the text is not 'good'"),
        (put("changes", value=None), "malformed"),
    ],
)
def test_a_tampered_success_is_refused(run: Path, tamper: Tamper, reason: str) -> None:
    rewrite(run, tamper, method="pdp", text="a good film")
    found = check(run, victim())
    assert len(found.refused) == 1
    assert reason in found.refused[0][1]


def test_certified_takes_the_radius_that_was_asked(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    uf.certify("exhaustive", victim(), DATA, candidates=TABLE, radius=2, out=folder)
    assert check(folder, victim()).passed

    def forget(record: dict[str, Any]) -> None:
        assert (record["verdict"], record["radius"]) == ("falsified", 1)
        record.update(verdict="certified", changes=None)
        record["certificate"]["witness_row"] = None

    rewrite(folder, forget, method="exhaustive", text="a fine good film")
    ((_, reason),) = check(folder, victim()).refused
    assert "proves radius 1, where 2 is asked" in reason


def test_in_an_audit_certified_goes_up_to_what_fools(run: Path) -> None:
    def shrink(record: dict[str, Any]) -> None:
        assert (record["verdict"], record["radius"]) == ("certified", 1)
        record["radius"] = record["certificate"]["radius"] = 0
        record["certificate"]["size"] = "1"

    rewrite(run, shrink, method="exhaustive", text="a fine good film")
    ((_, reason),) = check(run, victim()).refused
    assert "proves radius 0, where 1 is asked" in reason


@pytest.mark.parametrize(
    ("fingerprints", "reason"),
    [({}, "no fingerprint of the victim"), ({"victim": None}, "no fingerprint"), ([], "a mapping")],
)
def test_a_manifest_without_a_victim_is_damaged(run: Path, fingerprints: Any, reason: str) -> None:
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"fingerprints": fingerprints}))
    with pytest.raises(RunError, match=reason):
        check(run, victim())


def test_scores_that_are_no_numbers_prove_nothing(run: Path) -> None:
    broken = victim()
    honest, calls = broken.scores, []

    def scores(sources: Any) -> Any:
        found = np.array(honest(sources), dtype=float)
        calls.append(len(found))
        # The probes of its fingerprint, which come first and twice, and texts alone are as they were.
        return found if len(found) == 1 or len(calls) <= 2 else np.full_like(found, np.nan)

    broken.scores = scores  # type: ignore[method-assign]
    reasons = [why for _, why in check(run, broken, full=True).refused]
    assert reasons
    assert all("scores that are no numbers" in why for why in reasons)


def success(*, swaps: int = 1) -> Tamper:
    """Makes a success up that has so many swaps of one position."""

    def tamper(record: dict[str, Any]) -> None:
        record["changes"] = record["changes"][:1] * swaps

    return tamper


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (success(swaps=2), "swaps the word of a position twice"),
        (put("text", value="a bad film"), "not the original with its changes"),
        (put("text", value=None), "not the original with its changes"),
        (put("label", value=7), "has no label 7"),
        (put("label", value=True), "has no label True"),
        (put("others", value=[[[0, "a", "a"]]]), "'a good film' does not fool"),
    ],
)
def test_all_of_a_success_is_looked_at(run: Path, tamper: Tamper, reason: str) -> None:
    rewrite(run, tamper, method="pdp", text="a good film")
    assert any(reason in why for _, why in check(run, victim()).refused)


def test_a_success_keeps_to_the_limits_and_the_candidates(run: Path) -> None:
    path = run / "manifest.json"
    before = json.loads(path.read_text())
    for limit in ({"max_swaps": 0}, {"max_rate": 0.1}):
        path.write_text(json.dumps(before | {"options": before["options"] | limit}))
        assert any("0 are allowed" in why for _, why in check(run, victim()).refused)
    path.write_text(json.dumps(before | {"options": before["options"] | {"target": 1}}))
    assert any("does not fool" in why for _, why in check(run, victim()).refused)
    path.write_text(json.dumps(before))
    rewrite(run, put("candidates", value={}), method="candidates", text="a good film")
    reasons = dict(check(run, victim()).refused)
    assert "is no candidate at position 1" in reasons["list:0 (pdp)"]
    assert "there are 1 texts" in reasons["list:0 (pr)"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("failed", "skipped", "classifies the text as its label"),
        ("skipped", "failed", "the text itself fools"),
        ("skipped", "exhausted", "the text itself fools"),
        ("failed", "fine", "there is no status 'fine'"),
    ],
)
def test_the_status_of_a_text_that_was_not_fooled_is_looked_at(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    run = tmp_path / "run"
    wrong = ("bad film", "pos")
    uf.attack("pdp", victim(), [wrong, *DATA], candidates=TABLE, out=run)
    assert check(run, victim()).passed
    changed = lines(run)
    hit = next(r for r in changed if r["status"] == old and "plain" not in r["original"])
    hit["status"] = new
    (run / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in changed))
    ((_, why),) = check(run, victim()).refused
    assert reason in why


def test_a_removed_text_is_missed(run: Path) -> None:
    kept = [r for r in lines(run) if r["original"] != "a good film"]
    (run / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in kept))
    assert check(run, victim()).refused == [("the run", "4 of 5 texts are there")]


def test_a_shard_has_a_part_of_the_texts(tmp_path: Path) -> None:
    uf.attack("pdp", victim(), DATA, candidates=TABLE, shard="1/2", out=tmp_path / "run")
    assert check(tmp_path / "run", victim()).passed


def lacking(name: str) -> Tamper:
    return lambda record: record.pop(name)


@pytest.mark.parametrize(
    ("method", "tamper", "reason"),
    [
        ("pdp", put("method", value="exhaust"), "the run has no method 'exhaust'"),
        ("pdp", put("method", value=None), "the run has no method None"),
        ("pdp", put("method", value="exhaustive"), "it has no verdict, radius"),
        ("pdp", lambda r: r.update(changes=[], verdict="unknown", radius=-1), "does not fool"),
        ("exhaustive", lacking("verdict"), "it has no verdict"),
        ("exhaustive", lacking("certificate"), "it has no certificate"),
    ],
)
def test_the_manifest_decides_by_what_a_record_is_checked(
    run: Path, method: str, tamper: Tamper, reason: str
) -> None:
    rewrite(run, tamper, method=method, text="a fine good film")
    found = check(run, victim())
    assert any(reason in why for _, why in found.refused)


def test_only_audits_have_records_of_candidates(tmp_path: Path) -> None:
    uf.attack("pdp", victim(), DATA, candidates=TABLE, out=tmp_path / "run")
    assert check(tmp_path / "run", victim()).passed
    rewrite(
        tmp_path / "run",
        lambda r: r.update(method="candidates", changes=[]),
        method="pdp",
        text="a good film",
    )
    found = check(tmp_path / "run", victim())
    assert "the run has no method 'candidates'" in found.refused[0][1]


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (put("certificate", "space", value="0" * 16), "not those of the space"),
        (
            put("certificate", "candidates", "2", value=["movie", "reel"]),
            "candidates are not those",
        ),
        (put("certificate", "size", value="3"), "texts within 2 swaps, not 3"),
        (put("certificate", "evaluated", value=1), "1 texts were evaluated"),
        (put("certificate", "least_margin", value=9.0), "the least margin is said to be 9"),
        (put("certificate", "least_row", value=[7]), "least_row is no row of the space"),
        (put("certificate", "radius", value=1), "the radius is 2, the certificate's 1"),
        (put("certificate", value=None), "has no certificate"),
        (put("certificate", "victim", value="sha256:other"), "another victim than the run"),
        (put("certificate", "example", value="0" * 16), "another text or label"),
        (put("label", value=0), "another text or label"),
    ],
)
def test_a_tampered_proof_is_refused(run: Path, tamper: Tamper, reason: str) -> None:
    rewrite(run, tamper, method="exhaustive", text="a great film")
    found = check(run, victim(), full=True)
    assert len(found.refused) == 1
    assert reason in found.refused[0][1]


def test_a_proof_of_too_much_is_refused(run: Path) -> None:
    def widen(record: dict[str, Any]) -> None:
        record["radius"] = record["certificate"]["radius"] = 2
        record["certificate"].update(size="18", evaluated=18)

    rewrite(run, widen, method="exhaustive", text="a fine good film")
    found = check(run, victim(), full=True)
    assert len(found.refused) == 1


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(["witness_row", "candidates", "size", "evaluated", "least_margin", "space"]),
    json_values,
)
def test_no_mutated_certificate_passes_or_crashes(run: Path, name: str, value: Any) -> None:
    before = (run / "records.jsonl").read_text()
    kept: dict[str, Any] = {}

    def tamper(record: dict[str, Any]) -> None:
        kept["old"] = record["certificate"][name]
        record["certificate"][name] = value

    try:
        rewrite(run, tamper, method="exhaustive", text="a great film")
        found = check(run, victim(), full=True)
        harmless = value is kept["old"] or json.dumps(value) == json.dumps(kept["old"])
        close = name == "least_margin" and isinstance(value, (int, float)) and value == kept["old"]
        assert found.passed == (harmless or close)
    finally:
        (run / "records.jsonl").write_text(before)
