"""Brackets: what claims say about the least fooling swaps, and what contradicts what."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.errors import Unsound
from unfooled.evidence import NOISE, Bracket, margins, tolerance


def test_a_correct_text_needs_at_least_one_swap() -> None:
    start = Bracket.original()
    assert (start.lower, start.upper, start.exact) == (1, None, False)
    assert (start.below.kind, start.above.kind) == ("proved", "unknown")


def test_an_attack_bounds_from_above_and_a_proof_from_below() -> None:
    bracket = Bracket.original().attacked(3, "pdp").proved(2, "exhaustive")
    assert (bracket.lower, bracket.upper, bracket.exact) == (3, 3, True)
    assert (bracket.below.method, bracket.above.method) == ("exhaustive", "pdp")
    assert (bracket.below.kind, bracket.above.kind) == ("proved", "attacked")


def test_only_better_evidence_counts() -> None:
    bracket = Bracket.original().attacked(3, "pdp").attacked(5, "greedy").attacked(3, "beam")
    assert (bracket.upper, bracket.above.method) == (3, "pdp")
    proved = Bracket.original().proved(2, "exhaustive").proved(1, "intervals")
    assert (proved.lower, proved.below.method) == (3, "exhaustive")


def test_a_proof_of_the_whole_space_closes_both_sides() -> None:
    bracket = Bracket.original().withstood("pdp").proved(math.inf, "exhaustive")
    assert (bracket.lower, bracket.upper, bracket.exact) == (math.inf, math.inf, True)
    assert bracket.above.kind == "proved"


def test_withstanding_an_attack_bounds_nothing() -> None:
    bracket = Bracket.original().withstood("pdp", detail="not broken: failed")
    assert (bracket.lower, bracket.upper) == (1, None)
    assert (bracket.above.kind, bracket.above.method) == ("unknown", "pdp")
    assert Bracket.original().attacked(2, "beam").withstood("pdp").upper == 2


@pytest.mark.parametrize("radius", [2, 3, math.inf])
def test_a_proof_beyond_an_attack_names_both(radius: float) -> None:
    with pytest.raises(Unsound, match=r"exhaustive proved .* but pdp fooled it with 2"):
        Bracket.original().attacked(2, "pdp").proved(radius, "exhaustive")


@pytest.mark.parametrize("radius", [2, math.inf])
def test_an_attack_below_a_proof_names_both(radius: float) -> None:
    with pytest.raises(Unsound, match=r"exhaustive proved .* but pdp fooled it with 2"):
        Bracket.original().proved(radius, "exhaustive").attacked(2, "pdp")


steps = st.lists(
    st.one_of(
        st.tuples(st.just("proved"), st.integers(0, 6)),
        st.tuples(st.just("attacked"), st.integers(1, 7)),
    ),
    max_size=6,
)


@given(steps)
def test_a_bracket_is_the_best_of_its_evidence_in_any_order(
    evidence: list[tuple[str, int]],
) -> None:
    lower = max([1] + [r + 1 for kind, r in evidence if kind == "proved"])
    upper = min([s for kind, s in evidence if kind == "attacked"], default=None)
    for order in (evidence, evidence[::-1]):
        bracket = Bracket.original()
        try:
            for kind, value in order:
                bracket = getattr(bracket, kind)(value, kind)
        except Unsound:
            assert upper is not None
            assert lower > upper
        else:
            assert (bracket.lower, bracket.upper) == (lower, upper)
            assert upper is None or lower <= upper


@given(st.integers(2, 5), st.data())
def test_margins_are_the_lead_over_the_best_other(classes: int, data: st.DataObject) -> None:
    score = st.floats(-1e3, 1e3, width=32)
    row = data.draw(st.lists(score, min_size=classes, max_size=classes))
    label = data.draw(st.integers(0, classes - 1))
    others = [s for i, s in enumerate(row) if i != label]
    assert margins(np.array([row]), label)[0] == row[label] - max(others)
    assert tolerance(np.array([row]))[0] == NOISE * max(1.0, *map(abs, row))
