"""Checks what an attack recorded: its texts are rebuilt, run alone, and held to the limits of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unfooled.checks.claim import Label, Refused, all_fool, changes, fools, same_scores, whole
from unfooled.checks.originals import STATUSES
from unfooled.companions import Encodes
from unfooled.constraints import Closeness
from unfooled.outcomes import Changes, changed, reread, written
from unfooled.rerun import alone
from unfooled.similarity import as_cosine
from unfooled.space import Space
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
    encoder: Encodes | None,
) -> Label | None:
    """`checked`: the text of the record and all others fool as asked; None: nothing is claimed.

    Without `choices` any word is a candidate, without an `encoder` any text is similar enough. The
    scores of texts that were not fooled are looked at with those of others.
    """
    original = reread(record["original"])
    most = _most(original, options)
    if record["status"] != "success":
        _nothing(record)
        _counts(record, original, most=most, choices=choices)
        return None
    if record["error"] is not None:
        raise Refused("it says success, and has an error")
    every = [changes(found, original) for found in (record["changes"], *record.get("others", ()))]
    first, *others = (changed(original, swaps) for swaps in every)
    asked = {"label": record["label"], "target": options.get("target")}
    fools(victim, first, **asked)
    all_fool(victim, others, **asked)
    if record["text"] != written(first):
        raise Refused("its text is not the original with its changes made")
    same_scores(alone(victim, first), record["scores"])
    for swaps in every:
        if most is not None and len(swaps) > most:
            raise Refused(f"it takes {len(swaps)} swaps, and {most} are allowed")
        for position, old, new in swaps:
            if choices is not None and new not in choices.get(str(position), ()):
                raise Refused(f"{new!r} is no candidate at position {position}")
            if new == old:
                raise Refused(f"it swaps {old!r} at position {position} for itself")
        if encoder is not None:
            _similar(original, swaps, options=options, encoder=encoder)
    _counts(record, original, most=most, choices=choices)
    return "checked"


def _nothing(record: Mapping[str, Any]) -> None:
    """Refuses a record that shows a text that fools, and whose status does not speak of it."""
    status = record["status"]
    if status not in (*STATUSES, "error"):
        raise Refused(f"there is no status {status!r:.40}")
    if record["text"] is not None or record["changes"] != [] or record.get("others", []) != []:
        raise Refused(f"it says {status}, and shows a text that fools")
    why = record["error"]
    if why is not None and not isinstance(why, str):
        raise Refused(f"an error is a text, not {why!r:.40}")
    if bool(why) != (status == "error"):
        raise Refused(f"it says {status}, with the error {why!r:.60}")
    if status == "error" and record["scores"] != []:
        raise Refused("it says error, and has scores")


def _counts(
    record: Mapping[str, Any], original: Text, *, most: int | None, choices: Choices | None
) -> None:
    """Refuses what is said of the space and its limits; older runs do not say it."""
    allowed = record.get("max_swaps", most)
    if allowed != most or isinstance(allowed, (bool, float)):
        raise Refused(f"{most} swaps are allowed in this text, not {allowed!r:.40}")
    if "positions" not in record:
        return
    positions = record["positions"]
    if not whole(positions) or not 0 <= positions <= len(original):
        raise Refused(f"{positions!r:.40} of {len(original)} words are said to have candidates")
    if choices is not None and positions != len(choices):
        raise Refused(f"{len(choices)} words have candidates, not {positions}")
    if positions < len(record["changes"]):
        raise Refused(f"it swaps more words than the {positions} that have candidates")
    if "choices" not in record:
        return
    total = record["choices"]
    if not whole(total) or total < positions:
        raise Refused(f"{positions} words are said to have {total!r:.40} candidates")
    if choices is not None and total != sum(map(len, choices.values())):
        raise Refused(f"the words have {sum(map(len, choices.values()))} candidates, not {total}")


def _similar(
    original: Text, swaps: Changes, *, options: Mapping[str, Any], encoder: Encodes
) -> None:
    """Refuses a text that is not as similar to the original as was asked."""
    # Last digits of other machines: an encoder alone was seen to differ by less than 1e-6.
    least = as_cosine(options["min_similarity"], options["similarity"]) - 1e-5
    space = Space(original, {position: [new] for position, _, new in swaps})
    row = space.origin + 1
    if not Closeness(least, options.get("window")).holds(space, row, encoder=encoder):
        raise Refused(f"it is less similar to the original than {options['min_similarity']}")


def _most(text: Text, options: Mapping[str, Any]) -> int | None:
    """The most swaps that the run allows in a text."""
    most = [] if options.get("max_swaps") is None else [int(options["max_swaps"])]
    if options.get("max_rate") is not None:
        # The slack is that of `Limits.swaps`: 0.29 x 100 is 28.999...
        most.append(math.floor(options["max_rate"] * len(text) + 1e-9))
    return min(most, default=None)
