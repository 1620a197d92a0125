"""Re-verifies the claims of a run without searching: witnesses are re-run, proofs recounted.

A text that fools is `checked`: run again, alone. A proof by enumeration is `spot-checked`: its
space is rebuilt, its size recounted by the size polynomial, its least margin and a random sample
re-evaluated; or `checked`, when every member is evaluated again. Estimates make no claim that a
re-run could refute, so they are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unfooled import fingerprints, records
from unfooled.allowed import CANDIDATES
from unfooled.counting import Rows
from unfooled.errors import InputError, RunError, UnfooledError
from unfooled.evidence import NOISE, margins, tolerance
from unfooled.fingerprints import Fingerprint
from unfooled.keys import rng_for
from unfooled.outcomes import alone, changed, reread
from unfooled.program import Goal
from unfooled.space import Space
from unfooled.text import Example, Text
from unfooled.victims.base import Victim

_MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
_CHUNK = 1024  # texts scored at once


@dataclass
class Report:
    """How far the claims of a run were verified, and which were refused."""

    checked: int = 0
    spot_checked: int = 0
    nothing_claimed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)  # (record, reason)

    @property
    def passed(self) -> bool:
        """Whether no claim was refused."""
        return not self.refused


class _Refused(Exception):
    """A claim that does not hold."""


def check(folder: Path | str, victim: Victim, *, sample: int = 200, full: bool = False) -> Report:
    """Verifies every claim in a run folder with the victim it speaks of."""
    if sample < 1:
        raise InputError(f"sample is 1 or more texts, not {sample}")
    run = records.read(folder)
    _same_victim(run.manifest, victim, folder)
    report, known = Report(), run.manifest["fingerprints"]["victim"]
    for record in run.records():
        try:
            _same_work(record, known)
            _check_record(record, victim, report, sample=sample, full=full)
        except (_Refused, UnfooledError, *_MALFORMED) as error:
            why = (
                str(error)
                if isinstance(error, (_Refused, UnfooledError))
                else f"malformed: {error!r}"
            )
            report.refused.append((f"{record.get('id')} ({record.get('method')})", why))
    return report


def _same_victim(manifest: Mapping[str, Any], victim: Victim, folder: Path | str) -> None:
    recorded = manifest["fingerprints"]["victim"]
    if isinstance(recorded, str) and recorded != victim.fingerprint:
        raise RunError(
            f"{folder} speaks of another victim: its fingerprint is {recorded[:20]}…, that of "
            f"{victim.name} is {str(victim.fingerprint)[:20]}…"
        )
    if not isinstance(recorded, str):
        now = fingerprints.probe_fingerprint(victim.scores, pairs=_pairs(folder))
        if not fingerprints.same(recorded, now):
            raise RunError(
                f"{folder} speaks of another victim: {victim.name} scores its probes differently"
            )


def _same_work(record: Mapping[str, Any], victim: Fingerprint) -> None:
    """Refuses a certificate about another victim or another text than its record's."""
    certificate = record.get("certificate")
    if certificate is None:
        return
    if not fingerprints.same(certificate["victim"], victim):
        raise _Refused("the certificate speaks of another victim than the run")
    example = Example(reread(record["original"]), record["label"], record["id"])
    if certificate["example"] != fingerprints.examples_fingerprint([example]):
        raise _Refused("the certificate speaks of another text or label than the record")


def _pairs(folder: Path | str) -> bool:
    return any(isinstance(r.get("original"), dict) for r in records.read(folder).records())


def _check_record(
    record: Mapping[str, Any], victim: Victim, report: Report, *, sample: int, full: bool
) -> None:
    if "certificate" in record:
        _check_verdict(record, victim, report, sample=sample, full=full)
    elif record.get("status") == "success":
        original = reread(record["original"])
        text = changed(original, _changes(record["changes"], original))
        _fools(victim, text, label=record["label"])
        report.checked += 1
    elif record.get("method") != CANDIDATES:
        report.nothing_claimed += 1


