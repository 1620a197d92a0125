"""uf.certify over a data set: verdicts, certificates, witnesses that are run alone, resume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch

import sweep_toys
import unfooled as uf
from runner_toys import DATA, TABLE, Counted, victim
from unfooled.check import check
from unfooled.errors import InputError
from unfooled.proofs import Verdict, certify
from unfooled.victims.words import WordVictim


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


class Apart(WordVictim):
    """A victim that scores texts alone otherwise than its rows, by so much."""

    shifts: Mapping[str, float] = MappingProxyType({})

    def scores(self, sources: Sequence[Any]) -> Any:
        found = super().scores(sources)
        for row, source in zip(found, sources, strict=True):
            row[0] += self.shifts.get(source, 0.0)
        return found

    alone = scores


def apart(**shifts: float) -> tuple[Apart, str, str]:
    """The victim, the label of its text, and the text."""
    plain = sweep_toys.victim("mlp", seed=3, classes=2)
    text = "wa wb wc wd"
    label = plain.labels[int(plain.scores([text])[0].argmax())]
    found = Apart(plain.model, name="apart", fingerprint="apart")
    found.shifts = {name.replace("_", " "): by for name, by in shifts.items()}
    return found, label, text


METHODS = ("exhaustive", "branch-and-bound", "linear", "intervals")


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_proved_of_a_text_that_has_another_label_alone(method: str) -> None:
    victim, label, text = apart()
    sign = -9.0 if victim.labels.index(label) == 0 else 9.0
    victim.shifts = {text: sign}
    (found,) = certify(method, victim, [(text, label)], candidates={"wa": ["wz"]}, radius=1)
    assert (found.verdict, found.radius) == ("unknown", -1)
    assert "alone" in found.reason


@pytest.mark.parametrize("method", ["exhaustive", "branch-and-bound"])
def test_a_least_margin_that_is_another_alone_certifies_nothing(
    method: str, tmp_path: Path
) -> None:
    """Huge numbers that cancel make a batch and a text alone differ by more than the tolerance."""
    victim, label, text = apart()
    sign = 1.0 if victim.labels.index(label) == 0 else -1.0
    with torch.no_grad():
        victim.network.output.bias[0] += 20 * sign  # so that every text keeps the label
    space = {"wa": ["wf", "wz"], "wb": ["wg"]}
    how: dict[str, Any] = {"candidates": space, "radius": 2}
    (found,) = certify(method, victim, [(text, label)], **how)
    assert (found.verdict, found.radius) == ("certified", 2)
    least = found.certificate["least_row"]  # type: ignore[index]
    words = text.split()
    for column, choice in enumerate(least):
        if choice:
            words[column] = space[words[column]][choice - 1]
    victim.shifts = {" ".join(words): 0.01}
    (found,) = certify(method, victim, [(text, label)], out=tmp_path / "run", **how)
    assert (found.verdict, found.radius) == ("unknown", 0)
    assert "numerics" in found.reason
    report = check(tmp_path / "run", victim)
    assert report.passed, report.refused


def test_a_minimum_by_evaluation_is_held_to_the_same(tmp_path: Path) -> None:
    plain = sweep_toys.victim("mlp", seed=3, classes=2)
    text, words = "wa wb wc wd", {"wa": ["wf wz"], "wb": ["wg"]}  # the first is several words
    label = int(plain.scores([text])[0].argmax())
    victim = Apart(plain.model, name="apart", fingerprint="apart")
    with torch.no_grad():
        victim.network.output.bias[label] += 20
    given = [(text, victim.labels[label])]
    (found,) = certify("minimum", victim, given, candidates=words)
    assert (found.status, found.method) == ("robust", "enumeration")
    space = uf.Space(text, {0: ("wf wz",), 1: ("wg",)})
    (least,) = space.sources([found.certificate["least_row"]])
    victim.shifts = {least: 0.01}
    (found,) = certify("minimum", victim, given, candidates=words, out=tmp_path / "run")
    assert (found.status, found.lower, found.upper) == ("bracketed", 1, None)
    assert "numerics" in found.reason
    report = check(tmp_path / "run", victim)
    assert report.passed, report.refused
