"""What every certificate has in common, and the re-run of a witness that certifiers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unfooled.counting import Rows
from unfooled.evidence import NOISE, margins, tolerance
from unfooled.fingerprints import examples_fingerprint
from unfooled.program import Goal
from unfooled.proof import listed
from unfooled.rerun import Finish
from unfooled.space import Space
from unfooled.text import Example
from unfooled.work import Work

NOT_ALONE = "the counterexample does not fool the victim when it is run alone"


def fooling_margin(space: Space, row: Rows, *, label: int) -> Finish[float | None]:
    """The margin of the label when the row's text is run alone; None if it does not clearly fool."""
    (scores,) = yield [space.text(row)]
    if not Goal(space, label).met(scores, space.rows(row))[0]:
        return None
    return float(margins(scores, label)[0])


def apart_alone(space: Space, argument: Mapping[str, Any], *, label: int) -> Finish[str]:
    """Why the least margin that a proof names is not the victim's; empty where it is, or none is named.

    What rounding takes in a batch, a sweep or float64 shows where the margin is least.
    """
    where = argument.get("least_row")
    if where is None:
        return ""
    (scores,) = yield [space.text(np.array(where, dtype=np.int16))]
    said, lead = argument["least_margin"], float(margins(scores, label)[0])
    if abs(lead - said) <= tolerance(scores)[0]:
        return ""
    return (
        f"numerics: a text has a margin of {lead:.6g} when it is run alone and of {said:.6g} in the "
        "proof, which is more than the tolerance"
    )


def certificate(
    work: Work,
    space: Space,
    example: Example,
    *,
    radius: int,
    witness: Rows | None,
    argument: Mapping[str, Any],
) -> dict[str, Any]:
    """What a checker needs, without the search: the space, its size and the method's argument."""
    return {
        "method": work.method,
        "victim": work.victim_fingerprint,
        "example": examples_fingerprint([example]),
        "space": space.fingerprint,
        "candidates": {
            str(p): list(c) for p, c in zip(space.positions, space.candidates, strict=True)
        },
        "radius": radius,
        "size": str(space.size(max(radius, 0))),  # as text: it may have hundreds of digits
        "witness_row": listed(witness),
        "tolerance": NOISE,
        **argument,
    }
