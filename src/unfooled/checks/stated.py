"""Stated: what the manifest of a run says of victim and candidates, held against the victim and the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from unfooled import fingerprints
from unfooled.checks.claim import Refused, spaced
from unfooled.checks.source import together
from unfooled.errors import RunError, UnfooledError
from unfooled.records import CANDIDATES
from unfooled.space import Space
from unfooled.victims.base import Victim

READY = "given spaces"  # what the manifest says of candidates that come from no source

Found = Sequence[Mapping[str, Any]]


def victim(
    manifest: Mapping[str, Any], found: Found, loaded: Victim, *, folder: Path | str
) -> None:
    """Raises RunError where the run speaks of another victim than the loaded one."""
    recorded = manifest["fingerprints"].get("victim")
    if not isinstance(recorded, (str, list)):
        raise RunError(f"the manifest of {folder} is damaged: it has no fingerprint of the victim")
    if isinstance(recorded, str) and recorded != loaded.fingerprint:
        raise RunError(
            f"{folder} speaks of another victim: its fingerprint is {recorded[:20]}…, that of "
            f"{loaded.name} is {str(loaded.fingerprint)[:20]}…"
        )
    if not isinstance(recorded, str):
        pairs = any(isinstance(record.get("original"), dict) for record in found)
        now = fingerprints.probe_fingerprint(loaded.scores, pairs=pairs)
        if not fingerprints.same(recorded, now):
            raise RunError(
                f"{folder} speaks of another victim: {loaded.name} scores its probes differently"
            )


def refusals(manifest: Mapping[str, Any], found: Found, loaded: Victim) -> Iterator[str]:
    """Why the manifest does not fit the victim or the records of the run."""
    labels = list(loaded.labels)
    if manifest.get("labels", labels) != labels:
        yield (
            f"the classes of {loaded.name} are {', '.join(labels)}, and in the manifest others: "
            "load it with the names that the run was given (--labels)"
        )
    # Scores in another arithmetic are those of another victim, though the weights are the same.
    if "dtype" in manifest and manifest["dtype"] != loaded.dtype:
        yield f"the victim computed in {manifest['dtype']}, and {loaded.name} in {loaded.dtype}"
    unknown = sorted(manifest["fingerprints"].keys() - {"victim", "data", "candidates"})
    if unknown:
        yield f"the manifest has fingerprints that nobody can check: {', '.join(unknown)}"
    if not isinstance(manifest["fingerprints"].get("candidates"), str):
        yield "the manifest has no fingerprint of the candidates"
    elif (
        is_recorded(manifest, found)
        and _together(manifest, found) != manifest["fingerprints"]["candidates"]
    ):
        yield "the candidates of the records do not have the fingerprint of those in the manifest"


def is_recorded(manifest: Mapping[str, Any], found: Found) -> bool:
    """Whether the fingerprint of the candidates can be had from the records, which have all of them."""
    ready = manifest.get("candidates") == READY and manifest.get("shard") is None
    return ready and all(_candidates(record) is not None for record in _holders(manifest, found))


def _holders(manifest: Mapping[str, Any], found: Found) -> Found:
    """The records that should have candidates: in an audit those made for it."""
    audit = manifest["method"] == "audit"
    return [record for record in found if not audit or record.get("method") == CANDIDATES]


def _candidates(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The candidates of a text that a record has: its own, or those of its certificate."""
    certificate = record.get("certificate")
    holder = certificate if isinstance(certificate, dict) else record
    candidates = holder.get("candidates")
    return candidates if isinstance(candidates, dict) else None


def _together(manifest: Mapping[str, Any], found: Found) -> str | None:
    """The fingerprint of all spaces of the records; None: one is refused anyway."""
    spaces: list[Space] = []
    try:
        for record in _holders(manifest, found):
            spaces.append(spaced(record["original"], _candidates(record) or {}))
    except (Refused, UnfooledError, AttributeError, LookupError, TypeError, ValueError):
        return None
    return together(spaces)
