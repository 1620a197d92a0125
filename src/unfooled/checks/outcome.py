"""Checks a success of an attack: its texts are rebuilt, run alone, and held to the limits of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unfooled.checks.claim import Label, Refused, changes, fools
from unfooled.outcomes import changed, reread, written
from unfooled.text import Text
from unfooled.victims.base import Victim

Choices = Mapping[str, Any]
"""The candidates of a text by position, as recorded."""


def check(
    record: Mapping[str, Any],
    victim: Victim,
    *,
    options: Mapping[str, Any],
    choices: Choices | None,
) -> Label:
    """`checked`: the text of the record and all others fool as asked; None: any word is a candidate."""
    original = reread(record["original"])
    most = _most(original, options)
    for number, found in enumerate((record["changes"], *record.get("others", ()))):
        swaps = changes(found, original)
        text = changed(original, swaps)
        fools(victim, text, label=record["label"], target=options.get("target"))
        if number == 0 and record["text"] != written(text):
            raise Refused("its text is not the original with its changes made")
        if most is not None and len(swaps) > most:
            raise Refused(f"it takes {len(swaps)} swaps, and {most} are allowed")
        for position, _, new in swaps:
            if choices is not None and new not in choices.get(str(position), ()):
                raise Refused(f"{new!r} is no candidate at position {position}")
    return "checked"


def _most(text: Text, options: Mapping[str, Any]) -> int | None:
    """The most swaps that the run allows in a text."""
    most = [] if options.get("max_swaps") is None else [int(options["max_swaps"])]
    if options.get("max_rate") is not None:
        # The slack is that of `Limits.swaps`: 0.29 x 100 is 28.999...
        most.append(math.floor(options["max_rate"] * len(text) + 1e-9))
    return min(most, default=None)
