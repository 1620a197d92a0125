"""Roll: whether each record is work that the run was asked for, and whether any of them is missing.

The key of a record is derived from its text, label and method and from the options and the victim of the
run. It is derived again here, so a record cannot pass for another's, and options cannot be changed under
it. Which records must be there follows from the manifest and, in an audit, from the records before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unfooled.checks.asked import Asked
from unfooled.checks.claim import Refused, whole
from unfooled.checks.due import due
from unfooled.errors import InputError, RunError, Unsound
from unfooled.fingerprints import examples_fingerprint
from unfooled.keys import Shard, named, record_key
from unfooled.outcomes import reread
from unfooled.text import Example
from unfooled.victims.base import Victim

Record = Mapping[str, Any]
Refusal = tuple[str, str]  # of what, why


@dataclass
class Entry:
    """One text of the run with its records by method."""

    example: Example
    records: dict[str, Record] = field(default_factory=dict)


@dataclass(frozen=True)
class Roll:
    """The work of a run, as its manifest has it."""

    manifest: Mapping[str, Any]
    asked: Asked
    victim: str  # what stands for it in keys
    shard: Shard | None  # None: the run has all texts

    @classmethod
    def of(cls, manifest: Mapping[str, Any], asked: Asked, victim: Victim) -> Roll:
        """The roll of a run; RunError where the manifest does not say what shard it is."""
        shard = manifest.get("shard")
        try:
            part = None if shard is None else Shard.parse(shard)
        except (AttributeError, InputError, TypeError):
            raise RunError(f"the manifest is damaged: {shard!r:.40} is no shard") from None
        part = None if part is not None and part.count == 1 else part
        return cls(manifest, asked, victim.fingerprint or str(manifest.get("victim")), part)

    def accept(self, record: Record) -> None:
        """Refuses a record that is no work of this run."""
        example = example_of(record)
        if record["key"] != self._key(example, record["method"]):
            raise Refused(
                "its key is not that of its text, label and method with the options and the victim of "
                "the manifest: one of them was changed"
            )
        if self.shard is not None and not self._mine(example):
            raise Refused(f"its text is no work of the shard {self.shard}")

    def refusals(
        self,
        found: Sequence[Record],
        *,
        strangers: Collection[str],
        refused: Collection[str],
        given: Sequence[Example] | None,
    ) -> Iterator[Refusal]:
        """What is missing, and what is there without having been asked for.

        `strangers` are the keys of records that are no work of this run, `refused` of those that do not
        hold, on which nothing more is built; `given` is the data, if it is at hand.
        """
        entries = _entries(record for record in found if record["key"] not in strangers)
        there = {record["key"] for record in found}
        for entry in entries.values():
            if not any(record["key"] in refused for record in entry.records.values()):
                yield from self._of_text(entry, there)
        if not strangers:  # else texts cannot be told apart, and the run is refused anyway
            texts = [entry.example for entry in entries.values()]
            why = self._texts(texts) or (None if given is None else self._compared(texts, given))
            if why is not None:
                yield "the run", why

    def _of_text(self, entry: Entry, there: Collection[str]) -> Iterator[Refusal]:
        example = entry.example
        absent = [m for m in self.asked.rules if m not in entry.records]
        if any(self._key(example, method) in there for method in absent):
            return  # a stranger has the key, and what comes after it cannot be known
        try:
            wanted = due(self.asked, entry.records)
        except Unsound as error:
            yield str(example.id), str(error)
            return
        for method in wanted:
            if method in absent:
                yield f"{example.id} ({method})", "its record is missing"
        for method in entry.records:
            if method not in wanted:
                yield (
                    f"{example.id} ({method})",
                    "this was not asked of the text, as others decide it",
                )

    def _texts(self, texts: Sequence[Example]) -> str | None:
        """Why the texts are not those that the manifest speaks of; of a shard only their number is known."""
        fingerprints = self.manifest["fingerprints"]
        if "texts" in self.manifest:  # older runs do not say
            stated = self.manifest["texts"]
            if not whole(stated):
                return f"the number of texts in the manifest is no whole number: {stated!r:.40}"
            if len(texts) > stated or (self.shard is None and len(texts) != stated):
                return f"{len(texts)} of {stated} texts are there"
        if self.shard is None and fingerprints.get("data") != examples_fingerprint(texts):
            return (
                "the texts of the records do not have the fingerprint of the data in the manifest"
            )
        if not isinstance(fingerprints.get("data"), str):
            return "the manifest has no fingerprint of the data"
        return None

    def _compared(self, texts: Sequence[Example], given: Sequence[Example]) -> str | None:
        """Why the texts are not those of the data that was given."""
        if self.manifest["fingerprints"]["data"] != examples_fingerprint(given):
            return (
                "the data that was given does not have the fingerprint of the data in the manifest"
            )
        mine = [e for e in given if self.shard is None or self._mine(e)]
        lost = {named(e) for e in mine} - {named(e) for e in texts}
        return f"{len(mine) - len(lost)} of {len(mine)} texts are there" if lost else None

    def _key(self, example: Example, method: str) -> str:
        options = self.manifest["options"]
        return record_key(
            example=named(example), method=method, options=options, victim=self.victim
        )

    def _mine(self, example: Example) -> bool:
        """Whether the shard takes a text; an audit is cut into shards as a whole."""
        key = self._key(example, self.manifest["method"])
        return self.shard is None or self.shard.takes(key)


def example_of(record: Record) -> Example:
    """The text that a record is about, with its label and name."""
    return Example(reread(record["original"]), record["label"], record["id"])


def _entries(found: Iterator[Record]) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for record in found:
        example = example_of(record)
        entry = entries.setdefault(named(example), Entry(example))
        entry.records[record["method"]] = record
    return entries
