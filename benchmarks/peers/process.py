"""The peer as a process that is asked and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.peers.exchange import UNKNOWN_WORD, Case
from benchmarks.peers.install import interpreter, surroundings
from benchmarks.peers.talk import Talk


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
        self._talk = Talk(interpreter(), script, surroundings()).__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._talk.__exit__(kind, error, trace)

    def load(self, folder: Path, *, kind: str, digits: int | None = None) -> dict[str, str]:
        """Loads the victim there; returns the versions of numpy and torch."""
        where = str(folder.resolve())
        versions: dict[str, str] = self._talk.ask(do="load", folder=where, kind=kind, digits=digits)
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
        answer = self._talk.ask(
            do="attack", search=search, unknown=unknown, cases=sent, budget=budget
        )
        found = tuple(Found(**one) for one in answer["found"])
        return Answer(found, answer["seconds"], answer["forwards"])
