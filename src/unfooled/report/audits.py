"""The page about audits: what was proved, attacked and estimated, text by text."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unfooled.audited import Audit
from unfooled.report import figures, minima, radii, texts, wording
from unfooled.report.page import origin, rendered, told_apart

_SCATTERS = 3  # against the first attack; a report is not an atlas


@dataclass(frozen=True)
class Run:
    """A run that was read."""

    folder: Path
    audit: Audit
    manifest: Mapping[str, Any]

    @property
    def victim(self) -> str:
        """Whom it audited."""
        return str(self.manifest.get("victim", self.folder.name))


def page(runs: Sequence[Run]) -> str:
    """The whole page, the same for the same runs."""
    names = told_apart([run.victim for run in runs], [run.folder for run in runs])
    audits = [run.audit for run in runs]
    return rendered(
        "audit.html.j2",
        runs=[_section(i, run, name=names[i]) for i, run in enumerate(runs)],
        title=", ".join(dict.fromkeys(run.victim for run in runs)),
        compared=figures.compared(audits, name="compared") if len(runs) > 1 else None,
        comparison=comparison(runs) if len(runs) > 1 else None,
        kinds=texts.KINDS,
    )


def _section(i: int, run: Run, *, name: str) -> dict[str, Any]:
    """What the template needs to know about one run."""
    audit, manifest = run.audit, run.manifest
    options = manifest["options"]
    certifiers = wording.certifiers(manifest)
    summary = audit.summary()
    attacks = list(options["attacks"])
    delta = options["pr"]["delta"]
    labels = [str(label) for label in manifest.get("labels", [])]
    rows = [texts.row(item, labels=labels, delta=delta) for item in audit]
    pairs = itertools.islice(((attacks[0], other) for other in attacks[1:]), _SCATTERS)
    return {
        "number": i + 1,
        "name": name,
        "summary": summary,
        "minimum": wording.interval(*summary["mean_minimum"]),
        "radius": audit.radius,
        "words": wording.paragraphs(audit, manifest),
        "radii": radii.by_radius(audit),
        "costs": radii.costs(audit),
        "certifiers": certifiers,
        "attacks": attacks,
        "confidence": wording.confidence(delta),
        "survival": figures.survival(audit, name=f"survival{i}"),
        "violin": figures.violin(audit, name=f"violin{i}"),
        "scatters": [
            (pair, svg)
            for j, pair in enumerate(pairs)
            if (svg := figures.scatter(audit, pair, name=f"scatter{i}-{j}")) is not None
        ],
        "robust_shares": minima.shares(audit),
        "mmws": wording.interval(*(summary["mmws"] or (None, None))),
        "whole": minima.interval(summary["proved_whole"]),
        "least": minima.histogram(audit, name=f"least{i}"),
        "trusted": sum(a.bracket is not None and wording.trusted(a.bracket) for a in audit),
        "compared": minima.compared(attacks),
        "increments": minima.increments(audit, name=f"increments{i}"),
        "times": minima.times(audit, name=f"times{i}"),
        "examples": minima.examples(audit),
        "rows": rows,
        "counts": {kind: sum(kind in row.kinds for row in rows) for kind in texts.KINDS},
        "origin": origin(manifest),
    }


def comparison(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """The summaries side by side: a name and a value for each run."""
    summaries = [run.audit.summary() for run in runs]
    share, number = wording.share, wording.number
    lines = [
        ("Texts", [number(s["texts"]) for s in summaries]),
        ("Clean accuracy", [share(s["clean_accuracy"]) for s in summaries]),
        ("Known exactly", [share(s["exact"]) for s in summaries]),
    ]
    for radius in range(1, max(run.audit.radius for run in runs) + 1):
        for key, what in (("proved", "Proved"), ("broken", "Broken")):
            values = [share(s[key].get(str(radius))) for s in summaries]
            lines.append((f"{what} within {radius}", values))
    return [
        *lines,
        ("Not broken", [share(s["not_broken"]) for s in summaries]),
        (
            "Mean least swaps of broken texts",
            [wording.interval(*s["mean_minimum"]) for s in summaries],
        ),
        (
            "Mean PR",
            [wording.NONE if s["mean_pr"] is None else f"{s['mean_pr']:.3f}" for s in summaries],
        ),
        ("PR above 0.9", [share(s["pr_above_0.9"]) for s in summaries]),
        ("PR radius", [number(run.audit.radius) for run in runs]),
    ]
