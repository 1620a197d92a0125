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

Costs = Mapping[str, Mapping[str, float]]  # method -> texts, queries, forwards, seconds

NAME: Final = "costs.json"


def read_costs(folder: Path | str) -> dict[str, dict[str, float]]:
    """The costs that a run folder holds, all parts together; none when it holds none."""
    total: dict[str, dict[str, float]] = {}
    for path in sorted(Path(folder).glob("costs*.json")):
        for name, cost in json.loads(path.read_text()).items():
            sums = total.setdefault(name, {})
            for figure, value in cost.items():
                sums[figure] = sums.get(figure, 0.0) + value
    return total


def continue_costs(folder: Path | str, costs: Costs) -> dict[str, dict[str, float]]:
    """Kept: the counts of this call, which has all texts, and the seconds of earlier ones too."""
    found = read_costs(folder)
    for name, cost in costs.items():
        seconds = found.get(name, {}).get("seconds", 0.0) + cost["seconds"]
        found[name] = {**cost, "seconds": seconds}
    for part in Path(folder).glob("costs-*.json"):  # the counts of this call have theirs
        part.unlink()
    (Path(folder) / NAME).write_text(json.dumps(found, indent=1) + "\n")
    return found


def join_costs(folder: Path | str, parts: Iterable[Path | str]) -> None:
    """Puts what the parts took into the folder that they were merged into."""
    for part in parts:
        shard = records.read(part).manifest["shard"] or "whole"
        for path in Path(part).glob("costs*.json"):
            name = path.name.replace(NAME, f"costs-{shard.replace('/', '-of-')}.json")
            shutil.copyfile(path, Path(folder) / name)
