"""Audits of victims that show their layers: which certifiers are asked, and what they come to."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sweep_toys import space, victim
from unfooled.auditing import audit, read
from unfooled.cascade import suited
from unfooled.program import Goal
from unfooled.text import Example
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
