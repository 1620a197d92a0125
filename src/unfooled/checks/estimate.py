"""Checks an estimate of PR: that its figures fit together, and that texts drawn anew do not refute it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unfooled.checks.claim import Claim, Refused, number, whole
from unfooled.counting import Rows
from unfooled.evidence import margins, tolerance
from unfooled.keys import rng_for
from unfooled.outcomes import reread
from unfooled.rerun import alone
from unfooled.space import Space
from unfooled.text import Text
from unfooled.victims.base import Victim

_CHUNK = 1024  # texts scored at once
_DOUBT = 1e-6  # how probable it may be that an honest estimate is refused
_SAME = 1e-9  # relative: two ways to write one share


@dataclass(frozen=True)
class _Tally:
    """How many texts keep their label, and how many are too near to a tie to tell."""

    kept: int
    close: int
    n: int


def check(
    record: Mapping[str, Any],
    victim: Victim,
    *,
    options: Mapping[str, Any],
    space: Space | None,
    audit: bool,
    sample: int,
    full: bool,
) -> None:
    """Refuses an estimate that does not hold: counted again where texts are few or all are wanted.

    Else a sample is drawn; without a space only the figures are looked at.
    """
    text = reread(record["original"])
    _flag(record, victim, text, audit=audit)
    if record["error"] is not None:
        if not isinstance(record["error"], str) or record["value"] is not None:
            raise Refused("it has an error, and a value")
        return
    _figures(record)
    radius = _radius(text, options)
    if record["radius"] != radius or not whole(record["radius"]):
        raise Refused(f"its radius is {radius}, not {record['radius']!r:.40}")
    if space is None:
        return
    size = space.size(radius)
    if record["rule"] == "exact" and record.get("size", size) != size:
        raise Refused(f"there are {size} texts within {radius} swaps, not {record['size']!r:.40}")
    claim = Claim(victim, space, record["label"], radius, {}, str(record["key"]))
    if record["rule"] == "exact" and record["samples"] == size and (full or size <= sample):
        _counted(record, _tally(claim, space.enumerate(radius, chunk=_CHUNK)))
        return
    rows = space.sample(radius, sample, rng_for(0, claim.key))
    _drawn(record, _tally(claim, [rows[i : i + _CHUNK] for i in range(0, sample, _CHUNK)]))


def _figures(record: Mapping[str, Any]) -> None:
    """Refuses figures that no estimate could have together."""
    value, low, high = (number(record[name], f"the {name}") for name in ("value", "low", "high"))
    if not 0 <= low <= value <= high <= 1:
        raise Refused(f"PR is said to be {value:.6g}, in an interval from {low:.6g} to {high:.6g}")
    samples, rule, exact = record["samples"], record["rule"], record["exact"]
    if rule not in ("sequential", "hoeffding", "exact"):
        raise Refused(f"there is no rule {rule!r:.40}")
    if not whole(samples) or samples < 1 or not isinstance(exact, bool):
        raise Refused(f"it rests on {samples!r:.40} texts, and exact is {exact!r:.40}")
    size = record.get("size")
    if rule == "exact" and "size" in record:
        if not whole(size) or samples > size:
            raise Refused(f"{samples} texts were scored, of {size!r:.40}")
    elif size is not None:
        raise Refused(f"by the rule {rule} it knows no number of texts, and says {size!r:.40}")
    if exact and (rule != "exact" or not low == value == high or samples != size):
        raise Refused("it says exact, and leaves something open")
    if rule == "exact" and samples < (size or 0):  # cut off: the texts left over could be either
        middle = abs(2 * value - low - high) <= _SAME
        if not middle or high - low < (size - samples) / size - _SAME:
            raise Refused(f"{samples} of {size} texts do not leave {low:.6g} to {high:.6g}")
    whole_number = abs(value * samples - round(value * samples)) <= _SAME * samples
    if (rule != "exact" or samples == size) and not whole_number:
        raise Refused(f"{value:.6g} is no share of {samples} texts")


def _radius(text: Text, options: Mapping[str, Any]) -> int:
    """The number of swaps that was asked for."""
    asked = options["pr"]
    if asked["radius"] is not None:
        return int(asked["radius"])
    return math.floor(float(asked["rate"]) * len(text) + 1e-9)  # the slack is that of the estimator


def _flag(record: Mapping[str, Any], victim: Victim, text: Text, *, audit: bool) -> None:
    """Refuses a word on the text itself that the victim contradicts; older runs have none."""
    said = record.get("misclassified", False)
    if not isinstance(said, bool) or (said and audit):
        raise Refused(f"a text is misclassified or not, in an audit never: {said!r:.40}")
    if audit or "misclassified" not in record or record["error"] is not None:
        return
    scores = alone(victim, text)
    lead, noise = margins(scores, record["label"])[0], tolerance(scores)[0]
    if (said and lead > 2 * noise) or (not said and lead < noise / 2):
        raise Refused(f"misclassified is {said}, and the label leads by {lead:.6g}")


def _tally(claim: Claim, chunks: Iterable[Rows]) -> _Tally:
    kept = close = n = 0
    for rows in chunks:
        found, noise = claim.margins(rows)
        kept, n = kept + int((found > noise).sum()), n + len(rows)
        close += int((abs(found) <= noise).sum())
    return _Tally(kept, close, n)


def _counted(record: Mapping[str, Any], tally: _Tally) -> None:
    """Refuses a share that is not that of all texts."""
    low, high = tally.kept / tally.n, (tally.kept + tally.close) / tally.n
    if abs(record["low"] - low) > _SAME or abs(record["high"] - high) > _SAME:
        raise Refused(f"of all texts {low:.6g} to {high:.6g} keep the label")
    if abs(record["value"] - high) > _SAME or record["exact"] != (tally.close == 0):
        raise Refused(f"of all texts {high:.6g} keep the label, and {tally.close} are near a tie")


def _drawn(record: Mapping[str, Any], tally: _Tally) -> None:
    """Refuses an interval so far from texts drawn anew that chance does not explain it."""
    wide = math.sqrt(math.log(2 / _DOUBT) / (2 * tally.n))  # Hoeffding
    least, most = tally.kept / tally.n, (tally.kept + tally.close) / tally.n
    if least > record["high"] + wide or most < record["low"] - wide:
        raise Refused(
            f"PR is said to be {record['low']:.4g} to {record['high']:.4g}, and of {tally.n} texts "
            f"drawn anew {most:.4g} keep the label"
        )
