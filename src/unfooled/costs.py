"""What each method of an audit took: queries, forwards and seconds, in a file of the run folder.

A folder that was merged has a file for each part, so that merging again counts nothing twice.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from unfooled import records
from unfooled.errors import RunError

Costs = Mapping[str, Mapping[str, float]]  # method -> texts, queries, forwards, seconds

NAME: Final = "costs.json"


def read_costs(folder: Path | str) -> dict[str, dict[str, float]]:
    """The costs that a run folder holds, all parts together; none when it holds none."""
    total: dict[str, dict[str, float]] = {}
    for path in sorted(Path(folder).glob("costs*.json")):
        for name, cost in _parsed(path).items():
            sums = total.setdefault(name, {})
            for figure, value in cost.items():
                sums[figure] = sums.get(figure, 0.0) + value
    return total


def _parsed(path: Path) -> Costs:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(dict[str, dict[str, float]]).validate_json(path.read_bytes())
    except ValidationError:
        raise RunError(
            f"{path} is damaged: delete it, and only the times of earlier calls are lost"
        ) from None


def continued(before: Costs, now: Costs) -> dict[str, dict[str, float]]:
    """The counts of this call, which has all texts, and the seconds of earlier calls too."""
    found = {name: dict(cost) for name, cost in before.items()}
    for name, cost in now.items():
        earlier = found.get(name, {})
        seconds = earlier.get("seconds", 0.0) + cost["seconds"]
        found[name] = {**earlier, **cost, "seconds": seconds}
    return found


def write_costs(folder: Path | str, costs: Costs) -> None:
    """Puts the costs into the folder, whole or not at all, in the place of those of its parts."""
    path = Path(folder) / NAME
    temporary = path.with_suffix(".new")
    try:
        temporary.write_text(json.dumps(costs, indent=1) + "\n")
        temporary.replace(path)
        for part in Path(folder).glob("costs-*.json"):  # the costs of this call have theirs
            part.unlink()
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}") from error


def join_costs(folder: Path | str, parts: Iterable[Path | str]) -> None:
    """Puts what the parts took into the folder that they were merged into."""
    for part in parts:
        shard = records.read(part).manifest["shard"] or "whole"
        for path in Path(part).glob("costs*.json"):
            name = path.name.replace(NAME, f"costs-{shard.replace('/', '-of-')}.json")
            shutil.copyfile(path, Path(folder) / name)
