"""Outcome: what an attack did to one text, and what that says about the victim as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np

from unfooled import metrics, records
from unfooled.candidate_counts import CandidateCounts
from unfooled.companions import Encodes
from unfooled.counting import Rows
from unfooled.errors import InputError, RunError, UnfooledError
from unfooled.evidence import tolerance
from unfooled.keys import by_id
from unfooled.program import Goal
from unfooled.rerun import Finish, Together
from unfooled.space import Space
from unfooled.task import Result
from unfooled.text import Example, Text, is_word
from unfooled.victims.base import Floats

Status = Literal["success", "failed", "skipped", "exhausted", "error"]
Changes = tuple[tuple[int, str, str], ...]
"""Position, original word and word now, for each word that was swapped."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One text under one attack.

    `text` is the text that fooled the victim (None unless the status is success), `scores` are
    those of that text (else of the original), re-run alone. A skipped text was misclassified
    from the start, or of the target class already. `first_swaps` is what an attack that tightens its
    results had before (for pdp: the swaps of the paper's own result); None: nothing, or no such attack.
    `refused` counts the texts that a limit of similarity kept from the victim, or the attack's own did not take.
    `positions` counts the words that had a candidate when the search ended (or may have had one, when
    the queries ended it) and `choices` all their candidates, `max_swaps` is the most that was allowed;
    None: not known, or no limit.
    `others` are the changes of further texts that fool the victim, from an attack that collects them.
    """

    id: str
    status: Status
    original: Text
    label: int
    text: Text | None = None
    changes: Changes = ()
    queries: int = 0
    forwards: int = 0
    scores: tuple[float, ...] = ()
    error: str | None = None
    first_swaps: int | None = None
    refused: int = 0
    others: tuple[Changes, ...] = ()
    positions: int | None = None
    max_swaps: int | None = None
    choices: int | None = None

    @property
    def counts(self) -> CandidateCounts | None:
        """The words of the text and what could replace them; None: older runs do not say."""
        if self.positions is None or self.choices is None:
            return None
        return CandidateCounts(sum(map(is_word, self.original.words)), self.positions, self.choices)

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
            "original": written(self.original),
            "text": None if self.text is None else written(self.text),
            "changes": [list(change) for change in self.changes],
            "queries": self.queries,
            "forwards": self.forwards,
            "scores": list(self.scores),
            "error": self.error,
            "first_swaps": self.first_swaps,
            "refused": self.refused,
            "others": [[list(change) for change in changes] for changes in self.others],
            "positions": self.positions,
            "max_swaps": self.max_swaps,
            "choices": self.choices,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Outcome:
        """The outcome that `record` described."""
        original = reread(record["original"])
        changes = _changes(record["changes"])
        others = tuple(map(_changes, record.get("others", ())))  # older runs have none
        text = None if record["text"] is None else changed(original, changes)
        return cls(
            record["id"], record["status"], original, record["label"], text, changes,
            record["queries"], record["forwards"], tuple(record["scores"]), record["error"],
            record["first_swaps"], record.get("refused", 0), others,
            record.get("positions"), record.get("max_swaps"), record.get("choices"),
        )  # fmt: skip


@dataclass(frozen=True)
class Outcomes(Sequence[Outcome]):
    """The outcomes of a run, in the order of the data, and the usual figures."""

    attack: str
    all: tuple[Outcome, ...]
    seconds: float = 0.0
    resumed: int = 0  # of them were recorded before, and took none of the seconds
    candidates: CandidateCounts | None = None  # of all texts; counted under a preset

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

    def summary(self, *, encoder: Encodes | None = None) -> dict[str, Any]:
        """The figures of `metrics.summary`; with an encoder also how similar the texts stayed."""
        return metrics.summary(self.all, encoder=encoder)


def read(folder: records.Folder) -> tuple[Outcomes, dict[str, Any]]:
    """The outcomes that the folder of an attack holds, by id, and its manifest."""
    run = records.read(folder)
    method, options = run.manifest["method"], run.manifest["options"]
    if "attack" not in options:
        raise RunError(f"{folder} is a run of {method}, not of an attack")
    found = [run.rebuilt(record, Outcome.from_record) for record in run.records()]
    found.sort(key=lambda outcome: by_id(outcome.id))
    # Of an attack that asks a model for words nobody knows beforehand how many it will have.
    known = "preset" in options and "masked" not in options
    candidates = counted(outcome.counts for outcome in found) if known else None
    return Outcomes(method, tuple(found), candidates=candidates), run.manifest


def counted(counts: Iterable[CandidateCounts | None]) -> CandidateCounts | None:
    """The candidates of all texts together; None: of some it is not known."""
    each = list(counts)
    known = [count for count in each if count is not None]
    return CandidateCounts.total(known) if len(known) == len(each) else None


def _changes(values: Iterable[tuple[Any, Any, Any]]) -> Changes:
    return tuple((int(p), str(old), str(new)) for p, old, new in values)


def changed(original: Text, changes: Iterable[tuple[int, str, str]]) -> Text:
    """The text with its changes made; a word may be replaced by several, which stay one."""
    words = list(original.words)
    for position, _, new in changes:
        words[position] = new
    return replace(original, words=tuple(words))


def written(text: Text) -> Any:
    """A text or pair as JSON values."""
    source = text.source
    if isinstance(source, str):
        return source
    return {"premise": source[0], "hypothesis": source[1], "editable": text.editable}


def reread(value: Any) -> Text:
    """The text that `written` described."""
    if isinstance(value, str):
        return Text.parse(value)
    return Text.pair(value["premise"], value["hypothesis"], editable=value["editable"])


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attack on one text came to, before it is verified."""

    row: Rows | None
    skipped: bool = False
    first_swaps: int | None = None
    strict: bool = False  # a row that meets the goal, but was not returned, does not count
    others: tuple[Rows, ...] = ()


def verified(
    example: Example,
    result: Result[Attempt],
    *,
    allowed: Callable[[Rows], bool] = lambda row: True,
    refused: int = 0,
) -> Finish[Outcome]:
    """The verified outcome: a claimed success counts only if the text, run alone, fools the victim.

    `allowed` says whether a row keeps to the limits that the goal does not know of.
    """
    space, goal = result.job.space, result.job.goal
    tried = result.value or Attempt(None)

    def outcome(status: Status, **more: Any) -> Outcome:
        return Outcome(
            example.id,
            status,
            example.text,
            example.label,
            queries=result.queries,
            forwards=result.forwards,
            refused=refused,
            # Where proposals are asked for as the search goes, it may have ended before it asked.
            positions=sum(count > 0 or result.exhausted for count in space.counts),
            max_swaps=None if goal is None else goal.max_swaps,
            choices=sum(space.counts),
            **more,
        )

    if result.error is not None:
        return outcome("error", error=result.error)
    proposed = None if tried.skipped or tried.strict else result.best
    proposed = proposed if tried.row is None else tried.row
    try:
        row = None if proposed is None else member(space, proposed)
        final = example.text if row is None else space.text(row)
        (raw,) = yield [final]
        won = row is not None and goal is not None and _fools(raw, row, goal, allowed=allowed)
        others: tuple[Changes, ...] = ()
        if won and goal is not None and tried.others:
            others = yield from _fooling(tried.others, goal, allowed=allowed)
        if row is not None and not won:  # nobody could check scores of a text that is not recorded
            (raw,) = yield [example.text]
    except UnfooledError as error:
        return outcome("error", error=str(error))
    scores = tuple(raw[0].tolist())
    if won and row is not None:
        changes, first = _swapped(space, row), tried.first_swaps
        return outcome(
            "success", scores=scores, text=final, changes=changes, first_swaps=first, others=others
        )
    if tried.skipped:
        return outcome("skipped", scores=scores)
    return outcome("exhausted" if result.exhausted else "failed", scores=scores)


Allowed = Callable[[Rows], bool]
"""Whether a row keeps to the limits that the goal does not know of."""


def _fools(scores: Floats, row: Rows, goal: Goal, *, allowed: Allowed) -> bool:
    return bool(goal.met(scores, row[None])[0]) and allowed(row)


def _fooling(rows: Sequence[Rows], goal: Goal, *, allowed: Allowed) -> Finish[tuple[Changes, ...]]:
    """The changes of those rows that fool the victim: in batches, and alone where it is close."""
    found = [member(goal.space, row) for row in rows]
    texts = [goal.space.text(row) for row in found]
    scores = yield Together(texts)
    close = [i for i, raw in enumerate(scores) if abs(goal.gain(raw)[0]) <= 2 * tolerance(raw)[0]]
    for i, raw in zip(close, (yield [texts[i] for i in close]), strict=True):
        scores[i] = raw
    return tuple(
        _swapped(goal.space, row)
        for row, raw in zip(found, scores, strict=True)
        if _fools(raw, row, goal, allowed=allowed)
    )


def _swapped(space: Space, row: Rows) -> Changes:
    return tuple((p, *words) for p, words in space.changes(row).items())


def member(space: Space, proposed: Any) -> Rows:
    """What an attack proposed, if it is a row of the space at all."""
    try:
        row = np.asarray(proposed)
    except ValueError:  # lists of unequal length
        row = np.empty(0)
    fits = row.shape == space.origin.shape and row.dtype.kind in "iu"
    if not fits or not space.contains(row)[0]:
        raise InputError(f"the attack proposed {proposed!r:.80}, which is no row of {space}")
    return row
