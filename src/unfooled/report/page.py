"""Puts a page together: everything that comes from a run is escaped by the template engine."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from unfooled.report import wording

_HOME = Path(__file__).parent


def rendered(template: str, **values: Any) -> str:
    """The whole page by this template, the same for the same values."""
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
    return environment.get_template(template).render(
        style=style, script=script, policy=_policy(script), **values
    )


def told_apart(names: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """What the page calls each run: its name, and the folder where that is not enough."""
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name}, {folder.name}"
        for name, folder in zip(names, folders, strict=True)
    ]


def origin(manifest: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Where the numbers come from, in groups of names and values."""
    run = {
        "command": shlex.join(map(str, manifest.get("command", []))),
        "seed": manifest["seed"],
        "candidates": manifest.get("candidates_spec") or manifest.get("candidates"),
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
