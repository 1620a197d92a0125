"""Audits of victims that show their layers: which certifiers are asked, and what they come to."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sweep_toys import ARCHITECTURES, space, victim
from unfooled.auditing import audit, read
from unfooled.cascade import suited
from unfooled.errors import Unsupported
from unfooled.exact.opened import opened
from unfooled.program import Goal
from unfooled.proofs import certify
from unfooled.refusals import PIECEWISE, smooth
from unfooled.text import Example, Text
from unfooled.victims.base import Victim
from victim_doubles import Double, constant, least_swaps

ASKED = {
    "mlp": ("minimum", "branch-and-bound"),
    "cnn": ("linear", "branch-and-bound", "minimum"),
    "lstm": ("branch-and-bound",),
}


@pytest.mark.parametrize("arch", ASKED)
def test_the_architecture_decides_who_is_asked(arch: str) -> None:
    assert suited(victim(arch)) == ASKED[arch]
    assert suited(victim(arch, pair=True)) == ("branch-and-bound",)


def test_a_victim_without_layers_is_asked_text_by_text() -> None:
    assert suited(Double(constant())) == ("exhaustive",)


@pytest.mark.parametrize("arch", ["mlp", "cnn", "bilstm"])
def test_brackets_hold_the_brute_force_minimum(arch: str, tmp_path: Path) -> None:
    model = victim(arch, seed=3)
    spaces = [space(seed=i, words=6, columns=4, candidates=3) for i in range(40)]
    labels = model.scores([s.original.source for s in spaces]).argmax(axis=1)
    examples = [
        Example(s.original, int(y), str(i))
        for i, (s, y) in enumerate(zip(spaces, labels, strict=True))
    ]
    found = audit(model, examples, candidates=spaces, radius=4, out=tmp_path / "run")
    assert {name for a in found for name in a.verdicts} <= set(suited(model))
    for audited, members, example in zip(found, spaces, examples, strict=True):
        least = least_swaps(members, model, Goal(members, example.label))
        assert audited.lower == audited.upper == (math.inf if least is None else least)
    stored, _ = read(tmp_path / "run")
    assert [(a.lower, a.upper) for a in stored] == [(a.lower, a.upper) for a in found]
    kinds = {a.bracket.below.method for a in found if a.bracket} - {"original"}
    assert kinds <= set(suited(model))
    assert np.mean([a.exact for a in found]) == 1


def test_each_certifier_is_asked_where_the_ones_before_left_something(tmp_path: Path) -> None:
    model = victim("cnn", seed=1)
    spaces = [space(seed=i, words=6, columns=4, candidates=3) for i in range(30)]
    labels = model.scores([s.original.source for s in spaces]).argmax(axis=1)
    examples = [
        Example(s.original, int(y), str(i))
        for i, (s, y) in enumerate(zip(spaces, labels, strict=True))
    ]
    found = audit(
        model, examples, candidates=spaces, radius=4, certifiers=("linear", "exhaustive"),
        out=tmp_path / "run",
    )  # fmt: skip
    for a in found:
        if "exhaustive" in a.verdicts:
            assert "linear" in a.verdicts
            assert a.bracket is not None
    assert any("linear" in a.verdicts and "exhaustive" not in a.verdicts for a in found)


@pytest.mark.parametrize(
    ("model", "certifier", "said"),
    [
        (victim("bilstm"), "minimum", "and bilstm is not piecewise linear: exhaustive, branch-and-bound"),
        (victim("transformer"), "minimum", "and transformer is not piecewise linear"),
        *[
            (Double(constant()), name, "does not show its layers.*exhaustive works")
            for name in ("minimum", "branch-and-bound", "intervals", "linear")
        ],
    ],
)  # fmt: skip
def test_who_cannot_be_proved_is_told_before_anything_runs(
    model: Victim, certifier: str, said: str, tmp_path: Path
) -> None:
    def unwanted(text: Text) -> dict[int, list[str]]:
        raise AssertionError("a text has been looked at")

    texts, out = [("wa wb", 0)], tmp_path / "run"
    for call in (
        lambda: audit(
            model, texts, candidates=unwanted, certifiers=["exhaustive", certifier], out=out
        ),
        lambda: certify(certifier, model, texts, candidates=unwanted, out=out),
    ):
        with pytest.raises(Unsupported, match=said):
            call()
    assert not out.exists()


@pytest.mark.parametrize("arch", [*ARCHITECTURES, "transformer"])
def test_those_are_refused_whose_layers_cannot_be_solved(arch: str) -> None:
    model = victim(arch)
    reading = model.layers(model.prepare(space(seed=0, words=4, columns=2, candidates=2)))
    assert reading is not None
    if model.architecture in PIECEWISE:
        opened(reading)
        return
    with pytest.raises(Unsupported) as found:
        opened(reading)
    assert str(found.value) == str(smooth(model.architecture))
