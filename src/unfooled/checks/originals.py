"""Checks what is said of texts as they are: skipped ones are misclassified, others not; their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unfooled.checks.claim import Refused, same_scores
from unfooled.evidence import margins, tolerance
from unfooled.outcomes import reread
from unfooled.victims.base import Victim, checked

_BATCH = 64  # texts scored at once
STATUSES = ("skipped", "failed", "exhausted")


def refusals(
    found: Sequence[Mapping[str, Any]], victim: Victim, *, target: int | None
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The records that the victim contradicts, and why; near-ties could be either."""
    for begin in range(0, len(found), _BATCH):
        part = found[begin : begin + _BATCH]
        raw = victim.scores([reread(record["original"]).source for record in part])
        scores = checked(raw, n=len(part), classes=len(victim.labels), name=victim.name)
        for record, row in zip(part, scores, strict=True):
            why = _refusal(record, row[None], target=target)
            if why is not None:
                yield record, why


def _refusal(
    record: Mapping[str, Any], scores: np.ndarray[Any, Any], *, target: int | None
) -> str | None:
    if not np.isfinite(scores).all():
        return "the victim gives scores that are no numbers"
    try:
        same_scores(scores, record["scores"])
    except Refused as refused:
        return str(refused)
    lead, noise = margins(scores, record["label"])[0], 2 * tolerance(scores)[0]
    if record["status"] != "skipped":
        return f"it says {record['status']}, and the text itself fools" if lead < -noise else None
    reached = target is not None and margins(scores, target)[0] >= -noise
    if lead > noise and not reached:
        return "it says skipped, and the victim classifies the text as its label"
    return None
