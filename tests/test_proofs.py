"""uf.certify over a data set: verdicts, certificates, witnesses that are run alone, resume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_toys import DATA, TABLE, Counted, victim
from unfooled.errors import InputError
from unfooled.proofs import Verdict, certify


def prove(**more: Any) -> tuple[Verdict, ...]:
    more.setdefault("candidates", TABLE)
    return certify("exhaustive", more.pop("who", None) or victim(), DATA, **more)


def test_verdicts_by_hand() -> None:
    found = prove(radius=2)
    decided = ["falsified", "falsified", "falsified", "unknown", "certified"]
    assert [v.verdict for v in found] == decided
    assert "near-tie" in found[3].reason  # the original itself could be either
    assert [v.radius for v in found] == [0, 0, 1, -1, 2]
    assert str(found[0].witness) == "a ok film"
    assert str(found[2].witness) == "a ok ok film"
    assert found[4].witness is None


def test_one_swap_is_proved_where_two_are_needed() -> None:
    found = prove(radius=1)
    assert (found[2].verdict, found[2].radius) == ("certified", 1)
    certificate = found[2].certificate
    assert certificate is not None
    assert certificate["size"] == "5"  # the original, ok for fine, nice and ok for good, movie
    assert certificate["evaluated"] == 5
    assert certificate["least_margin"] == pytest.approx(0.3)  # fine + ok


def test_a_budget_leaves_what_was_proved() -> None:
    found = prove(radius=2, max_queries=3)
    assert {v.verdict for v in found} <= {"falsified", "unknown", "certified"}
    undecided = [v for v in found if v.verdict == "unknown" and v.radius >= 0]
    assert undecided
    assert all(v.reason for v in undecided)


def test_a_witness_that_does_not_fool_alone_is_no_witness() -> None:
    class Liar(Counted):
        def __call__(self, texts: list[Any]) -> list[list[float]]:
            honest = super().__call__(texts)
            return (
                honest
                if len(texts) == 1
                else [
                    [0.0, -s if "ok" in t else s] for t, (_, s) in zip(texts, honest, strict=True)
                ]
            )

    found = prove(who=victim(Liar({"good": 1.0, "fine": 1.0, "great": 2.0, "ok": 3.0})), radius=1)
    assert all(v.witness is None or "ok" not in str(v.witness) for v in found)


def test_records_come_back_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    first = prove(radius=2, out=tmp_path / "run")
    function = Counted()
    again = prove(radius=2, who=victim(function), out=tmp_path / "run")
    assert again == first
    assert not {text for text, _ in DATA} & set(function.seen)
    assert [Verdict.from_record(v.record()) for v in first] == list(first)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("exhaustiv", {}, "did you mean 'exhaustive'"),
        ("exhaustive", {"radius": -1}, "radius is a number of swaps"),
        ("exhaustive", {"ordr": "none"}, "did you mean 'order'"),
    ],
)
def test_bad_options_are_named(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        certify(name, victim(), DATA, candidates=TABLE, **options)
