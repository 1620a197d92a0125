"""Certifiers by themselves, against what five texts leave open."""

from __future__ import annotations

import json

import pytest

import unfooled as uf
from results import exact_alone
from results.exact_alone import Alone, closed, measured
from results.exact_page import page
from sweep_toys import KNOWN, victim
from unfooled.errors import Unsound

NEAR = {word: [KNOWN[(i + 7) % 24], KNOWN[(i + 11) % 24]] for i, word in enumerate(KNOWN)}


def test_a_bracket_is_closed_as_far_as_its_lower_bound_reaches() -> None:
    # Of 2 + 4 + 0 + 1 swaps to close, 1 + 4 + 0 + 0 are; the third text has nothing to close.
    part, whole = closed([2, 5, 1, 1], [3, 5, 1, 2])
    assert part == pytest.approx(5 / 7)
    assert whole == pytest.approx(1 / 3)


def test_every_certifier_is_below_the_attack_and_exhaustive_closes_all() -> None:
    model = victim("mlp", seed=4, classes=2)
    texts = [" ".join(KNOWN[i : i + 5]) for i in range(6)]
    labels = [int(row.argmax()) for row in model.scores(texts)]
    examples = [
        uf.Example(uf.Text.parse(text), label, str(i))
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    table = [uf.Space(text, {i: NEAR[w] for i, w in enumerate(text.split())}) for text in texts]
    cell = Alone("mr", "mlp", 6, 10_000)
    found = measured(cell, model, examples, table)
    lower = {row["method"]: row["lower"] for row in found["certifiers"]}
    assert list(lower) == list(exact_alone.METHODS)
    for method, bounds in lower.items():
        assert all(low <= high for low, high in zip(bounds, found["upper"], strict=True)), method
    assert lower["`exhaustive`"] == lower["`minimum`"] == found["upper"]
    cells = [json.loads(json.dumps({"cell": "mr-mlp", "budget": 10_000, **found}))]
    rows = [r for r in page([], alone=cells).splitlines() if r.startswith("| MR | MLP | 6 |")]
    assert len(rows) == len(lower)
    assert "| `exhaustive`, 10,000 | 100.0 | 100.0 |" in "\n".join(rows)


def test_a_proof_that_an_attack_refutes_ends_it() -> None:
    with pytest.raises(Unsound, match="proves 3 swaps, and PDP fools with 2"):
        exact_alone._refuse_contradictions("`linear`", [1, 3], [1, 2])
