"""Claim: what one certificate says, rebuilt from its record, and how its texts are scored again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unfooled.counting import Rows
from unfooled.errors import VictimError
from unfooled.evidence import NOISE, margins, tolerance
from unfooled.fingerprints import examples_fingerprint, same
from unfooled.outcomes import Changes, changed, reread
from unfooled.program import Floats, Goal
from unfooled.rerun import alone, together
from unfooled.space import Space
from unfooled.text import Example, Text
from unfooled.victims.base import Layered, Victim, checked

if TYPE_CHECKING:
    from unfooled.bounds.reading import Reading

Label = Literal["checked", "spot-checked", "solver-trusted"]

_COMMON = {
    "method", "victim", "example", "space", "candidates", "radius", "size", "witness_row", "tolerance",
}  # fmt: skip
_OWN: Mapping[str | None, set[str]] = {  # beside what all have, by the kind of argument
    None: set(),
    "original": {"kind"},
    "enumeration": {"kind", "evaluated", "least_margin", "least_row"},
    "tree": {"kind", "order", "cells", "weights", "leaves", "least_margin", "least_row"},
    "bound": {"kind", "bounds", "bound", "slopes"},
    "splits": {"kind", "targets"},
    "solver": {"kind", "solver"},
}


class Refused(Exception):
    """A claim that does not hold."""


@dataclass(frozen=True)
class Claim:
    """A certificate about one text: no text of `space` within `radius` swaps fools the victim."""

    victim: Victim
    space: Space
    label: int
    radius: int
    certificate: Mapping[str, Any]
    key: str  # of the record

    @property
    def kind(self) -> str | None:
        """How the certificate argues; None: it says nothing beyond the text itself."""
        found = self.certificate.get("kind")
        if found is not None and not isinstance(found, str):
            raise Refused(f"the kind of a certificate is a word, not {found!r:.40}")
        return found

    def margins(self, rows: Rows) -> tuple[Floats, Floats]:
        """The margins of rows by the victim's public entry, and the widths of near-ties."""
        raw = self.victim.scores(self.space.sources(rows))
        victim = self.victim
        scores = checked(raw, n=len(rows), classes=len(victim.labels), name=victim.name)
        if not np.isfinite(scores).all():  # no comparison with them would refuse anything
            raise Refused(f"{victim.name} gives scores that are no numbers")
        return margins(scores, self.label), tolerance(scores)

    def row(self, name: str) -> Rows:
        """The row of that name in the certificate, if it is one of the space."""
        found = self.certificate[name]
        if not isinstance(found, list) or not all(map(whole, found)):
            raise Refused(f"{name} is no list of whole numbers")
        if not self.space.contains([found])[0]:
            raise Refused(f"{name} is no row of the space")
        row: Rows = self.space.rows(found)[0]
        return row

    def reading(self) -> Reading:
        """The text as the victim's network reads it."""
        found = None
        if isinstance(self.victim, Layered):
            found = self.victim.layers(self.victim.prepare(self.space))
        if found is None:
            raise Refused(
                f"it argues by {self.kind} about layers that {self.victim.name} does not show"
            )
        return found

    def keeps_label(self) -> None:
        """Refuses a text that is not clearly classified as its label when it is run alone."""
        scores = alone(self.victim, self.space.original)
        if margins(scores, self.label)[0] <= tolerance(scores)[0]:
            raise Refused("the text itself is not clearly classified as its label")


def claimed(
    record: Mapping[str, Any], certificate: Mapping[str, Any], victim: Victim, *, radius: int
) -> Claim:
    """The claim of a record, once what every certificate has in common is as it should be."""
    space = spaced(record["original"], certificate["candidates"])
    if space.fingerprint != certificate["space"]:
        raise Refused("the candidates are not those of the space that the certificate names")
    if not whole(certificate["radius"]) or radius != certificate["radius"]:
        raise Refused(f"the radius is {radius}, the certificate's {certificate['radius']}")
    if certificate["tolerance"] != NOISE:
        raise Refused(f"the tolerance is {certificate['tolerance']}, and that of near-ties {NOISE}")
    if certificate["method"] != record["method"]:
        raise Refused(f"the certificate is by {certificate['method']}, not {record['method']}")
    size = str(space.size(max(radius, 0)))
    if certificate["size"] != size:
        raise Refused(f"there are {size} texts within {radius} swaps, not {certificate['size']}")
    claim = Claim(victim, space, record["label"], radius, certificate, str(record.get("key")))
    known = _OWN.get(claim.kind)
    if known is not None and certificate.keys() != _COMMON | known:
        unlike = sorted(certificate.keys() ^ (_COMMON | known))
        raise Refused(f"a certificate by {claim.kind} has other fields: {', '.join(unlike)}")
    return claim


