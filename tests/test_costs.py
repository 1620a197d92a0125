"""What methods took: kept after each phase and however a call ends, added up over calls."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from runner_toys import DATA, TABLE, Counted, victim
from unfooled.auditing import audit, read
from unfooled.costs import NAME, continued, read_costs, write_costs
from unfooled.errors import RunError


class Interrupted(Counted):
    """A victim that takes its time, and is stopped by hand at the first text of a proof or of PR."""

    def __init__(self, *, after: int) -> None:
        super().__init__()
        self.left = after

    def __call__(self, texts: list[Any]) -> list[list[float]]:
        time.sleep(0.02)
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().__call__(texts)


def run(folder: Path, **more: Any) -> Any:
    who = victim(more.pop("function", None))
    return audit(who, DATA, candidates=TABLE, radius=2, out=folder, **more)


def calls_of(attacks: tuple[str, ...], folder: Path) -> int:
    function = Interrupted(after=10_000)
    run(folder, function=function, attacks=attacks)
    return 10_000 - function.left


def test_a_stopped_audit_keeps_what_its_methods_took(tmp_path: Path) -> None:
    folder, calls = tmp_path / "run", calls_of(("pdp", "greedy"), tmp_path / "whole")
    stopped_in = set()
    for after in range(4, calls):  # stopped everywhere once, and resumed
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / f"{after}", function=Interrupted(after=after), attacks=("pdp", "greedy"))
        stopped_in.add(tuple(read_costs(tmp_path / f"{after}")))
    assert ("pdp", "greedy", "exhaustive", "pr") in stopped_in
    assert ("pdp", "greedy") in stopped_in
    with pytest.raises(KeyboardInterrupt):
        run(folder, function=Interrupted(after=calls - 1), attacks=("pdp", "greedy"))
    before = read_costs(folder)
    found = run(folder, attacks=("pdp", "greedy"))
    assert found.costs == read(folder)[0].costs
    for name, cost in before.items():
        assert found.costs[name]["seconds"] >= cost["seconds"] >= 0.02
    assert found.costs["pdp"]["texts"] == 5
    assert not list(folder.glob("*.new"))


def test_a_second_call_adds_its_seconds_once() -> None:
    before = {"pdp": {"texts": 2, "seconds": 1.5}, "pr": {"texts": 1, "seconds": 0.5}}
    now = {"pdp": {"texts": 3, "seconds": 0.25}}
    assert continued(before, now) == {
        "pdp": {"texts": 3, "seconds": 1.75},
        "pr": {"texts": 1, "seconds": 0.5},
    }
    assert continued(before, {"pdp": {"seconds": 1.0}})["pdp"] == {"texts": 2, "seconds": 2.5}
    assert before["pdp"]["seconds"] == 1.5


def test_parts_become_one_file(tmp_path: Path) -> None:
    for part in ("costs-1-of-2.json", "costs-2-of-2.json"):
        (tmp_path / part).write_text(json.dumps({"pr": {"seconds": 2.0}}))
    total = read_costs(tmp_path)
    assert total == {"pr": {"seconds": 4.0}}
    write_costs(tmp_path, total)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert read_costs(tmp_path) == total


@pytest.mark.parametrize(
    "content", [b"", b'{"pdp": {"texts": 1', b"[1]", b'{"pdp": 3}', b'{"pdp": {"texts": "x"}}', b"\xff"]
)  # fmt: skip
def test_a_damaged_file_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    run(tmp_path / "run")
    (tmp_path / "run" / NAME).write_bytes(content)
    for use in (read, run):
        with pytest.raises(RunError, match=r"costs\.json is damaged: delete it"):
            use(tmp_path / "run")
    (tmp_path / "run" / NAME).unlink()
    assert run(tmp_path / "run").costs["pdp"]["texts"] == 5
