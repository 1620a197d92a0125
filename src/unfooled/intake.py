"""Intake: the jobs of a run on their way in, a look at the first, their spaces prepared together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    """Every job with what the victim made of its space; so many, or fewer, are prepared together.

    A victim that works by itself starts on the next before these have had their turn. Where a space
    cannot be prepared those beside it come with None: each task prepares its own then, and the guilty
    one is named.
    """
    groups = iter(lambda: list(islice(jobs, min(_TOGETHER, most))), [])
    begun = ((some, _begun(some, victim)) for some in groups)
    turn = next(begun, None)
    while turn is not None:
        after = next(begun, None) if victim.depth else None
        some, wait = turn
        yield from zip(some, wait(), strict=True)
        turn = after or next(begun, None)


def _begun(jobs: Sequence[Job[Any]], victim: Victim) -> Callable[[], Sequence[Prepared | None]]:
    """Starts on the spaces of some jobs; the handle gives None for each where one cannot be prepared."""
    nothing = [None] * len(jobs)
    try:
        wait = victim.prepare_all([job.space for job in jobs])
    except Exception:
        return lambda: nothing

    def settled() -> Sequence[Prepared | None]:
        try:
            return wait()
        except Exception:
            return nothing

    return settled
