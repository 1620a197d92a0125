"""Asked: what a run was asked to do, from its manifest, which decides by what rule a record is checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from unfooled.canonical import canonical
from unfooled.checks.claim import Refused, whole
from unfooled.errors import RunError
from unfooled.records import CANDIDATES

Rule = Literal["attack", "verdict", "minimum", "estimate", "candidates"]

_NEEDED: Mapping[Rule, tuple[str, ...]] = {
    "attack": ("id", "label", "original", "status", "changes", "text", "scores", "error"),
    "verdict": ("id", "label", "original", "verdict", "radius", "changes", "reason", "certificate"),
    "minimum": (
        "id", "label", "original", "status", "lower", "upper", "changes", "margin", "decided_by",
        "reason", "certificate",
    ),
    "estimate": (
        "id", "label", "original", "value", "low", "high", "samples", "exact", "radius", "rule",
        "error",
    ),
    "candidates": ("id", "label", "original", "candidates"),
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The methods of a run with their rules, and the limits that their results keep to."""

    rules: Mapping[str, Rule]  # by the name of a method, in the order in which they were asked
    radii: Mapping[str, int]  # asked of each certifier that is asked for one
    certifiers: Mapping[str, Mapping[str, Any]]  # with their options
    audit: bool
    options: Mapping[str, Any]

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Asked:
        """What a manifest says; RunError where it names no method that makes claims."""
        method, options = manifest["method"], manifest["options"]
        try:
            asked = cls._of(method, options)
        except (AttributeError, KeyError, TypeError) as error:
            raise RunError(
                f"the manifest is damaged: its options cannot be read: {error}"
            ) from None
        if not asked.rules:
            raise RunError(f"a run of {method!r:.40} makes no claims that could be checked")
        for name, radius in asked.radii.items():
            if not whole(radius):
                raise RunError(
                    f"the manifest is damaged: the radius of {name} is a number of swaps, not {radius!r:.40}"
                )
        return asked

    @classmethod
    def _of(cls, method: str, options: Mapping[str, Any]) -> Asked:
        audit = method == "audit"
        certifiers = options.get("certifiers") or options.get("certifier", {})
        if audit:
            attacks, estimators = list(options.get("attacks", ())), ["pr"]
        else:
            attacks = [method] if "attack" in options else []
            estimators = [method] if "pr" in options else []
            certifiers = {method: certifiers} if "certifier" in options else {}
        # Who is asked for no radius finds the least number of swaps.
        radii = {name: given["radius"] for name, given in certifiers.items() if "radius" in given}
        rules: dict[str, Rule] = dict.fromkeys(attacks, "attack")
        rules |= {name: "verdict" if name in radii else "minimum" for name in certifiers}
        rules |= dict.fromkeys(estimators, "estimate")
        if audit:
            rules[CANDIDATES] = "candidates"
        return cls(rules, radii, certifiers, audit, options)

    def named(self, rule: Rule) -> list[str]:
        """The methods whose records are checked by a rule."""
        return [name for name, found in self.rules.items() if found == rule]

    def rule(self, record: Mapping[str, Any]) -> Rule:
        """By what a record is checked; refused when it is by no method of the run, or lacks keys."""
        method = record.get("method")
        if not isinstance(method, str) or method not in self.rules:
            raise Refused(f"the run has no method {method!r:.40}")
        rule = self.rules[method]
        missing = [name for name in _NEEDED[rule] if name not in record]
        if missing:
            raise Refused(f"it has no {', '.join(missing)}")
        return rule

    def radius(self, record: Mapping[str, Any], fooled: Mapping[str, int]) -> int:
        """The least radius at which a text may be called certified.

        An audit proves below what is known to fool, and no more.
        """
        wanted = self.radii[record["method"]]
        if self.audit and labelled(record) in fooled:
            wanted = min(wanted, fooled[labelled(record)] - 1)
        return wanted


def about(record: Mapping[str, Any]) -> str:
    """What tells the text of a record from others."""
    return canonical([record.get("id"), record.get("original")])


def labelled(record: Mapping[str, Any]) -> str:
    """What tells the text of a record with its label from others: what fools one label keeps another."""
    return canonical([record.get("id"), record.get("label"), record.get("original")])


def fewest(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The fewest swaps that records say fool each text, by `labelled`."""
    least: dict[str, int] = {}
    for record in found:
        changes = record.get("changes")
        if isinstance(changes, list) and changes:  # only those that fool have some
            text = labelled(record)
            least[text] = min(len(changes), least.get(text, len(changes)))
    return least


def candidates(found: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The candidates that an audit has recorded for each text, by `about`."""
    return {
        about(record): record["candidates"]
        for record in found
        if record.get("method") == CANDIDATES and isinstance(record.get("candidates"), dict)
    }
