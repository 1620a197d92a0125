"""Left: what a check of a run could not look at, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unfooled.checks.asked import Asked
from unfooled.checks.stated import is_recorded


def left(
    manifest: Mapping[str, Any],
    found: Sequence[Mapping[str, Any]],
    *,
    asked: Asked,
    data: bool,
    candidates: bool,
    encoder: bool,
) -> list[str]:
    """What was not checked; `data`, `candidates` and `encoder` say which of them were at hand."""
    shard, options = manifest.get("shard"), manifest["options"]
    said = []
    if not data:
        said.append(
            "whether the texts and labels are those of a data set: give it to have them compared"
        )
        if shard is not None:
            said.append(f"whether all texts of shard {shard} are there: merge the shards")
    if not candidates and not is_recorded(manifest, found):
        source = f"{manifest.get('candidates')!s:.80}"
        said.append(
            f"whether the candidates are those of {source}: give them to have them made again"
        )
    if "masked" in options:
        said.append("whether a model proposed the words that the attack added to the candidates")
    attack = options.get("attack")
    own = attack.get("step_similarity") if isinstance(attack, Mapping) else None  # -1 is no limit
    if own not in (None, -1) or options.get("reference") == "previous":
        said.append(
            "whether texts that fool were similar enough step by step: the steps are not recorded"
        )
    held = options.get("min_similarity") is not None and options.get("reference") != "previous"
    if held and not encoder:
        said.append(f"whether texts that fool are similar enough to {options.get('encoder')}")
    rules = [(asked.rules.get(str(record.get("method"))), record) for record in found]
    without = sum(rule == "attack" and r.get("status") != "success" for rule, r in rules)
    if without:
        said.append(
            f"whether attacks that found nothing ({without}) did search: they prove nothing"
        )
    estimates = sum(rule == "estimate" for rule, _ in rules)
    if estimates:
        said.append(f"how the samples of estimates ({estimates}) were drawn")
    said.append("times, numbers of queries, the seed, and reasons for what was left undecided")
    return said
