"""Intake: the jobs of a run on their way in, a look at the first, their spaces prepared together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from unfooled.errors import VictimError
from unfooled.task import Job
from unfooled.victims.base import Prepared, Victim, repeats_itself

T = TypeVar("T")

_TOGETHER = 32


def seen_random(jobs: Sequence[Job[Any]], victim: Victim, *, proves: bool) -> str | None:
    """What is wrong with a victim that scores these texts differently when asked twice; None: nothing.

    It is an error where something is to be proved.
    """
    sources = [job.space.original.source for job in jobs]
    if not sources or repeats_itself(victim, sources):
        return None
    seen = f"{victim.name} gives different scores for the same text"
    if proves:
        raise VictimError(
            f"{seen}, so a proof about it would mean nothing: seed it, or use unfooled attack"
        )
    return seen


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
