"""The genetic searches by hand: who mutates where, what is asked, whose children are born."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from population_toys import drive, fits, ledger_of, rows
from unfooled.attacks import faster_genetic, genetic, iga
from unfooled.attacks.faster_genetic import FasterGenetic, in_proportion
from unfooled.attacks.genetic import Genetic, _weights
from unfooled.attacks.iga import IGA, Members
from unfooled.errors import InputError
from unfooled.populations import draw_parents, fitter, next_generation
from unfooled.program import Goal
from unfooled.space import Space
from victim_doubles import Double, attacking, linear, solve

SPACE = Space("a b c d", {0: ("p", "q"), 1: ("r",), 2: ("s", "t", "u", "v"), 3: ("x",)})
WEIGHTS = {"p": -1.0, "q": -2.0, "r": -1.0, "s": 1.0, "t": -1.5, "u": 2.0, "v": 3.0, "x": 0.5}


def test_the_files_are_the_attacks() -> None:
    assert [m.METHOD for m in (genetic, faster_genetic, iga)] == [Genetic, FasterGenetic, IGA]
    assert (Genetic().population, Genetic().generations, Genetic().temperature) == (60, 20, 0.3)
    assert (FasterGenetic().population, FasterGenetic().generations) == (60, 40)
    assert (IGA().population, IGA().generations, IGA().replacements) == (60, 20, 5)


def traced(attack: Any, bias: float = 99.0, **limits: Any) -> list[Any]:
    """The rows of every question about a text that is not fooled."""
    program = attack.search(SPACE, Goal(SPACE, 1, **limits), np.random.default_rng(0))
    asked, value = drive(program, SPACE, linear(WEIGHTS, bias))
    assert value is None
    return asked


# --- Alzantot ----------------------------------------------------------------------------------


def test_the_first_population_has_one_swap_each() -> None:
    (asked,) = traced(Genetic(population=2000, generations=0))
    assert np.count_nonzero(asked, axis=1).max() == 1
    assert len(asked) == SPACE.size(1)  # all candidates of every position, the original once


def test_positions_are_drawn_by_their_number_of_candidates() -> None:
    found = _weights(np.array(SPACE.counts), rows((0, 0, 0, 0), (0, 1, 2, 0)))
    assert found.tolist() == [[2, 1, 4, 1], [2, 0, 0, 1]]  # never where a word is swapped already


def test_a_swapped_word_is_never_replaced_again() -> None:
    """At c the best candidate is t, whatever else is swapped: no other is asked for beside a swap."""
    asked = np.concatenate(traced(Genetic(population=30, generations=10)))
    several = asked[np.count_nonzero(asked, axis=1) > 2]
    assert len(several)
    only = rows((2, 1, 2, 1))
    different = ((several != 0) & (several != only)).sum(axis=1)
    assert different.max() <= 1  # the one that is tried; those already there are the best


def test_a_candidate_that_does_not_help_is_not_kept() -> None:
    """x lowers the score of every text, so no member ever has it, though it is tried."""
    ledger, rng = ledger_of(SPACE), np.random.default_rng(0)
    population = np.zeros((30, 4), dtype=np.int16)
    tried = 0
    for _ in range(6):
        work = next_generation(
            ledger,
            population,
            chances=partial(fitter, temperature=0.3),
            weights=partial(_weights, np.array(SPACE.counts)),
            rng=rng,
        )
        asked, population = drive(work, SPACE, linear(WEIGHTS, bias=99.0))
        tried += sum(int((some[:, 3] == 1).sum()) for some in asked)
        assert (population[:, 3] == 0).all()
    assert tried > 1
    assert np.count_nonzero(population, axis=1).max() == 3


def test_the_whole_generation_is_one_question() -> None:
    """The first population, then all candidates of all children; the parents are known already."""
    assert len(traced(Genetic(population=30, generations=6))) <= 1 + 6


# --- Jia ----------------------------------------------------------------------------------------


def test_parents_in_proportion_to_their_scores() -> None:
    odds = np.array([-2.0, 0.0, 1.5])
    chances = in_proportion(odds)
    assert chances.tolist() == pytest.approx(expit(odds) / expit(odds).sum(), rel=1e-4)
    drawn = draw_parents(chances, 20_000, rng=np.random.default_rng(0))
    assert fits(np.bincount(drawn), expit(odds))
    assert in_proportion(np.array([-900.0, -900.0])).tolist() == [0.5, 0.5]


def test_a_swapped_word_may_change_again() -> None:
    """t is best alone but v beside q; only who comes back to c finds v."""

    def score(words: Any) -> tuple[float, float]:
        if "v" in words and "q" in words:
            return 0.0, -1.0
        return 0.0, 5.0 - 2 * ("t" in words) - ("q" in words) - ("v" in words)

    space = Space("a c", {0: ("q",), 1: ("t", "v")})
    (found,) = solve(Double(score), [attacking(FasterGenetic(), space)]).values()
    assert found.value.tolist() == [1, 2]


# --- Wang ---------------------------------------------------------------------------------------


def first(attack: IGA, space: Space, weights: dict[str, float], **limits: Any) -> Members:
    _, members = drive(attack._first(ledger_of(space, **limits)), space, linear(weights, bias=99.0))
    assert isinstance(members, Members)
    return members


def test_every_position_is_replaced_by_its_best_candidate_the_first_included() -> None:
    members = first(IGA(), SPACE, WEIGHTS)
    assert members.rows.tolist() == [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]
    assert members.left.tolist() == [[4, 5, 5, 5], [5, 4, 5, 5], [5, 5, 4, 5], [5, 5, 5, 4]]


def test_of_too_many_positions_the_best_are_kept() -> None:
    members = first(IGA(population=2), SPACE, WEIGHTS)
    assert members.rows.tolist() == [[2, 0, 0, 0], [0, 0, 2, 0]]


def test_the_first_population_is_asked_for_at_once() -> None:
    asked = traced(IGA(generations=0))
    assert [len(rows) for rows in asked] == [sum(SPACE.counts)]


def test_a_child_is_cut_at_one_point_and_counts_its_replacements() -> None:
    attack, ledger = IGA(), ledger_of(SPACE)
    parents = Members(
        rows((2, 1, 0, 0), (0, 0, 1, 1)), np.array([[3, 4, 5, 5], [5, 5, 2, 4]], dtype=np.int64)
    )
    seen = set()
    for seed in range(60):
        work = attack._next(ledger, parents, rng=np.random.default_rng(seed))
        _, after = drive(work, SPACE, linear(WEIGHTS, bias=99.0))
        assert after.rows[0].tolist() == [2, 1, 0, 0]  # the fitter one, as it is
        assert after.left[0].tolist() == [3, 4, 5, 5]
        before = set()
        for one in (0, 1):
            for other in (0, 1):
                for point in range(4):
                    row = [*parents.rows[one][:point], *parents.rows[other][point:]]
                    left = [*parents.left[one][:point], *parents.left[other][point:]]
                    before.add((tuple(map(int, row)), tuple(map(int, left))))
        child, left = after.rows[1], after.left[1]
        matching = [
            (row, was)
            for row, was in before
            if (np.array(row) != child).sum() == (np.array(was) - left).sum() <= 1
            and ((np.array(row) != child) == (np.array(was) - left)).all()
        ]
        assert matching, (child, left)  # a crossing, with one word replaced and counted, or none
        seen.add(tuple(child.tolist()))
    assert len(seen) > 3


def test_no_word_is_replaced_more_often_than_allowed() -> None:
    attack, ledger = IGA(), ledger_of(SPACE)
    spent = Members(rows((0, 0, 1, 0), (0, 1, 0, 0)), np.zeros((2, 4), dtype=np.int64))
    for seed in range(10):
        work = attack._next(ledger, spent, rng=np.random.default_rng(seed))
        _, after = drive(work, SPACE, linear(WEIGHTS, bias=99.0))
        assert (after.left == 0).all()
        assert set(after.rows[1].tolist()) <= {0, 1}  # crossed, never mutated


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Genetic(population=1), "population is 2 or more, not 1"),
        (lambda: Genetic(generations=-1), "generations is 0 or more, not -1"),
        (lambda: Genetic(temperature=0.0), "temperature is above 0, not 0.0"),
        (lambda: FasterGenetic(population=0), "population is 2 or more, not 0"),
        (lambda: IGA(replacements=0), "replacements is 1 or more, not 0"),
        (lambda: IGA(temperature=float("nan")), "temperature is above 0, not nan"),
    ],
)
def test_options_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
