"""Rules: by what each record of a run is checked, and against what else the run has recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unfooled.checks import bare, enumeration, estimate, outcome
from unfooled.checks.asked import Asked, Rule, about
from unfooled.checks.claim import (
    Claim,
    Label,
    Refused,
    claimed,
    no_witness,
    same_work,
    spaced,
    whole,
    witness,
)
from unfooled.checks.roll import example_of
from unfooled.checks.source import Made
from unfooled.companions import Encodes
from unfooled.victims.base import Victim


@dataclass(frozen=True)
class Rules:
    """Goes through the records of one run."""

    fingerprint: Any  # of the victim, in the manifest
    victim: Victim
    asked: Asked
    fooled: Mapping[str, int]  # the fewest swaps that are said to fool each text
    recorded: Mapping[str, Mapping[str, Any]]  # the candidates of each text, in an audit
    made: Made | None  # the candidates of texts made again
    encoder: Encodes | None  # that judges similarity
    sample: int | None
    full: bool

    def record(self, record: Mapping[str, Any], rule: Rule) -> Label | None:
        """How far a claim was verified; None: nothing is claimed."""
        label, certificate = record["label"], record.get("certificate")
        if not whole(label) or not 0 <= label < len(self.victim.labels):
            raise Refused(f"{self.victim.name} has no label {label!r:.40}")
        choices = self._choices(record, rule)
        if certificate is not None:
            if choices is not None and certificate["candidates"] != choices:
                raise Refused("its candidates are not those that the run has for the text")
            same_work(record, certificate, victim=self.fingerprint)
        if rule == "verdict":
            return self._verdict(record, certificate)
        if rule == "minimum":
            return self._minimum(record, certificate)
        if rule == "attack":
            return outcome.check(
                record,
                self.victim,
                options=self.asked.options,
                choices=choices,
                encoder=self.encoder,
            )
        if rule == "estimate":
            self._estimate(record, choices)
        return None

    def _choices(self, record: Mapping[str, Any], rule: Rule) -> Mapping[str, Any] | None:
        """The candidates of a text as the run has recorded or made them; None: they are not at hand."""
        if not self.asked.audit:
            opened = rule == "attack" and "masked" in self.asked.options  # it adds its own
            return None if opened else self._made(record)
        recorded = self.recorded.get(about(record))
        if recorded is None:
            raise Refused("there is no record of its candidates")
        if rule == "candidates":
            spaced(record["original"], recorded)
            if self._made(record) not in (None, recorded):
                raise Refused("its candidates are not those that their source gives here")
        return recorded

    def _made(self, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return None if self.made is None else self.made.choices(example_of(record))

    def _estimate(self, record: Mapping[str, Any], choices: Mapping[str, Any] | None) -> None:
        space = None if choices is None else spaced(record["original"], choices)
        estimate.check(
            record,
            self.victim,
            options=self.asked.options,
            space=space,
            audit=self.asked.audit,
            sample=self.sample or enumeration.MOST,
            full=self.full,
        )

    def _verdict(self, record: Mapping[str, Any], certificate: Any) -> Label | None:
        """A certifier's verdict on a radius."""
        verdict, radius = record["verdict"], record["radius"]
        if not isinstance(record["reason"], str):
            raise Refused(f"a reason is a text, not {record['reason']!r:.40}")
        if certificate is None:
            if verdict not in ("unknown", "error") or radius != -1 or record["changes"] is not None:
                raise Refused(f"it says {verdict} up to radius {radius} and has no certificate")
            if not record["reason"] or not whole(radius):
                raise Refused(f"it says {verdict}, and not why")
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
            enumeration.nothing(claim, record["changes"])
            return "checked" if verdict == "falsified" else None
        wanted = min(self.asked.radius(record, self.fooled), len(claim.space.counts))
        if verdict == "certified" and radius < wanted:
            raise Refused(f"it says certified, and proves radius {radius}, where {wanted} is asked")
        return self._argument(claim, "verdict", record)

    def _minimum(self, record: Mapping[str, Any], certificate: Any) -> Label | None:
        """A certifier's bounds of the least number of swaps."""
        status = record["status"]
        if not isinstance(record["decided_by"], str) or not isinstance(record["reason"], str):
            raise Refused("what decided and why nothing did are texts")
        if certificate is None:
            return bare.check(record, self.victim)
        from unfooled.checks import minimum

        if status not in ("optimal", "robust", "bracketed"):
            raise Refused(f"there is no status {status!r:.40} with a certificate")
        radius = certificate["radius"]
        if not whole(radius) or radius < 0:
            raise Refused(f"a radius is a number of swaps, 0 or more, not {radius!r:.40}")
        claim = claimed(record, certificate, self.victim, radius=radius)
        minimum.bracket(claim, record)
        minimum.margin(claim, record)
        return self._argument(claim, "minimum", record)

    def _argument(self, claim: Claim, rule: Rule, record: Mapping[str, Any]) -> Label:
        """Goes through the argument of a certificate."""
        if rule == "verdict" and claim.kind in ("original", "splits", "solver"):
            raise Refused(f"{claim.kind} is an argument about the least number of swaps alone")
        match claim.kind:
            case "enumeration":
                decided = record.get("verdict") == "certified" or record.get("status") == "robust"
                enumeration.counted(claim, record["changes"], decided=decided)
                return enumeration.check(claim, sample=self.sample, full=self.full)
            case "tree":
                from unfooled.checks import tree

                return tree.check(claim)
            case "bound":
                from unfooled.checks import bound

                return bound.check(claim, asked=self.asked.certifiers[record["method"]])
            case None | "original" | "splits" | "solver":
                from unfooled.checks import minimum

                return minimum.check(claim, sample=self.sample, full=self.full)
        raise Refused(f"there is no argument of the kind {claim.kind!r:.40}")