def spaced(original: Any, candidates: Mapping[str, Any]) -> Space:
    """The space of a text with candidates as they are recorded: by position, none dropped."""
    for found in candidates.values():
        if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
            raise Refused(f"the candidates of a position are a list of words, not {found!r:.40}")
    space = Space(reread(original), {int(p): found for p, found in candidates.items()})
    kept = dict(zip(map(str, space.positions), map(list, space.candidates), strict=True))
    if kept != candidates:
        raise Refused("a word is among its own candidates, or a candidate is there twice")
    return space


def same_work(record: Mapping[str, Any], certificate: Mapping[str, Any], *, victim: Any) -> None:
    """Refuses a certificate about another victim or another text than its record's."""
    if not same(certificate["victim"], victim):
        raise Refused("the certificate speaks of another victim than the run")
    example = Example(reread(record["original"]), record["label"], record["id"])
    if certificate["example"] != examples_fingerprint([example]):
        raise Refused("the certificate speaks of another text or label than the record")


def witness(claim: Claim, record: Mapping[str, Any]) -> int:
    """How many swaps the witness takes, once it is run again and fools."""
    row = claim.row("witness_row")
    shown, original = claim.space.text(row), claim.space.original
    if shown != changed(original, changes(record["changes"], original)):
        raise Refused("the witness of the certificate is not the text of the record")
    fools(claim.victim, shown, label=claim.label)
    swaps = int(np.count_nonzero(row))
    if len(record["changes"]) != swaps:
        raise Refused(f"the witness takes {swaps} swaps, and {len(record['changes'])} are listed")
    if swaps <= claim.radius:
        raise Refused(f"a text with {swaps} swaps fools, and {claim.radius} are said to be proved")
    return swaps


def no_witness(record: Mapping[str, Any], certificate: Mapping[str, Any]) -> None:
    """Refuses a record that shows a text that fools, and whose verdict does not speak of it."""
    if record["changes"] is not None or certificate["witness_row"] is not None:
        raise Refused("it shows a witness that its verdict does not speak of")


def changes(found: Any, original: Text) -> Changes:
    """The changes of a record, if they start from the words of the text."""
    listed = tuple((p, old, new) for p, old, new in found)
    for change in listed:
        if not whole(change[0]) or not all(isinstance(word, str) for word in change[1:]):
            raise Refused(f"a change is a position and two words, not {list(change)!r:.60}")
    for position, old, _ in listed:
        if not 0 <= position < len(original) or original.words[position] != old:
            raise Refused(f"position {position} of the text is not {old!r}")
    if len({position for position, _, _ in listed}) < len(listed):
        raise Refused("it swaps the word of a position twice")
    return listed


def fools(victim: Victim, text: Text, *, label: int, target: int | None = None) -> None:
    """Refuses a text that does not clearly fool the victim when it is run alone."""
    scores = alone(victim, text)
    goal = Goal(Space(text, {}), label, target)
    if goal.gain(scores)[0] <= NOISE * max(1.0, float(np.abs(scores).max())):
        raise Refused(f"{str(text)!r} does not fool the victim")


def all_fool(
    victim: Victim, texts: Sequence[Text], *, label: int, target: int | None = None
) -> None:
    """Refuses texts of which one does not fool the victim; where a batch says so barely, it is run alone."""
    goal = Goal(Space("", {}), label, target)
    for text, scores in zip(texts, together(victim, texts), strict=True):
        if isinstance(scores, VictimError):
            raise scores
        if not goal.gain(scores)[0] > 2 * tolerance(scores)[0]:
            fools(victim, text, label=label, target=target)


def same_scores(scores: Floats, said: Any) -> None:
    """Refuses recorded scores that are not these of one text, (1, classes)."""
    if not isinstance(said, list) or len(said) != scores.shape[1]:
        raise Refused(f"there must be {scores.shape[1]} scores, not {said!r:.60}")
    stated = np.array([number(value, "a score") for value in said])
    apart = np.abs(stated - scores[0])
    if not (apart <= 10 * tolerance(scores)[0]).all():
        at = int(apart.argmax())
        raise Refused(f"a score is said to be {stated[at]:.6g}, and is {scores[0, at]:.6g}")


def same_margin(victim: Victim, text: Text, *, label: int, said: Any) -> None:
    """Refuses a margin that is not that of the text when it is run alone."""
    scores = alone(victim, text)
    found = float(margins(scores, label)[0])
    if abs(found - number(said, "the margin")) > 10 * float(tolerance(scores)[0]):
        raise Refused(f"the margin is said to be {said:.6g}, and is {found:.6g}")


def whole(value: Any) -> bool:
    """Whether a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def number(value: Any, what: str) -> float:
    """A JSON value that is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise Refused(f"{what} is no number: {value!r:.40}")
    return float(value)