def _check_verdict(
    record: Mapping[str, Any], victim: Victim, report: Report, *, sample: int, full: bool
) -> None:
    certificate, original = record["certificate"], reread(record["original"])
    if certificate is None:
        if record["verdict"] in ("certified", "falsified"):
            raise _Refused(f"it says {record['verdict']} and has no certificate")
        report.nothing_claimed += 1
        return
    space = Space(original, {int(p): c for p, c in certificate["candidates"].items()})
    if space.fingerprint != certificate["space"]:
        raise _Refused("the candidates are not those of the space that the certificate names")
    if record["radius"] != certificate["radius"]:
        raise _Refused(
            f"the radius is {record['radius']}, the certificate's {certificate['radius']}"
        )
    if record["verdict"] == "falsified":
        row = space.rows(certificate["witness_row"])[0]
        shown = space.text(row)
        if shown != changed(original, _changes(record["changes"], original)):
            raise _Refused("the witness of the certificate is not the text of the record")
        _fools(victim, shown, label=record["label"])
    if record["radius"] >= 0:
        _check_enumeration(record, victim, space, sample=sample, full=full)
    if record["radius"] >= 0 and not full:
        report.spot_checked += 1
    else:
        report.checked += 1


def _check_enumeration(
    record: Mapping[str, Any], victim: Victim, space: Space, *, sample: int, full: bool
) -> None:
    """Recounts the region, re-evaluates the least margin, and a sample of it or all."""
    certificate, radius, label = record["certificate"], record["radius"], record["label"]
    size = space.size(radius)
    if str(size) != str(certificate["size"]):
        raise _Refused(f"there are {size} texts within {radius} swaps, not {certificate['size']}")
    if certificate["evaluated"] < size:
        raise _Refused(
            f"{certificate['evaluated']} texts were evaluated, of {size} within {radius}"
        )
    least = certificate["least_margin"]
    rows = space.rows(certificate["least_row"])
    if not space.contains(rows, radius)[0]:
        raise _Refused("the text with the least margin is not in the region")
    found, noise = _margins(victim, space, rows, label=label)
    if abs(found[0] - least) > 10 * noise[0]:
        raise _Refused(f"the least margin is said to be {least:.6g}, and is {found[0]:.6g}")
    if full or size <= sample:
        chunks = space.enumerate(radius, chunk=_CHUNK)
    else:
        chunks = iter([space.sample(radius, sample, rng_for(0, record["key"]))])
    for chunk in chunks:
        found, noise = _margins(victim, space, chunk, label=label)
        if (found <= noise).any():
            raise _Refused(
                f"{str(space.text(chunk[int(found.argmin())]))!r} is in the region and fools"
            )
        if (found < least - 10 * noise).any():
            raise _Refused(
                f"there is a margin of {found.min():.6g}, below the least of {least:.6g}"
            )


def _margins(victim: Victim, space: Space, rows: Rows, *, label: int) -> tuple[Any, Any]:
    scores = np.asarray(victim.scores(space.sources(rows)), dtype=float)
    return margins(scores, label), tolerance(scores)


def _changes(changes: Any, original: Text) -> tuple[tuple[int, str, str], ...]:
    """The changes of a record, if they start from the words of the text."""
    found = tuple((int(p), str(old), str(new)) for p, old, new in changes)
    for position, old, _ in found:
        if not 0 <= position < len(original) or original.words[position] != old:
            raise _Refused(f"position {position} of the text is not {old!r}")
    return found


def _fools(victim: Victim, text: Text, *, label: int) -> None:
    scores = alone(victim, text)
    goal = Goal(Space(text, {}), label)
    if goal.gain(scores)[0] <= NOISE * max(1.0, float(np.abs(scores).max())):
        raise _Refused(f"{str(text)!r} does not fool the victim")
