"""The peer as a process that is asked and answers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.peers.exchange import UNKNOWN_WORD, Case
from benchmarks.peers.install import interpreter, surroundings


@dataclass(frozen=True)
class Found:
    """Where a search came to on one text, and the queries it counted."""

    status: str
    text: str
    queries: int


@dataclass(frozen=True)
class Answer:
    """What the peer found on some texts, and what that cost."""

    found: tuple[Found, ...]
    seconds: float
    forwards: int


class Peer:
    """TextAttack in its own environment, one request at a time; ends with the `with` block."""

    def __enter__(self) -> Self:
        script = Path(__file__).with_name("textattack_side.py")
        self._process = subprocess.Popen(
            [interpreter(), "-P", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=surroundings(),
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        if kind is not None:
            self._process.terminate()
        self._process.wait()

    def load(self, folder: Path, *, kind: str, digits: int | None = None) -> dict[str, str]:
        """Loads the victim there; returns the versions of numpy and torch."""
        where = str(folder.resolve())
        versions: dict[str, str] = self._ask(do="load", folder=where, kind=kind, digits=digits)
        return versions

    def attack(
        self,
        search: str,
        cases: Sequence[Case],
        *,
        budget: int | None = None,
        unknown: str = UNKNOWN_WORD,
    ) -> Answer:
        """What TextAttack's search finds on the cases, with at most `budget` queries for each."""
        sent = [case.message() for case in cases]
        answer = self._ask(do="attack", search=search, unknown=unknown, cases=sent, budget=budget)
        found = tuple(Found(**one) for one in answer["found"])
        return Answer(found, answer["seconds"], answer["forwards"])

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(
                f"the process of the peer ended at {request['do']!r}; its errors are above"
            )
        return json.loads(line)
