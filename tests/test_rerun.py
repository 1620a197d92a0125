"""Rerun: findings that end together are verified together, and each text counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from unfooled.errors import VictimError
from unfooled.rerun import Finish, Together, alone, finished, settled
from unfooled.text import Source, Text
from unfooled.victims.base import Floats, StringVictim


class Lengths(StringVictim):
    """Scores a text by its letters; notes how often it was asked, and fails on `bad`."""

    name, labels, fingerprint = "lengths", ("no", "yes"), None

    def __init__(self, bad: str | None = None) -> None:
        self.bad, self.asked = bad, [0]

    def scores(self, sources: Sequence[Source]) -> Floats:
        raise AssertionError("a victim that can run texts alone is asked for that")

    def alone(self, sources: Sequence[Source]) -> Floats:
        self.asked.append(len(sources))
        if self.bad in sources:
            raise RuntimeError("no such text")
        return np.array([[0.0, np.nan if s == "odd" else len(s)] for s in sources])


def longest(*words: str) -> Finish[str]:
    """Asks for all words, then for the longest of them again."""
    found = yield [Text.parse(word) for word in words]
    best = words[int(np.argmax([scores[0, 1] for scores in found]))]
    (again,) = yield [Text.parse(best)]
    return f"{best} {again[0, 1]:g}"


def told(word: str) -> Finish[str]:
    """The error that a text meets, as a value."""
    try:
        yield [Text.parse(word)]
    except VictimError as error:
        return str(error)
    return "well"


def test_what_ends_together_asks_together() -> None:
    victim = Lengths()
    values = finished(
        [longest("a", "abc"), settled("nothing"), longest("ab", "a", "abcde")], victim
    )
    assert values == ["abc 3", "nothing", "abcde 5"]
    assert victim.asked == [0, 5, 2]
    assert finished([], victim) == []


@pytest.mark.parametrize("bad", ["bad", "odd"])
def test_a_text_that_fails_is_the_business_of_its_own_finding(bad: str) -> None:
    victim = Lengths("bad")
    values = finished([longest("a", "abc"), told(bad), told("good")], victim)
    assert values[0] == "abc 3"
    assert values[2] == "well"
    assert values[1].startswith(f"lengths failed on '{bad}' when run alone: ")
    with pytest.raises(VictimError, match=f"lengths failed on '{bad}'"):
        alone(victim, Text.parse(bad))


def test_the_scores_of_one_text() -> None:
    assert alone(Lengths(), Text.parse("four")).tolist() == [[0.0, 4.0]]


def test_a_victim_without_a_way_of_its_own_is_asked_text_by_text() -> None:
    class Plain(Lengths):
        def scores(self, sources: Sequence[Source]) -> Floats:
            self.asked.append(len(sources))
            return np.array([[0.0, len(s)] for s in sources])

        alone = StringVictim.alone

    victim = Plain()
    assert finished([longest("a", "abc")], victim) == ["abc 3"]
    assert victim.asked == [0, 1, 1, 1]


class Odd(StringVictim):
    """Answers in a shape of its own."""

    name, labels, fingerprint = "odd", ("no", "yes"), None

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer

    def scores(self, sources: Sequence[Source]) -> Any:
        return self.answer[str(sources[0])]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, r"given 1 texts and returned an array of shape \(\) and type object"),
        ([0.0, 1.0], r"given 1 texts and returned an array of shape \(2,\)"),
        ([[0.0, 1.0], [2.0, 3.0]], r"given 1 texts and returned an array of shape \(2, 2\)"),
        ([["a", "b"]], "type <U1; expected numbers"),
    ],
)
def test_scores_of_another_shape_are_told_as_they_came(answer: Any, said: str) -> None:
    victim = Odd({"a": answer, "b": np.empty((0, 2)), "c": [[0, 1]]})
    with pytest.raises(VictimError, match=f"odd failed on 'a' when run alone: .*{said}"):
        alone(victim, Text.parse("a"))
    assert finished([told("a"), told("b"), told("c")], victim)[2] == "well"
    assert all("odd failed" in each for each in finished([told("a"), told("b")], victim))


class Batches(StringVictim):
    """A text scores what it does alone, and in a batch a little more or less; notes how it was asked."""

    name, labels, fingerprint = "batches", ("no", "yes"), None

    def __init__(self, dtype: str | None) -> None:
        self.dtype, self.asked = dtype, []

    def scores(self, sources: Sequence[Source]) -> Floats:
        self.asked.append(len(sources))
        return np.array([[0.0, float(str(s)) + 1e-5 * (len(sources) > 1)] for s in sources])


@pytest.mark.parametrize(
    ("dtype", "asked"), [("float32", [256, 44]), (None, [1] * 300), ("bfloat16", [1] * 300)]
)
def test_many_texts_share_batches_where_that_changes_last_digits_alone(
    dtype: str | None, asked: list[int]
) -> None:
    def finish() -> Finish[int]:
        found = yield Together([Text.parse("7")] * 300)
        return len(found)

    victim = Batches(dtype)
    assert finished([finish(), settled(5)], victim) == [300, 5]
    assert victim.asked == asked
