"""Arity: whether a victim reads the texts of the data at all, where that is known before any is run."""

from __future__ import annotations

from collections.abc import Iterable

from unfooled.errors import InputError
from unfooled.text import Example
from unfooled.victims.base import Victim


def check_arity(victim: Victim, examples: Iterable[Example]) -> None:
    """Refuses pairs for a victim of single texts, and single texts for one of pairs.

    Else every text would fail by itself, and a run of nothing but errors looks like one that ended well.
    """
    other = next((e for e in examples if victim.pair not in (None, e.text.is_pair)), None)
    if other is None:
        return
    where = f"({other.id}: {str(other.text)!r:.60})"
    if victim.pair:
        raise InputError(
            f"{victim.name} reads pairs of a premise and a hypothesis, and the data has single texts "
            f"{where}: name both columns (--text-column premise,hypothesis), or take a model of single texts"
        )
    raise InputError(
        f"{victim.name} reads single texts, and the data has pairs {where}: name one of the columns "
        "(--text-column hypothesis), or take a model of pairs"
    )
