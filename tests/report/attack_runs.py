"""Run folders of attacks, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unfooled.outcomes import Outcome, Status, changed
from unfooled.records import Run
from unfooled.text import Text


def outcome(
    id: str, source: Any, status: Status = "failed", *, words: Sequence[str] = (), **more: Any
) -> Outcome:
    """One text; `words` take the place of its first ones, and then it is a success."""
    text = Text.pair(*source) if isinstance(source, tuple) else Text.parse(source)
    if not words:
        scores = (1.0, 0.0) if status == "skipped" else (0.0, 1.0)
        return Outcome(id, status, text, 1, queries=5, forwards=4, scores=scores, **more)
    changes = tuple((p, text.words[p], new) for p, new in enumerate(words))
    return Outcome(id, "success", text, 1, changed(text, changes), changes, 9, 8, (1.0, 0.0))


OUTCOMES = (
    outcome("t:10", "a truly fine film", words=["one"]),
    outcome("t:2", "good and slow plot", words=["bad", "or", "fast"]),
    outcome("t:3", "good old times", words=["bad"]),
    outcome("t:4", "no candidates here", positions=0),
    outcome("t:5", "out of queries", "exhausted", positions=2),
    outcome("t:6", "none is near", positions=2, refused=3),
    outcome("t:7", "none was found", positions=2),
    outcome("t:8", "wrong from the start", "skipped"),
    outcome("t:9", "it fell over", "error", error="VictimError: it fell"),
)


def attack_run(
    folder: Path, found: Sequence[Outcome] = OUTCOMES, *, attack: str = "greedy", **more: Any
) -> Path:
    """A run folder as an attack leaves it."""
    manifest = {
        "method": attack,
        "options": {"attack": {"width": 8}, "max_swaps": None},
        "seed": 7,
        "fingerprints": {"victim": "sha256:f00d"},
        "command": ["unfooled", "attack", attack],
        "texts": len(found),
        "victim": "toy",
        "labels": ["negative", "positive"],
        **more,
    }
    with Run.open(folder, manifest) as opened:
        for i, result in enumerate(found):
            opened.append({"key": f"k{i}", "method": attack, **result.record()})
    return folder
