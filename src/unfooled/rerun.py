"""Rerun: texts that are run alone through the victim's public entry, those of many findings together.

Whatever is to be recorded is verified by a `Finish`: a generator that yields texts and receives their
scores. What ends at the same time asks at the same time, so a victim that can run several texts as if
each were alone is asked once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

import numpy as np

from unfooled.errors import VictimError
from unfooled.text import Text
from unfooled.victims.base import Floats, Victim, checked

R = TypeVar("R")

Finish = Generator[Sequence[Text], list[Floats], R]
"""Yields texts, receives (1, classes) scores of each; a text that fails is thrown as VictimError."""

_BATCH = 256  # texts that share one
_PRECISE = ("float32", "float64")


class Together(list[Text]):
    """Texts that may share batches: many, of someone who allows for the last digits that this changes."""


def settled(value: R) -> Finish[R]:
    """What needs no text to be run."""
    yield from ()
    return value


def finished(finishes: Sequence[Finish[R]], victim: Victim) -> list[R]:
    """The values of all generators, their questions answered together."""
    values: dict[int, R] = {}
    asked: dict[int, Sequence[Text]] = {}

    def go_on(number: int, found: list[Floats] | VictimError | None) -> None:
        finish = finishes[number]
        try:
            if isinstance(found, VictimError):
                asked[number] = finish.throw(found)
            else:
                asked[number] = next(finish) if found is None else finish.send(found)
        except StopIteration as stop:
            values[number] = stop.value

    for number in range(len(finishes)):
        go_on(number, None)
    while asked:
        waiting, asked = asked, {}
        own = [
            text for texts in waiting.values() if not isinstance(texts, Together) for text in texts
        ]
        answers = iter(_tried(own, victim))
        for number, texts in waiting.items():
            shared = isinstance(texts, Together)
            found = together(victim, texts) if shared else [next(answers) for _ in texts]
            failed = next((each for each in found if isinstance(each, VictimError)), None)
            go_on(number, failed or [each for each in found if not isinstance(each, VictimError)])
    return [values[number] for number in range(len(finishes))]


def alone(victim: Victim, text: Text) -> Floats:
    """(1, classes): the scores of one text, asked for by itself; an error names the text."""
    (found,) = _tried([text], victim)
    if isinstance(found, VictimError):
        raise found
    return found


def together(victim: Victim, texts: Sequence[Text]) -> list[Floats | VictimError]:
    """The scores of each text, or what went wrong with it; they share batches.

    Not where a batch could change more than last digits: there each is run alone.
    """
    found: list[Floats | VictimError] = []
    score = victim.scores if victim.dtype in _PRECISE else victim.alone
    for begin in range(0, len(texts), _BATCH):
        found += _tried(texts[begin : begin + _BATCH], victim, score=score)
    return found


def _tried(
    texts: Sequence[Text], victim: Victim, *, score: Callable[[Any], Floats] | None = None
) -> list[Floats | VictimError]:
    """The scores of each text, run alone unless said otherwise, or what went wrong with it."""
    if not texts:
        return []
    try:
        raw = (score or victim.alone)([text.source for text in texts])
        scores = checked(raw, n=len(texts), classes=len(victim.labels), name=victim.name)
    except Exception as error:
        if len(texts) > 1:  # one of them is guilty
            return [_tried([text], victim)[0] for text in texts]
        return [_failed(victim, texts[0], f"{type(error).__name__}: {error}")]
    return [
        row[None]
        if np.isfinite(row).all()
        else _failed(victim, text, f"it returned {row.tolist()}")
        for text, row in zip(texts, scores, strict=True)
    ]


def _failed(victim: Victim, text: Text, why: str) -> VictimError:
    return VictimError(f"{victim.name} failed on {str(text)!r} when run alone: {why}")
