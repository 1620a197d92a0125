"""Which certifiers suit a victim, the cheapest first: what an audit tries unless it is told."""

from __future__ import annotations

from unfooled.victims.base import Victim


def suited(victim: Victim) -> tuple[str, ...]:
    """The names of the certifiers in the order in which an audit asks them.

    Each is asked only about the texts that the ones before have left open.
    """
    return ("exhaustive",)
