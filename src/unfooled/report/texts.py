"""One text of the report: its words with the swaps marked, what is known of it, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unfooled.audited import Audited
from unfooled.outcomes import Outcome
from unfooled.report import wording
from unfooled.text import Text

KINDS = {
    "exact": "exact",
    "whole": "proved whole",
    "broken": "broken",
    "intact": "not broken",
    "undecided": "undecided",
    "skipped": "skipped",
    "error": "error",
}
"""The filters of the list, and what they are called."""

_STATUSES = {
    "success": "broken",
    "failed": "not broken",
    "exhausted": "not broken, out of queries",
    "skipped": "skipped",
    "error": "error",
}


class Piece(NamedTuple):
    """A stretch of a text; `new` is what stands there in the fooling text, where it differs."""

    old: str
    new: str | None = None


class Side(NamedTuple):
    """A text, or one side of a pair with its name."""

    name: str
    pieces: list[Piece]
    fixed: bool = False


class Place(NamedTuple):
    """A position of the text, the word that stands there, and the candidates for it."""

    position: int  # counted from 1
    word: str
    candidates: str


class Attempted(NamedTuple):
    """What one attack did."""

    attack: str
    status: str
    swaps: str
    queries: int
    sides: list[Side]


@dataclass(frozen=True)
class Row:
    """A text as the list shows it."""

    id: str
    label: str
    headline: str
    tone: str  # a key of the colours: proved, attacked, unknown
    kinds: tuple[str, ...]
    sides: list[Side]
    below: str
    above: str
    pr: str
    pr_short: str
    attacks: list[Attempted]
    places: list[Place]
    bare: bool  # no word has a candidate
    lower: float | None
    upper: float | None
    pr_value: float | None
    error: str | None


def row(item: Audited, *, labels: Sequence[str], delta: float) -> Row:
    """The text as the list shows it."""
    found, pr = item.bracket, item.pr
    value = None if pr is None else pr.value
    return Row(
        id=item.id,
        label=labels[item.label] if 0 <= item.label < len(labels) else str(item.label),
        headline=_headline(item),
        tone=_tone(item),
        kinds=kinds(item),
        sides=sides(item.original, {p: new for p, _, new in item.fewest or ()}),
        below="" if found is None else wording.below(found),
        above="" if found is None else wording.above(found),
        pr=wording.pr(pr, delta=delta),
        pr_short=wording.pr_short(pr),
        attacks=[_attempted(name, outcome) for name, outcome in item.outcomes.items()],
        places=list(_places(item)),
        bare=any(outcome.positions == 0 for outcome in item.outcomes.values()),
        lower=item.lower,
        upper=item.upper,
        pr_value=value,
        error=item.error,
    )


def kinds(item: Audited) -> tuple[str, ...]:
    """The filters that keep this text."""
    if item.error is not None:
        return ("error",)
    if item.bracket is None:
        return ("skipped",)
    upper = item.bracket.upper
    is_kind = {
        "exact": item.exact,
        "whole": item.bracket.lower == math.inf,
        "broken": upper is not None and upper != math.inf,
        "intact": upper is None,
        "undecided": not item.exact,
    }
    return tuple(name for name, holds in is_kind.items() if holds)


def sides(text: Text, swaps: Mapping[int, str]) -> list[Side]:
    """The text, or both sides of a pair, cut where a word is swapped."""
    if text.editable == "both":
        first, second = text.sides
        after = {p - text.split: new for p, new in swaps.items() if p >= text.split}
        before = {p: new for p, new in swaps.items() if p < text.split}
        return [Side("premise", _cut(first, before)), Side("hypothesis", _cut(second, after))]
    body = _cut(text, swaps)
    if text.other is None:
        return [Side("", body)]
    other = [Piece(text.other)]
    if text.editable == "second":
        return [Side("premise", other, fixed=True), Side("hypothesis", body)]
    return [Side("premise", body), Side("hypothesis", other, fixed=True)]


def _cut(text: Text, swaps: Mapping[int, str]) -> list[Piece]:
    pieces, plain = [], ""
    for position, word in enumerate(text.words):
        plain += text.gaps[position]
        if position in swaps:
            pieces += [Piece(plain), Piece(word, swaps[position])]
            plain = ""
        else:
            plain += word
    return [p for p in (*pieces, Piece(plain + text.gaps[-1])) if p.old or p.new is not None]


def _places(item: Audited) -> Iterator[Place]:
    for position, candidates in item.candidates.items():
        yield Place(position + 1, item.original.words[position], ", ".join(candidates))


def _attempted(name: str, outcome: Outcome) -> Attempted:
    won = outcome.status == "success"
    changes = {p: new for p, _, new in outcome.changes}
    shown = sides(outcome.original, changes) if won else []
    swaps = str(outcome.swaps) if won else wording.NONE
    return Attempted(name, _STATUSES[outcome.status], swaps, outcome.queries, shown)


def _headline(item: Audited) -> str:
    if item.error is not None:
        return "error"
    return "misclassified" if item.bracket is None else wording.bracket(item.bracket)


def _tone(item: Audited) -> str:
    if item.bracket is None or item.bracket.upper is None:
        return "unknown"
    return "proved" if item.bracket.lower == math.inf else "attacked"
