"""Runner: attacks that add candidates of their own, and attacks that refuse what the goal allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from runner_toys import attack
from unfooled.program import Attack, Goal, Program, Scores
from unfooled.space import Space

DATA = [("a good film", "pos"), ("a fine good film", "pos")]


@dataclass(frozen=True)
class Adds(Attack):
    """Adds a word to the first column and proposes it."""

    word: str = "bad"

    @property
    def opens(self) -> bool:
        return True

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Any]:
        (choice,) = space.extend(0, [self.word])
        row = space.origin
        row[0] = choice
        scores = yield Scores(row[None])
        return row if goal.met(scores, row[None])[0] else None


@dataclass(frozen=True)
class Refuses(Attack):
    """Looks at every single swap and then returns nothing."""

    refuses: bool = True

    @property
    def strict(self) -> bool:
        return self.refuses

    def search(self, space: Space, goal: Goal, rng: np.random.Generator) -> Program[Any]:
        yield Scores(space.neighbours(space.origin))
        return None


def test_a_candidate_that_an_attack_added_is_verified_as_part_of_the_space() -> None:
    first, second = attack(Adds(), data=DATA)
    assert first.status == "success"
    assert str(first.text) == "a bad film"
    assert first.changes == ((1, "good", "bad"),)
    assert second.status == "failed"  # bad and good are a tie


def test_what_was_added_stays_in_the_copy() -> None:
    """The given space is as it was, and another text has a copy of its own."""
    spaces = [Space("a good film", {1: ("nice",)}), Space("a fine good film", {1: ("ok",)})]
    outcomes = attack(Adds("ok"), data=DATA, candidates=spaces)
    assert [o.status for o in outcomes] == ["success", "failed"]
    assert [s.candidates for s in spaces] == [(("nice",),), (("ok",),)]
    assert all(s.version is None for s in spaces)


@pytest.mark.parametrize("budget", [None, 50])
@pytest.mark.parametrize("refuses", [True, False])
def test_a_row_that_a_strict_attack_refused_is_no_success(
    budget: int | None, refuses: bool
) -> None:
    """With a budget the engine keeps the best row it saw: good -> ok fools, but was not returned."""
    (outcome,) = attack(Refuses(refuses), data=DATA[:1], max_queries=budget)
    kept = budget is not None and not refuses
    assert outcome.status == ("success" if kept else "failed")


@pytest.mark.parametrize("refuses", [True, False])
def test_nor_when_the_budget_ends_on_the_way(refuses: bool) -> None:
    (outcome,) = attack(Refuses(refuses), data=DATA[:1], max_queries=3)
    assert outcome.status == ("exhausted" if refuses else "success")
    assert outcome.queries == 3
