"""Which choice of candidates gives a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from unfooled.text import Source, Text

Candidates = Mapping[int, tuple[str, ...]]


def find_row(original: Text, candidates: Candidates, text: Text | Source) -> list[int] | None:
    """The choices, one per position with candidates, that turn `original` into `text`.

    The fewest swaps when several do, None when none does.
    """
    if isinstance(text, Text) and len(text) == len(original):
        row = _by_words(original, candidates, text)
        if row is not None:
            return row
    wanted, mine = Text.parse(text).source, original.source
    if isinstance(wanted, str) and isinstance(mine, str):
        return _by_string(original, candidates, wanted)
    if isinstance(wanted, str) or isinstance(mine, str):
        return None
    if original.editable == "both":
        return _by_sides(original, candidates, wanted)
    side = 1 if original.editable == "second" else 0
    same = wanted[1 - side] == mine[1 - side]
    return _by_string(original, candidates, wanted[side]) if same else None


def _by_words(original: Text, candidates: Candidates, text: Text) -> list[int] | None:
    if replace(text, words=original.words) != original:  # gaps, or what belongs to which side
        return None
    row = []
    for position, (mine, wanted) in enumerate(zip(original.words, text.words, strict=True)):
        options = (mine, *candidates.get(position, ()))
        if wanted not in options:
            return None
        if position in candidates:
            row.append(options.index(wanted))
    return row


def _by_sides(original: Text, candidates: Candidates, wanted: tuple[str, str]) -> list[int] | None:
    first, second = original.sides
    later = {p - original.split: found for p, found in candidates.items() if p >= original.split}
    row, more = _by_string(first, candidates, wanted[0]), _by_string(second, later, wanted[1])
    return None if row is None or more is None else row + more


def _by_string(original: Text, candidates: Candidates, wanted: str) -> list[int] | None:
    """Dynamic programming over (word, offset), because a candidate may contain spaces."""
    reached: dict[int, tuple[int, list[int]]] = {0: (0, [])}  # offset -> (swaps, choices)
    for position, word in enumerate(original.words):
        gap, onward = original.gaps[position], dict[int, tuple[int, list[int]]]()
        for offset, (swaps, row) in reached.items():
            for choice, option in enumerate((word, *candidates.get(position, ()))):
                if not wanted.startswith(gap + option, offset):
                    continue
                end, cost = offset + len(gap) + len(option), swaps + (choice > 0)
                if end not in onward or cost < onward[end][0]:
                    onward[end] = cost, ([*row, choice] if position in candidates else row)
        reached = onward
    ends = [found for o, found in reached.items() if wanted[o:] == original.gaps[-1]]
    return min(ends)[1] if ends else None
