"""Runs our compatible searches, and says on which texts the peer ends elsewhere or counts otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.peers.compatible import SEARCHES, Board, Ended
from benchmarks.peers.exchange import Case
from benchmarks.peers.process import Found
from unfooled.engine import Engine
from unfooled.program import Program
from unfooled.task import Job
from unfooled.victims.base import Victim

OTHER_WORDS = "other words"
"""The status of a text that TextAttack cuts into other words than we do; its text is these words."""


@dataclass(frozen=True)
class Difference:
    """A text on which the two sides do not agree, or which they do not cut alike."""

    case: Case
    ours: Found
    theirs: Found


@dataclass(frozen=True)
class Tally:
    """How the two sides compare on one search."""

    search: str
    texts: int
    left_out: tuple[Difference, ...]  # other words
    skipped: int  # misclassified from the start, for both
    fooled: int  # by both, with the same text
    failed: int  # for both, with the same last text
    queries: int  # of ours, over the texts that are not left out
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> int:
        """The texts that were attacked and ended alike: same status, same text, same queries."""
        return self.fooled + self.failed


def found_by_us(search: str, victim: Victim, cases: Sequence[Case]) -> list[Found]:
    """Where our compatible search comes to on each case."""
    boards = {str(i): Board.of(case) for i, case in enumerate(cases)}
    jobs = (Job(key, board.space, _program(search, board)) for key, board in boards.items())
    found: dict[str, Found] = {}
    for result in Engine(victim).run(jobs):
        if result.error is not None or result.value is None:
            raise SystemExit(f"{search} failed on our side: {result.error}\n{result.traceback}")
        ended, board = result.value, boards[result.job.key]
        text = str(board.space.text(ended.row))
        found[result.job.key] = Found(ended.status, text, result.queries)
    return [found[str(i)] for i in range(len(cases))]


def _program(search: str, board: Board) -> Program[Ended]:
    written: Callable[[Board], Program[Ended]] = SEARCHES[search]
    return written(board)


def tally(
    search: str, cases: Sequence[Case], *, ours: Sequence[Found], theirs: Sequence[Found]
) -> Tally:
    """Counts agreements, and keeps every difference."""
    counts: Counter[str] = Counter()
    left_out, differences = [], []
    queries = 0
    for case, one, other in zip(cases, ours, theirs, strict=True):
        if other.status == OTHER_WORDS:
            left_out.append(Difference(case, one, other))
            continue
        queries += one.queries
        if one == other:
            counts[one.status] += 1
        else:
            differences.append(Difference(case, one, other))
    return Tally(
        search,
        len(cases),
        tuple(left_out),
        counts["skipped"],
        counts["success"],
        counts["failure"],
        queries,
        tuple(differences),
    )
