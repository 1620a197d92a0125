"""Checks a least number of swaps that has no certificate: the text itself is misclassified, or nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unfooled.checks.claim import Label, Refused, fools, same_margin, whole
from unfooled.outcomes import reread
from unfooled.victims.base import Victim


def check(record: Mapping[str, Any], victim: Victim) -> Label | None:
    """`checked` for a text that the victim misclassifies as it is; None: no bound is claimed."""
    status, lower, upper = record["status"], record["lower"], record["upper"]
    original, label, margin = reread(record["original"]), record["label"], record["margin"]
    if record["changes"] is not None:
        raise Refused(f"it says {status} and has no certificate")
    if status == "skipped":
        if not (whole(lower) and whole(upper) and lower == upper == 0):
            raise Refused("it says skipped, with bounds that are not 0")
        fools(victim, original, label=label)
        same_margin(victim, original, label=label, said=margin)
        return "checked"
    if status not in ("bracketed", "error") or not whole(lower) or lower or upper is not None:
        raise Refused(f"it says {status} and has no certificate")
    if not record["reason"]:
        raise Refused(f"it says {status}, and not why")
    if margin is not None:
        same_margin(victim, original, label=label, said=margin)
    return None
