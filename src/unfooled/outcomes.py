"""Outcome: what an attack did to one text, and what that says about the victim as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from unfooled.text import Source, Text

Status = Literal["success", "failed", "skipped", "exhausted", "error"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One text under one attack.

    `text` is the text that fooled the victim (None unless the status is success), `scores` are
    those of the final text (or of the original), re-run alone. A skipped text was misclassified
    from the start.
    """

    id: str
    status: Status
    original: Text
    label: int
    text: Text | None = None
    changes: tuple[tuple[int, str, str], ...] = ()
    queries: int = 0
    forwards: int = 0
    scores: tuple[float, ...] = ()
    error: str | None = None

    @property
    def swaps(self) -> int:
        """How many words were swapped."""
        return len(self.changes)

    @property
    def rate(self) -> float:
        """The share of words that were swapped."""
        return self.swaps / max(len(self.original), 1)

    def record(self) -> dict[str, Any]:
        """The outcome as JSON values."""
        return {
            "id": self.id,
            "status": self.status,
            "label": self.label,
            "original": _written(self.original),
            "text": None if self.text is None else _written(self.text),
            "changes": [list(change) for change in self.changes],
            "queries": self.queries,
            "forwards": self.forwards,
            "scores": list(self.scores),
            "error": self.error,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Outcome:
        """The outcome that `record` described."""
        original = _read(record["original"])
        changes = tuple((int(p), str(old), str(new)) for p, old, new in record["changes"])
        text = None
        if record["text"] is not None:
            words = list(original.words)
            for position, _, new in changes:
                words[position] = new
            text = Text(
                tuple(words),
                original.gaps,
                original.other,
                original.editable,
                original.split,
                original.seam,
            )
        return cls(
            record["id"], record["status"], original, record["label"], text, changes,
            record["queries"], record["forwards"], tuple(record["scores"]), record["error"],
        )  # fmt: skip


@dataclass(frozen=True)
class Outcomes(Sequence[Outcome]):
    """The outcomes of a run, in the order of the data, and the usual figures."""

    attack: str
    all: tuple[Outcome, ...]
    seconds: float = 0.0

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Outcome, ...]: ...
    def __getitem__(self, index: int | slice) -> Outcome | tuple[Outcome, ...]:
        return self.all[index]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.all)

    def summary(self) -> dict[str, float | int | None]:
        """Clean accuracy, accuracy under attack, success rate, swaps, queries, forwards.

        Texts with an error count nowhere but in `errors`; a mean over nothing is None.
        """
        count = Counter(outcome.status for outcome in self.all)
        scored = len(self.all) - count["error"]
        attacked = scored - count["skipped"]
        won = [o for o in self.all if o.status == "success"]
        tried = [o for o in self.all if o.status in ("success", "failed", "exhausted")]
        return {
            "texts": len(self.all),
            "clean_accuracy": _ratio(attacked, scored),
            "accuracy_under_attack": _ratio(attacked - len(won), scored),
            "success_rate": _ratio(len(won), attacked),
            "mean_swaps": _ratio(sum(o.swaps for o in won), len(won)),
            "mean_swapped_share": _ratio(sum(o.rate for o in won), len(won)),
            "mean_queries": _ratio(sum(o.queries for o in tried), len(tried)),
            "mean_forwards": _ratio(sum(o.forwards for o in tried), len(tried)),
            "exhausted": count["exhausted"],
            "errors": count["error"],
        }


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _written(text: Text) -> Any:
    source = text.source
    if isinstance(source, str):
        return source
    return {"premise": source[0], "hypothesis": source[1], "editable": text.editable}


def _read(written: Any) -> Text:
    if isinstance(written, str):
        return Text.parse(written)
    return Text.pair(written["premise"], written["hypothesis"], editable=written["editable"])


def spelled(source: Source) -> str:
    """A text or pair on one line."""
    return " ".join((source if isinstance(source, str) else " ‖ ".join(source)).split())
