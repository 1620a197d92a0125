"""Re-verifies the claims of a run without searching: witnesses are re-run, proofs gone through again.

A text that fools is `checked`: run again, alone. A proof is `checked` when all it rests on is computed
again (cells and their bounds, splits, every text of an enumeration), `spot-checked` when it is an
enumeration that is recounted and sampled, `solver-trusted` when it is the word of a solver. Estimates
make no claim that a re-run could refute, so they are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unfooled import fingerprints, records
from unfooled.checks import enumeration, originals, outcome
from unfooled.checks.asked import Asked, Rule, about, candidates, fewest
from unfooled.checks.claim import (
    Claim,
    Label,
    Refused,
    claimed,
    fools,
    no_witness,
    same_margin,
    same_work,
    whole,
    witness,
)
from unfooled.errors import InputError, RunError, UnfooledError
from unfooled.outcomes import reread
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
    """How far the claims of a run were verified, and which were refused."""

    checked: int = 0
    spot_checked: int = 0
    solver_trusted: int = 0
    nothing_claimed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)  # (record, reason)

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


def check(folder: Path | str, victim: Victim, *, sample: int = 200, full: bool = False) -> Report:
    """Verifies every claim in a run folder with the victim it speaks of."""
    if sample < 1:
        raise InputError(f"sample is 1 or more texts, not {sample}")
    run = records.read(folder)
    _same_victim(run.manifest, victim, folder)
    asked = Asked.of(run.manifest)
    found, fingerprint = run.records(), run.manifest["fingerprints"]["victim"]
    report = Report()
    known = fewest(found), candidates(found)
    checker = _Checker(fingerprint, victim, asked, *known, sample=sample, full=full)
    untouched = []
    for record in found:
        try:
            rule = asked.rule(record)
            if rule != "candidates":
                report.count(checker.record(record, rule))
            if rule == "attack" and record["status"] in originals.STATUSES:
                untouched.append(record)
        except (Refused, UnfooledError) as error:
            report.refused.append((_name(record), str(error)))
        except _MALFORMED as error:
            report.refused.append((_name(record), f"malformed: {error!r}"))
    missing = asked.missing(run.manifest, found)
    if missing is not None:
        report.refused.append(("the run", missing))
    _originals(report, untouched, victim, target=asked.options.get("target"))
    return report


def _originals(
    report: Report, found: list[dict[str, Any]], victim: Victim, *, target: int | None
) -> None:
    """Refuses what is said of texts that were not fooled, where the victim contradicts it."""
    try:
        for record, why in originals.refusals(found, victim, target=target):
            report.nothing_claimed -= 1
            report.refused.append((_name(record), why))
    except (UnfooledError, *_MALFORMED) as error:
        report.refused.append(("texts that were not fooled", f"they cannot be scored: {error}"))


def _name(record: Mapping[str, Any]) -> str:
    return f"{record.get('id')} ({record.get('method')})"


def _same_victim(manifest: Mapping[str, Any], victim: Victim, folder: Path | str) -> None:
    recorded = manifest["fingerprints"].get("victim")
    if not isinstance(recorded, (str, list)):
        raise RunError(f"the manifest of {folder} is damaged: it has no fingerprint of the victim")
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


def _pairs(folder: Path | str) -> bool:
    return any(isinstance(r.get("original"), dict) for r in records.read(folder).records())


@dataclass(frozen=True)
class _Checker:
    """Goes through the records of one run."""

    fingerprint: Any  # of the victim, in the manifest
    victim: Victim
    asked: Asked
    fooled: Mapping[str, int]  # the fewest swaps that are said to fool each text
    choices: Mapping[str, Mapping[str, Any]]  # the candidates of each text, in an audit
    sample: int
    full: bool

    def record(self, record: Mapping[str, Any], rule: Rule) -> Label | None:
        """How far a claim was verified; None: nothing is claimed."""
        label, certificate = record["label"], record.get("certificate")
        if not whole(label) or not 0 <= label < len(self.victim.labels):
            raise Refused(f"{self.victim.name} has no label {label!r:.40}")
        choices = self.choices.get(about(record)) if self.asked.audit else None
        if self.asked.audit and choices is None:
            raise Refused("there is no record of its candidates")
        if certificate is not None:
            if choices is not None and certificate["candidates"] != choices:
                raise Refused("its candidates are not those that the run has recorded")
            same_work(record, certificate, victim=self.fingerprint)
        if rule == "verdict":
            return self._verdict(record, certificate)
        if rule == "minimum":
            return self._minimum(record, certificate)
        if rule == "attack" and record["status"] == "success":
            options = self.asked.options
            return outcome.check(record, self.victim, options=options, choices=choices)
        if rule == "attack":
            if record["status"] not in (*originals.STATUSES, "error"):
                raise Refused(f"there is no status {record['status']!r:.40}")
            reread(record["original"])  # a text at all: it is scored with others later
        return None

    def _verdict(self, record: Mapping[str, Any], certificate: Any) -> Label | None:
        """A certifier's verdict on a radius."""
        verdict, radius = record["verdict"], record["radius"]
        if certificate is None:
            if verdict not in ("unknown", "error") or radius != -1 or record["changes"] is not None:
                raise Refused(f"it says {verdict} up to radius {radius} and has no certificate")
            return None
        if not whole(radius) or radius < -1:
            raise Refused(
                f"a radius is a number of swaps, -1 where none is proved, not {radius!r:.40}"
            )
        claim = claimed(record, certificate, self.victim, radius=radius)
        if verdict not in ("certified", "falsified", "unknown"):
            raise Refused(f"there is no verdict {verdict!r:.40} with a certificate")
        if bool(record["reason"]) != (verdict == "unknown"):
            raise Refused(
                f"it says {verdict}, and why nothing could be decided: {record['reason']!r}"
            )
        if verdict == "falsified":
            witness(claim, record)
        else:
            no_witness(record, certificate)
        if radius == -1:
            if verdict == "certified":
                raise Refused("it says certified, and not even the text itself is proved")
            return "checked" if verdict == "falsified" else None
        wanted = min(self.asked.radius(record, self.fooled), len(claim.space.counts))
        if verdict == "certified" and radius < wanted:
            raise Refused(f"it says certified, and proves radius {radius}, where {wanted} is asked")
        return self._argument(claim, "verdict")

    def _minimum(self, record: Mapping[str, Any], certificate: Any) -> Label | None:
        """A certifier's bounds of the least number of swaps."""
        status = record["status"]
        if certificate is None:
            if status == "skipped":
                if (record["lower"], record["upper"]) != (0, 0):
                    raise Refused("it says skipped, with bounds that are not 0")
                original, label = reread(record["original"]), record["label"]
                fools(self.victim, original, label=label)
                same_margin(self.victim, original, label=label, said=record["margin"])
                return "checked"
            nothing = not record["lower"] and record["upper"] is None and record["changes"] is None
            if status not in ("bracketed", "error") or not nothing:
                raise Refused(f"it says {status} and has no certificate")
            return None
        from unfooled.checks import minimum

        if status not in ("optimal", "robust", "bracketed"):
            raise Refused(f"there is no status {status!r:.40} with a certificate")
        radius = certificate["radius"]
        if not whole(radius) or radius < 0:
            raise Refused(f"a radius is a number of swaps, 0 or more, not {radius!r:.40}")
        claim = claimed(record, certificate, self.victim, radius=radius)
        minimum.bracket(claim, record)
        minimum.margin(claim, record)
        return self._argument(claim, "minimum")

    def _argument(self, claim: Claim, rule: Rule) -> Label:
        """Goes through the argument of a certificate."""
        if rule == "verdict" and claim.kind in ("original", "splits", "solver"):
            raise Refused(f"{claim.kind} is an argument about the least number of swaps alone")
        match claim.kind:
            case "enumeration":
                return enumeration.check(claim, sample=self.sample, full=self.full)
            case "tree":
                from unfooled.checks import tree

                return tree.check(claim)
            case "bound":
                from unfooled.checks import bound

                return bound.check(claim)
            case None | "original" | "splits" | "solver":
                from unfooled.checks import minimum

                return minimum.check(claim, sample=self.sample)
        raise Refused(f"there is no argument of the kind {claim.kind!r:.40}")
