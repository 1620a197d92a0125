"""`python -m benchmarks [NAME]`: runs one benchmark or all; the last line of each is JSON."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    """The files of this folder that are benchmarks."""
    return sorted(p.stem for p in Path(__file__).parent.glob("[a-z]*.py"))


def main() -> None:
    """Prints a table and a JSON line for each benchmark asked for."""
    asked = sys.argv[1:] or names()
    for name in asked:
        if name not in names():
            raise SystemExit(f"no benchmark {name!r}; known: {', '.join(names())}")
        print(f"# {name}")
        print(json.dumps({"benchmark": name, **import_module(f"benchmarks.{name}").measure()}))


if __name__ == "__main__":
    main()
