"""The candidates of an audited text, kept in its run so that a reader sees what was allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unfooled.outcomes import reread, written
from unfooled.records import CANDIDATES, Run
from unfooled.text import Example, Text
from unfooled.work import Work, named

Choices = Mapping[int, tuple[str, ...]]  # position -> candidates


@dataclass(frozen=True, slots=True)
class Allowed:
    """What each word of a text may be swapped for."""

    id: str
    original: Text
    label: int
    candidates: Choices

    def record(self) -> dict[str, Any]:
        """It as JSON values."""
        return {
            "id": self.id,
            "original": written(self.original),
            "label": self.label,
            "candidates": {str(p): list(words) for p, words in self.candidates.items()},
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Allowed:
        """What `record` described."""
        choices = {int(p): tuple(words) for p, words in record["candidates"].items()}
        return cls(record["id"], reread(record["original"]), record["label"], choices)


def keep(work: Work, run: Run | None) -> dict[str, Choices]:
    """The candidates of every text by `named`; those not yet in the run are recorded there."""
    found: dict[str, Choices] = {}
    for key, example in work.keyed.items():
        if run and key in run.done:
            allowed = run.rebuilt(run.done[key], Allowed.from_record)
        else:
            allowed = _allowed(work, example)
            if run:
                run.append({"key": key, "method": CANDIDATES, **allowed.record()})
        found[named(example)] = allowed.candidates
    return found


def _allowed(work: Work, example: Example) -> Allowed:
    space = work.spaces.of(example)
    choices = dict(zip(space.positions, space.candidates, strict=True))
    return Allowed(example.id, example.text, example.label, choices)
