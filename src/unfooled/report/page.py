"""Puts the page together: everything that comes from a run is escaped by the template engine."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from unfooled.audited import Audit
from unfooled.report import figures, radii, texts, wording

_HOME = Path(__file__).parent
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
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HOME),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"share": wording.share, "number": wording.number}
    # Ours, and therefore markup; nothing that comes from a run is ever joined to them.
    style, script = (Markup((_HOME / name).read_text("utf-8")) for name in ("page.css", "page.js"))
    sections = [_section(i, run, name=name) for i, (run, name) in enumerate(_named(runs))]
    audits = [run.audit for run in runs]
    return environment.get_template("page.html.j2").render(
        runs=sections,
        style=style,
        script=script,
        policy=_policy(script),
        title=", ".join(dict.fromkeys(run.victim for run in runs)),
        compared=figures.compared(audits, name="compared") if len(runs) > 1 else None,
        comparison=comparison(runs) if len(runs) > 1 else None,
        kinds=texts.KINDS,
    )


def _named(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    """Each run with what the page calls it: the victim, and the folder where that is not enough."""
    victims = Counter(run.victim for run in runs)
    return [
        (run, run.victim if victims[run.victim] == 1 else f"{run.victim}, {run.folder.name}")
        for run in runs
    ]


def _section(i: int, run: Run, *, name: str) -> dict[str, Any]:
    """What the template needs to know about one run."""
    audit, manifest = run.audit, run.manifest
    options = manifest["options"]
    (certifier,) = options["certifier"]
    attacks = list(options["attacks"])
    delta = options["pr"]["delta"]
    labels = [str(label) for label in manifest.get("labels", [])]
    rows = [texts.row(item, labels=labels, delta=delta) for item in audit]
    pairs = itertools.islice(((attacks[0], other) for other in attacks[1:]), _SCATTERS)
    return {
        "number": i + 1,
        "name": name,
        "summary": audit.summary(),
        "minimum": wording.interval(*audit.summary()["mean_minimum"]),
        "radius": audit.radius,
        "words": wording.paragraphs(audit, manifest),
        "radii": radii.by_radius(audit, certifier=certifier),
        "costs": radii.costs(audit),
        "certifier": certifier,
        "attacks": attacks,
        "confidence": wording.confidence(delta),
        "survival": figures.survival(audit, name=f"survival{i}"),
        "violin": figures.violin(audit, name=f"violin{i}"),
        "scatters": [
            (pair, svg)
            for j, pair in enumerate(pairs)
            if (svg := figures.scatter(audit, pair, name=f"scatter{i}-{j}")) is not None
        ],
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


def origin(manifest: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Where the numbers come from, in groups of names and values."""
    run = {
        "command": shlex.join(map(str, manifest.get("command", []))),
        "seed": manifest["seed"],
        "candidates": manifest.get("candidates"),
        "started": manifest.get("created"),
        "arithmetic": manifest.get("dtype"),
        "promise": manifest.get("promise"),
        "shard": manifest.get("shard"),
    }
    for entry in manifest.get("resumed", []):
        run[f"resumed {entry['created']}"] = shlex.join(map(str, entry["command"]))
    groups = {
        "Run": {name: value for name, value in run.items() if value is not None},
        "Fingerprints": manifest["fingerprints"],
        "Versions": manifest.get("versions", {}),
        "Options": dict(_flat(manifest["options"])),
    }
    return [
        (title, [(str(k), v if isinstance(v, str) else json.dumps(v)) for k, v in group.items()])
        for title, group in groups.items()
        if group
    ]


def _flat(options: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Nested options with dotted names; a method without options keeps its name."""
    found: list[tuple[str, Any]] = []
    for name, value in options.items():
        if isinstance(value, Mapping) and value:
            found += _flat(value, f"{before}{name}.")
        else:
            found.append((f"{before}{name}", value))
    return found


def _policy(script: str) -> str:
    """A content security policy under which nothing but our own script runs, and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
