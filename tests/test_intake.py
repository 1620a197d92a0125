"""Intake: every job once and in order, its space prepared with others or, beside a bad one, alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from unfooled.errors import VictimError
from unfooled.intake import prepared, seen_random
from unfooled.space import Space
from unfooled.task import Job
from unfooled.victims.base import Prepared
from victim_doubles import Double, asking, coin, constant, job, scores_of, solve


class Together(Double):
    """Prepares spaces together, and none where one of them has the word `bad`."""

    def __init__(self) -> None:
        super().__init__(constant())
        self.together: list[int] = []

    def prepare(self, space: Space) -> Prepared:
        if "bad" in space.original.words:
            raise RuntimeError("no such word")
        return super().prepare(space)

    def prepare_all(self, spaces: Sequence[Space]) -> Callable[[], Sequence[Prepared]]:
        self.together.append(len(spaces))
        return super().prepare_all(spaces)


def jobs(*bad: int, many: int) -> list[Job[Any]]:
    spaces = [Space(f"{'bad' if n in bad else 'good'} {n}", {0: ("fine",)}) for n in range(many)]
    return [job(space, asking(scores_of((0,), (1,)))) for space in spaces]


@pytest.mark.parametrize("most", [1, 3, 32, 100])
def test_jobs_keep_their_order_and_their_spaces(most: int) -> None:
    given, taken = jobs(many=70), 0
    victim = Together()

    def counted() -> Iterator[Job[Any]]:
        nonlocal taken
        for each in given:
            taken += 1
            yield each

    found = []
    for each, ready in prepared(counted(), victim, most=most):
        assert ready is not None
        assert ready.space is each.space
        found.append(each)
        assert taken - len(found) < min(most, 32)  # ahead of their turn
    assert found == given
    assert max(victim.together) == min(most, 32)


def test_beside_a_space_that_cannot_be_prepared_each_prepares_its_own() -> None:
    found = list(prepared(iter(jobs(5, many=70)), Together(), most=10))
    assert [ready is None for _, ready in found] == [n < 10 for n in range(70)]
    results = solve(Together(), jobs(5, many=70))
    assert len(results) == 70
    assert {key: r.error for key, r in results.items() if r.error} == {
        "bad 5": "double failed on 'bad 5': RuntimeError: no such word"
    }


def test_a_look_at_the_first_tells_who_is_random() -> None:
    assert seen_random([], Double(coin()), proves=True) is None
    assert seen_random(jobs(many=2), Double(constant()), proves=True) is None
    said = "double gives different scores for the same text"
    assert seen_random(jobs(many=2), Double(coin()), proves=False) == said
    with pytest.raises(VictimError, match=f"{said}, so a proof about it would mean nothing"):
        seen_random(jobs(many=2), Double(coin()), proves=True)
