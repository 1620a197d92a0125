"""What each method of an audit took: queries, forwards and seconds, in a file of the run folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

Costs = Mapping[str, Mapping[str, float]]  # method -> texts, queries, forwards, seconds

NAME: Final = "costs.json"


def read_costs(folder: Path | str) -> dict[str, dict[str, float]]:
    """The costs that a run folder holds; none when it holds none."""
    path = Path(folder) / NAME
    found: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def keep_costs(folder: Path | str, costs: Costs) -> None:
    """Puts them into the run folder."""
    (Path(folder) / NAME).write_text(json.dumps(costs, indent=1) + "\n")


def continue_costs(folder: Path | str, costs: Costs) -> dict[str, dict[str, float]]:
    """Kept: the counts of this call, which has all texts, and the seconds of earlier ones too."""
    found = read_costs(folder)
    for name, cost in costs.items():
        seconds = found.get(name, {}).get("seconds", 0.0) + cost["seconds"]
        found[name] = {**cost, "seconds": seconds}
    keep_costs(folder, found)
    return found


def add_costs(folders: Iterable[Path | str]) -> dict[str, dict[str, float]]:
    """What several runs took together."""
    total: dict[str, dict[str, float]] = {}
    for folder in folders:
        for name, cost in read_costs(folder).items():
            sums = total.setdefault(name, {})
            for figure, value in cost.items():
                sums[figure] = sums.get(figure, 0.0) + value
    return total
