"""Checks a bound over all texts within a radius: it is computed again and has to hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unfooled.bounds.replay import recomputed
from unfooled.checks.claim import Claim, Label, Refused, number

_CLOSE = 1e-6  # relative: the same but for the last digits of other machines


def check(claim: Claim, *, asked: Mapping[str, Any]) -> Label:
    """`checked`: the bound is that of the certificate and above the tolerance.

    `asked` are the options of the certifier. Any slope is sound, and the bound is that of the slopes.
    """
    method = claim.certificate["bounds"]
    if method != asked.get("bounds", method):
        raise Refused(f"its bounds are {method!r:.40}, and {asked['bounds']} were asked for")
    if method != "optimised" and claim.certificate["slopes"] is not None:
        raise Refused(f"bounds by {method!r:.40} have no slopes of their own")
    claim.keeps_label()
    reading = claim.reading()
    found = recomputed(reading, claim.label, radius=claim.radius, argument=claim.certificate)
    lower, said = float(found.margin[0]), number(claim.certificate["bound"], "the bound")
    if abs(lower - said) > _CLOSE * max(1.0, abs(lower)):
        raise Refused(f"the bound is said to be {said:.6g}, and is {lower:.6g}")
    if not bool(found.holds[0]):
        width = float(found.tolerance[0])
        raise Refused(f"the bound is {lower:.6g}, which is not above the tolerance {width:.6g}")
    return "checked"
