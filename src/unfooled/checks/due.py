"""Due: which methods of an audit had something to do on a text, given what the ones before say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unfooled.checks.asked import Asked
from unfooled.evidence import Bracket
from unfooled.records import CANDIDATES

Found = Mapping[str, Mapping[str, Any]]
"""The records of one text by method."""


def due(asked: Asked, found: Found) -> list[str]:
    """The methods that must have a record of this text, and no other may; Unsound: they contradict.

    Attacks are run on every text, certifiers in turn where a proof would raise the lower bound, the
    share of texts is estimated where not all within its radius are proved.
    """
    if not asked.audit:
        return list(asked.rules)
    wanted = [CANDIDATES, *asked.named("attack")]
    bracket = _attacked(asked, found)
    for name in asked.certifiers:
        if bracket is None or bracket.exact or bracket.lower > asked.radii.get(name, math.inf):
            continue
        wanted.append(name)
        if name in found:
            bracket = _proved(bracket, found[name], name=name)
    if bracket is not None and bracket.lower <= asked.options["pr"]["radius"]:
        wanted += asked.named("estimate")
    return wanted


def _attacked(asked: Asked, found: Found) -> Bracket | None:
    """What the attacks come to; None: there is nothing to bracket."""
    bracket = Bracket.original()
    for name in asked.named("attack"):
        status = found.get(name, {}).get("status")
        if status in ("skipped", "error"):
            return None
        if status == "success":
            bracket = bracket.attacked(len(found[name]["changes"]), name)
    return bracket


def _proved(bracket: Bracket, record: Mapping[str, Any], *, name: str) -> Bracket | None:
    """The bracket with what a certifier says; None: it failed."""
    if "error" in (record.get("status"), record.get("verdict")):
        return None
    if record["changes"] is not None:
        bracket = bracket.attacked(len(record["changes"]), name)
    if "verdict" not in record:
        lower = math.inf if record["status"] == "robust" else record["lower"]
        return bracket.proved(lower - 1, name)
    radius, certified = record["radius"], record["verdict"] == "certified"
    if radius < 1 and not certified:
        return bracket
    everything = certified and radius >= len(record["certificate"]["candidates"])
    return bracket.proved(math.inf if everything else radius, name)
