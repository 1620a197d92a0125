"""Checks proofs that looked at every text: recounted, the least margin and a sample scored again."""

from __future__ import annotations

from typing import Any

from unfooled.checks.claim import Claim, Label, Refused, number, whole
from unfooled.keys import rng_for

MOST = 200  # texts of a sample, unless a number is asked for,
_LEAST, _PART = 16, 32  # and no more than one in so many: checks are to be cheaper than proofs
_CHUNK = 1024  # texts scored at once


def check(claim: Claim, *, sample: int | None, full: bool) -> Label:
    """`checked` if every text was scored again, `spot-checked` if a sample was."""
    radius, evaluated = claim.radius, claim.certificate["evaluated"]
    size = claim.space.size(radius)
    if not whole(evaluated) or evaluated < size:
        raise Refused(f"{evaluated!r:.40} texts were evaluated, of {size} within {radius}")
    least = _least(claim)
    spot(claim, sample=sample, full=full, least=least)
    return "checked" if full else "spot-checked"


def counted(claim: Claim, changes: Any, *, decided: bool) -> None:
    """Refuses more texts than there were to evaluate: of a decided region, up to the witness, or at all."""
    within = claim.radius if decided else None if changes is None else len(changes)
    most, evaluated = claim.space.size(within), claim.certificate["evaluated"]
    if not whole(evaluated) or not 0 <= evaluated <= most:
        raise Refused(f"{evaluated!r:.40} texts were evaluated, of {most} that were to be")


def nothing(claim: Claim, changes: Any) -> None:
    """Refuses a certificate that proves nothing, not even the text itself, and argues for something."""
    if claim.kind is None:
        return
    if claim.kind != "enumeration":
        raise Refused(f"it proves nothing, by an argument of the kind {claim.kind}")
    counted(claim, changes, decided=False)
    if claim.certificate["least_margin"] is not None or claim.certificate["least_row"] is not None:
        raise Refused("it proves nothing, and has a least margin")


def spot(
    claim: Claim, *, sample: int | None, full: bool = False, least: float | None = None
) -> None:
    """Refuses a claim when one of a sample of its texts fools, or has less than the least margin.

    All of them are looked at when they are no more than the sample.
    """
    space, radius = claim.space, claim.radius
    size = space.size(radius)
    many = min(MOST, max(_LEAST, size // _PART)) if sample is None else sample
    if full or size <= many:
        chunks = space.enumerate(radius, chunk=_CHUNK)
    else:
        chunks = iter([space.sample(radius, many, rng_for(0, claim.key))])
    for chunk in chunks:
        found, noise = claim.margins(chunk)
        if (found <= noise).any():
            shown = space.text(chunk[int(found.argmin())])
            raise Refused(f"{str(shown)!r} is in the region and fools")
        if least is not None and (found < least - 10 * noise).any():
            raise Refused(f"there is a margin of {found.min():.6g}, below the least of {least:.6g}")


def _least(claim: Claim) -> float:
    """The least margin of the certificate, if the text that is said to have it does."""
    least = number(claim.certificate["least_margin"], "the least margin")
    rows = claim.row("least_row")[None]
    if not claim.space.contains(rows, claim.radius)[0]:
        raise Refused("the text with the least margin is not in the region")
    found, noise = claim.margins(rows)
    if abs(found[0] - least) > 10 * noise[0]:
        raise Refused(f"the least margin is said to be {least:.6g}, and is {found[0]:.6g}")
    return least
