"""Intake: the jobs of a run on their way in, their spaces prepared several at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from unfooled.task import Job
from unfooled.victims.base import Prepared, Victim

T = TypeVar("T")

_TOGETHER = 32


def prepared(
    jobs: Iterator[Job[T]], victim: Victim, *, most: int
) -> Iterator[tuple[Job[T], Prepared | None]]:
    """Every job with what the victim made of its space, at most so many ahead of their turn.

    Where a space cannot be prepared those beside it come with None: each task prepares its own then, and
    the guilty one is named.
    """
    while some := list(islice(jobs, min(_TOGETHER, most))):
        ready: Sequence[Prepared | None]
        try:
            ready = victim.prepare_all([job.space for job in some])
        except Exception:
            ready = [None] * len(some)
        yield from zip(some, ready, strict=True)
