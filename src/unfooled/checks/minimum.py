"""Checks the least number of swaps: the witness, and what is said of texts with fewer swaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unfooled.checks import enumeration
from unfooled.checks.claim import (
    Claim,
    Label,
    Refused,
    changes,
    no_witness,
    same_margin,
    whole,
    witness,
)
from unfooled.exact.opened import opened
from unfooled.exact.replay import refusal
from unfooled.outcomes import changed


def bracket(claim: Claim, record: Mapping[str, Any]) -> None:
    """Refuses bounds of the minimum that do not follow from the radius and the witness."""
    status, lower, upper = record["status"], record["lower"], record["upper"]
    if status == "robust":
        if lower is not None or upper is not None or claim.radius != len(claim.space.counts):
            raise Refused("it says robust, and does not speak of the whole space")
        no_witness(record, claim.certificate)
        return
    if not whole(lower) or lower != claim.radius + 1:
        raise Refused(f"the lower bound is {lower!r:.40}, and {claim.radius} swaps are proved")
    if upper is None:
        no_witness(record, claim.certificate)
    elif not whole(upper) or witness(claim, record) != upper:
        raise Refused(f"the upper bound is {upper!r:.40}, and the witness takes other swaps")
    if (status == "optimal") != (upper == lower):
        raise Refused(f"it says {status}, with a lower bound of {lower} and an upper of {upper}")


def margin(claim: Claim, record: Mapping[str, Any]) -> None:
    """Refuses a margin that is not that of the witness, or of the text where there is none."""
    original, said = claim.space.original, record["margin"]
    text = changed(original, changes(record["changes"] or (), original))
    same_margin(claim.victim, text, label=claim.label, said=said)


def check(claim: Claim, *, sample: int | None, full: bool) -> Label:
    """`checked` for a tree of splits, `solver-trusted` where a solver's word is all there is.

    In full every text that the solver has ruled out is evaluated, and its word is not needed.
    """
    claim.keeps_label()
    if claim.kind in (None, "original") and not claim.radius:
        return "checked"
    if claim.kind is None:
        raise Refused(f"the text alone proves radius 0, not {claim.radius}")
    # The text alone proves any radius where the network cannot tell a candidate from its word.
    why = refusal(opened(claim.reading()), claim.certificate, label=claim.label)
    if why is not None:
        raise Refused(why)
    if claim.kind != "solver":
        return "checked"
    solver = claim.certificate["solver"]
    if not isinstance(solver, str) or not solver:
        raise Refused(f"a solver has a name, not {solver!r:.40}")
    enumeration.spot(claim, sample=sample, full=full)  # it says nothing else that could be refuted
    return "checked" if full else "solver-trusted"
