"""Which certifiers suit a victim, the cheapest first: what an audit tries unless it is told."""

from __future__ import annotations

from typing import Final

from unfooled.victims.base import Layered, Victim

_BY_ARCHITECTURE: Final = {
    "mlp": ("minimum", "branch-and-bound"),  # the second for candidates of several words
    "dan": ("minimum", "branch-and-bound"),
    "cnn": ("linear", "branch-and-bound", "minimum"),  # the last by an integer program
    "cnn-msr": ("linear", "branch-and-bound", "minimum"),
}


def suited(victim: Victim) -> tuple[str, ...]:
    """The names of the certifiers in the order in which an audit asks them.

    Each is asked only about the texts that the ones before have left open. Bounds say nothing about
    normally trained recurrent networks, so these go to branch and bound, which finds that out and
    reads their texts as a prefix tree. A victim that shows no layers can only be asked.
    """
    if not isinstance(victim, Layered):
        return ("exhaustive",)
    if victim.pair:
        return ("branch-and-bound",)
    return _BY_ARCHITECTURE.get(victim.architecture, ("branch-and-bound",))
