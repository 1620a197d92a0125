"""Records that are JSON but not whole: one sentence that names the record, wherever they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_toys import DATA, TABLE, attack, victim
from unfooled import auditing, outcomes, report
from unfooled.auditing import audit
from unfooled.errors import RunError
from unfooled.estimates import estimate
from unfooled.proofs import certify


def audited(out: Path) -> object:
    return audit(victim(), DATA, candidates=TABLE, radius=2, out=out)


def attacked(out: Path) -> object:
    return attack(out=out)


def proved(out: Path) -> object:
    return certify("exhaustive", victim(), DATA, candidates=TABLE, radius=1, out=out)


def estimated(out: Path) -> object:
    return estimate(victim(), DATA, candidates=TABLE, radius=1, out=out)


def damage(folder: Path, change: Callable[[dict[str, Any]], None], *, line: int) -> str:
    """Changes one record; returns its key."""
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines()
    record = json.loads(lines[line])
    change(record)
    lines[line] = json.dumps(record)
    path.write_text("\n".join(lines) + "\n")
    return str(record["key"])


READERS: dict[Any, list[Any]] = {
    audited: [auditing.read, lambda folder: report.write([folder])],
    attacked: [outcomes.read, lambda folder: report.write([folder])],
    proved: [],
    estimated: [],
}


@pytest.mark.parametrize("run", READERS, ids=lambda run: run.__name__)
def test_a_record_without_any_one_field_is_named(run: Any, tmp_path: Path) -> None:
    run(tmp_path)
    lines = (tmp_path / "records.jsonl").read_text()
    may_lack = {
        "others",
        "refused",
        "positions",
        "max_swaps",
        "choices",
        "size",
        "misclassified",
    }  # older runs have none
    for line in range(len(lines.splitlines())):
        fields = json.loads(lines.splitlines()[line]).keys() - may_lack - {"key", "method"}
        for field in sorted(fields):
            (tmp_path / "records.jsonl").write_text(lines)
            key = damage(tmp_path, lambda record, field=field: record.pop(field), line=line)
            for use in (run, *READERS[run][:1]):
                with pytest.raises(RunError) as caught:
                    use(tmp_path)
                assert f"the record with the key {key} has no '{field}'; delete that line" in str(
                    caught.value
                )


@pytest.mark.parametrize("run", READERS, ids=lambda run: run.__name__)
@pytest.mark.parametrize("value", [None, 3, ["x"]])
def test_a_field_with_another_kind_of_value_is_named(run: Any, value: Any, tmp_path: Path) -> None:
    run(tmp_path)
    key = damage(tmp_path, lambda record: record.update(original=value), line=0)
    for use in (run, *READERS[run]):
        with pytest.raises(RunError, match=f"key {key} cannot be read"):
            use(tmp_path)


def test_a_record_of_an_audit_without_its_method_is_named(tmp_path: Path) -> None:
    audited(tmp_path)
    damage(tmp_path, lambda record: record.pop("method"), line=0)
    with pytest.raises(RunError, match="has no 'method'"):
        auditing.read(tmp_path)
