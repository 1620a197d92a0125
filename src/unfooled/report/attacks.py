"""The page about attacks: what fooled the victim, why the rest did not, which words were swapped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from unfooled import outcomes, swaps
from unfooled.companions import Encodes
from unfooled.data import Dataset
from unfooled.lexicon.vectors import Vectors
from unfooled.metrics import REASONS, edits, why
from unfooled.outcomes import Outcome, Outcomes
from unfooled.report import histograms, wording
from unfooled.report.page import origin, rendered, told_apart
from unfooled.report.texts import Side, sides
from unfooled.swaps import Swapped

KINDS: Final = {
    "broken": "broken",
    "intact": "not broken",
    "skipped": "skipped",
    "error": "error",
}
"""The filters of the list, and what they are called."""

_KIND: Final = {"success": "broken", "failed": "intact", "exhausted": "intact"}
ORDERS: Final = [
    (f"{key},{sign}", f"{key}, {name} first")
    for key in ("swaps", "edits", "queries")
    for sign, name in ((1, "smallest"), (-1, "largest"))
]


@dataclass(frozen=True)
class Run:
    """A run that was read, with its figures."""

    folder: Path
    found: Outcomes
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    swapped: Swapped | None = None  # only with the training data

    @property
    def title(self) -> str:
        """Which attack, on whom."""
        return f"{self.found.attack} on {self.manifest.get('victim', self.folder.name)}"


class Row(NamedTuple):
    """A text as the list shows it."""

    id: str
    label: str
    headline: str
    tone: str  # a key of the colours: attacked, unknown
    kind: str
    sides: list[Side]
    swaps: int | None
    edits: int | None
    queries: int
    forwards: int
    said: str  # the class of the fooling text
    error: str | None


def read(
    folder: Path,
    *,
    train: Dataset | None = None,
    vectors: str | Vectors = "glove-50",
    encoder: Encodes | None = None,
) -> Run:
    """The run in this folder; with training data also what is known of the swapped words."""
    found, manifest = outcomes.read(folder)
    swapped = None
    if train is not None:
        swapped = swaps.study(found, labels=manifest["labels"], train=train, vectors=vectors)
    return Run(folder.resolve(), found, manifest, found.summary(encoder=encoder), swapped)


def page(runs: Sequence[Run]) -> str:
    """The whole page, the same for the same runs."""
    names = told_apart([run.title for run in runs], [run.folder for run in runs])
    return rendered(
        "attack.html.j2",
        runs=[_section(i, run, name=names[i]) for i, run in enumerate(runs)],
        title=", ".join(dict.fromkeys(run.title for run in runs)),
        comparison=comparison(runs) if len(runs) > 1 else None,
        kinds=KINDS,
        orders=ORDERS,
    )


def row(outcome: Outcome, *, labels: Sequence[str]) -> Row:
    """The text as the list shows it."""
    won = outcome.status == "success"
    return Row(
        id=outcome.id,
        label=_named(outcome.label, labels),
        headline=_headline(outcome),
        tone="attacked" if won else "unknown",
        kind=_KIND.get(outcome.status, outcome.status),
        sides=sides(outcome.original, {p: new for p, _, new in outcome.changes}),
        swaps=outcome.swaps if won else None,
        edits=edits(outcome) if won else None,
        queries=outcome.queries,
        forwards=outcome.forwards,
        said=_named(_predicted(outcome), labels) if won else "",
        error=outcome.error,
    )


def comparison(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """The summaries side by side: a name and a value for each run."""
    lines: list[tuple[str, list[str]]] = [("Texts", _each(runs, "texts", wording.number))]
    for key, name in (
        ("clean_accuracy", "Clean accuracy"),
        ("accuracy_under_attack", "Accuracy under attack"),
        ("success_rate", "Success rate"),
        ("few_swaps", "At most two swaps"),
        ("mean_swapped_share", "Words swapped"),
    ):
        lines.append((name, _each(runs, key, wording.share)))
    for key, name in (
        ("mean_swaps", "Mean swaps"),
        ("mean_edits", "Mean characters edited"),
        ("mean_queries", "Queries per text"),
        ("mean_forwards", "Forwards per text"),
        ("mean_similarity", "Mean similarity"),
    ):
        if key in runs[0].summary:
            lines.append((name, _each(runs, key, wording.number)))
    return lines


def _each(runs: Sequence[Run], key: str, shown: Any) -> list[str]:
    return [shown(run.summary[key]) for run in runs]


def _section(i: int, run: Run, *, name: str) -> dict[str, Any]:
    """What the template needs to know about one run."""
    labels = [str(label) for label in run.manifest["labels"]]
    rows = [row(outcome, labels=labels) for outcome in run.found]
    counts = {kind: sum(row.kind == kind for row in rows) for kind in KINDS}
    failures = run.summary["failures"]
    attacked = counts["broken"] + counts["intact"]
    return {
        "number": i + 1,
        "name": name,
        "summary": run.summary,
        "attacked": attacked,
        "failures": [
            (reason, REASONS[reason], count, count / attacked if attacked else 0.0)
            for reason, count in failures.items()
        ],
        "swapped": None if run.swapped is None else run.swapped.summary(),
        "histogram": histograms.by_swaps(run.found, name=f"swaps{i}"),
        "cosines": run.swapped and histograms.by_cosine(run.swapped, name=f"cosines{i}"),
        "rows": rows,
        "counts": counts,
        "missing": max(0, run.manifest.get("texts", len(rows)) - len(rows)),
        "origin": origin(run.manifest),
    }


def _headline(outcome: Outcome) -> str:
    if outcome.status == "success":
        return f"{outcome.swaps} swap" if outcome.swaps == 1 else f"{outcome.swaps} swaps"
    reason = why(outcome)
    if reason is not None:
        return f"not broken: {REASONS[reason]}"
    return "nothing to fool" if outcome.status == "skipped" else "error"


def _predicted(outcome: Outcome) -> int:
    return max(range(len(outcome.scores)), key=outcome.scores.__getitem__)


def _named(label: int, labels: Sequence[str]) -> str:
    return labels[label] if 0 <= label < len(labels) else str(label)
