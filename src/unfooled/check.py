"""Re-verifies the claims of a run without searching: witnesses are re-run, proofs gone through again.

A text that fools is `checked`: run again, alone. A proof is `checked` when all it rests on is computed
again (cells and their bounds, splits, every text of an enumeration), `spot-checked` when it is an
enumeration that is recounted and sampled, `solver-trusted` when it is the word of a solver. Estimates
are held against texts drawn anew, but they claim nothing for certain, so they are not counted.

No record may be missing, and none may be of other work than was asked (module `checks.roll`). What
could not be looked at is listed in `not_checked`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unfooled import data as datasets
from unfooled import records
from unfooled.alignment import aligned
from unfooled.checks import originals, stated
from unfooled.checks.asked import Asked, fewest
from unfooled.checks.asked import candidates as recorded
from unfooled.checks.claim import Label, Refused
from unfooled.checks.left import left
from unfooled.checks.roll import Roll
from unfooled.checks.rules import Rules
from unfooled.checks.source import Given, Made, Unavailable
from unfooled.companions import Encodes
from unfooled.errors import InputError, UnfooledError
from unfooled.text import Example, Text
from unfooled.victims.base import Victim

_MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    RuntimeError,  # of arrays that do not fit together
    TypeError,
    ValueError,
)


@dataclass
class Report:
    """How far the claims of a run were verified, which were refused, and what was not looked at."""

    checked: int = 0
    spot_checked: int = 0
    solver_trusted: int = 0
    nothing_claimed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)  # (record, reason)
    not_checked: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no claim was refused."""
        return not self.refused

    def count(self, label: Label | None) -> None:
        """Adds a claim that holds; None: there was none."""
        match label:
            case "checked":
                self.checked += 1
            case "spot-checked":
                self.spot_checked += 1
            case "solver-trusted":
                self.solver_trusted += 1
            case None:
                self.nothing_claimed += 1


def check(
    folder: Path | str,
    victim: Victim,
    *,
    sample: int | None = None,
    full: bool = False,
    data: Any = None,
    candidates: Given | None = None,
    encoder: str | Encodes | None = None,
) -> Report:
    """Verifies every claim in a run folder with the victim it speaks of.

    Of an enumeration `sample` texts are evaluated again, by default one in 32, from 16 to 200.
    With `data` (the examples, as they were given to the run) its texts are compared with those of the
    run; with `candidates` (a spec, a source, a mapping, ready spaces) those of every text are made
    again; with `encoder` the similarity of texts that fool is, where the run has a limit of it. Ready
    spaces of a text that is there several times are known by the data alone.
    """
    if sample is not None and sample < 1:
        raise InputError(f"sample is 1 or more texts, not {sample}")
    run = records.read(folder)
    manifest, found = run.manifest, run.records()
    stated.victim(manifest, found, victim, folder=folder)
    asked = Asked.of(manifest)
    roll, report = Roll.of(manifest, asked, victim), Report()
    given = None if data is None else _examples(data, victim)
    made = _made(candidates, manifest, found, report, data=given)
    judge = _judge(encoder, manifest, report)
    fingerprint = manifest["fingerprints"]["victim"]
    known = fewest(found), recorded(found), made, judge
    rules = Rules(fingerprint, victim, asked, *known, sample=sample, full=full)
    _Records(report, rules, roll).check(found, given)
    report.refused += [("the run", why) for why in stated.refusals(manifest, found, victim)]
    at_hand = {"data": data is not None, "candidates": made is not None, "encoder": bool(judge)}
    report.not_checked += left(manifest, found, asked=asked, **at_hand)
    return report


def _made(
    given: Given | None,
    manifest: Mapping[str, Any],
    found: Sequence[Mapping[str, Any]],
    report: Report,
    *,
    data: Sequence[Example] | None,
) -> Made | None:
    """The candidates made again; None where they are not at hand, or others."""
    if given is None:
        return None
    originals = (record.get("original") for record in found)
    probe = next((Text.parse(text) for text in originals if isinstance(text, str)), None)
    try:
        return Made.of(given, manifest, probe=probe, data=data)
    except Refused as error:
        report.refused.append(("the run", str(error)))
    except Unavailable as error:
        report.not_checked.append(f"the source of the candidates: {error}")
    return None


def _judge(
    given: str | Encodes | None, manifest: Mapping[str, Any], report: Report
) -> Encodes | None:
    """The encoder that judges similarity to the original, if the run asked for it; None: not at hand."""
    options = manifest["options"]
    if given is None or options.get("min_similarity") is None:
        return None
    if options.get("reference") == "previous":  # which a record does not have
        return None
    try:
        from unfooled.encoders import load_encoder

        judge = load_encoder(given) if isinstance(given, str) else given
        if judge.fingerprint == options.get("encoder_fingerprint"):
            return judge
        report.not_checked.append(f"the encoder: {judge.name} here is another than that of the run")
    except UnfooledError as error:
        report.not_checked.append(f"the encoder: {error}")
    return None


def _examples(given: Any, victim: Victim) -> list[Example]:
    """The examples as a run counts their labels."""
    dataset = given if isinstance(given, datasets.Dataset) else datasets.load(given)
    return list(aligned(dataset, victim.labels, owner=victim.name).examples)


@dataclass
class _Records:
    """Goes through the records of a run, and then through what is missing."""

    report: Report
    rules: Rules
    roll: Roll
    strangers: dict[str, str] = field(default_factory=dict)  # key -> why it is no work of the run
    refused: set[str] = field(default_factory=set)  # keys

    def check(self, found: Sequence[dict[str, Any]], given: Sequence[Example] | None) -> None:
        """Adds what holds and what does not to the report."""
        untouched = [record for record in found if self._holds(record)]
        self._originals(untouched)
        wrong: dict[str, Any] = {"strangers": self.strangers, "refused": self.refused}
        self.report.refused += self.roll.refusals(found, given=given, **wrong)

    def _holds(self, record: dict[str, Any]) -> bool:
        """Counts or refuses a record; true: its text was not fooled and is to be run as it is."""
        self._accept(record)
        try:
            rule = self.rules.asked.rule(record)
            label = self.rules.record(record, rule)
            if record["key"] in self.strangers:  # said last: what else is wrong says more
                raise Refused(self.strangers[record["key"]])
        except (Refused, UnfooledError) as error:
            self._refuse(record, str(error))
        except _MALFORMED as error:
            self._refuse(record, f"malformed: {error!r}")
        else:
            if rule != "candidates":
                self.report.count(label)
            return rule == "attack" and record["status"] in originals.STATUSES
        return False

    def _accept(self, record: dict[str, Any]) -> None:
        try:
            self.roll.accept(record)
        except Refused as error:
            self.strangers[record["key"]] = str(error)
        except (UnfooledError, *_MALFORMED):  # the rest of the check says what is wrong with it
            self.strangers[record["key"]] = "it is about no text that could be read"

    def _refuse(self, record: Mapping[str, Any], why: str) -> None:
        self.refused.add(record["key"])
        self.report.refused.append((f"{record.get('id')} ({record.get('method')})", why))

    def _originals(self, found: list[dict[str, Any]]) -> None:
        """Refuses what is said of texts that were not fooled, where the victim contradicts it."""
        rules = self.rules
        try:
            target = rules.asked.options.get("target")
            for record, why in originals.refusals(found, rules.victim, target=target):
                self.report.nothing_claimed -= 1
                self._refuse(record, why)
        except (UnfooledError, *_MALFORMED) as error:
            what = "texts that were not fooled"
            self.report.refused.append((what, f"they cannot be scored: {error}"))
