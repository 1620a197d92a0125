"""Populations: exact chances of parents and positions, crossovers, limits, the fittest kept."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from population_toys import drive, fits, ledger_of, rows
from unfooled.attacks.genetic import Genetic
from unfooled.errors import InputError
from unfooled.importance import most_swaps
from unfooled.populations import (
    NOWHERE,
    at_least,
    at_one_point,
    best_choices,
    best_found,
    draw_columns,
    draw_parents,
    evenly,
    fitter,
    mutated,
    next_generation,
    sigmoid,
    trimmed,
)
from unfooled.program import Goal, Program, Spent
from unfooled.space import Space
from victim_doubles import linear

SPACE = Space("a b c", {0: ("x", "u"), 1: ("y",), 2: ("z", "v", "t")})
WEIGHTS = {"x": -1.0, "u": -2.0, "y": 1.0, "z": -0.5, "v": -0.25}


def logit(p: Any) -> Any:
    return np.log(p) - np.log1p(-np.asarray(p))


def anywhere(found: Any) -> Any:
    return np.ones(found.shape, dtype=np.int64)


# --- drawing ------------------------------------------------------------------------------------


def test_the_chances_of_the_paper() -> None:
    """Half of the population at 0.9, half at 0.1: 93.5 % of the parents are of the fitter half."""
    chances = fitter(logit(np.array([0.9, 0.1] * 30)), temperature=0.3)
    assert chances.sum() == pytest.approx(1)
    assert chances[::2].sum() == pytest.approx(1 / (1 + np.exp(-0.8 / 0.3)))
    assert chances[::2].sum() == pytest.approx(0.935, abs=5e-4)


def test_fitter_parents_are_drawn_more_often() -> None:
    scores = np.array([0.05, 0.9, 0.5, 0.3])
    chances = fitter(logit(scores), temperature=0.3)
    drawn = draw_parents(chances, 20_000, rng=np.random.default_rng(0))
    seen = np.bincount(drawn, minlength=4)
    assert fits(seen, np.exp(scores / 0.3))
    assert seen[1] > seen[2] > seen[3] > seen[0]


def test_who_has_no_chance_is_never_drawn() -> None:
    drawn = draw_parents(np.array([0.0, 0.25, 0.75]), 20_000, rng=np.random.default_rng(0))
    seen = np.bincount(drawn, minlength=3)
    assert seen[0] == 0
    assert fits(seen[1:], [1, 3])


def test_the_last_digits_of_scores_hardly_draw_anybody_else() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=60)
    for seed in range(50):
        noisy = scores + rng.uniform(-1e-7, 1e-7, size=60)
        one, other = (
            draw_parents(
                fitter(logit(s), temperature=0.3), 59, rng=np.random.default_rng(seed)
            ).tolist()
            for s in (scores, noisy)
        )
        assert one == other


def test_the_sigmoid() -> None:
    values = np.array([-800.0, -3.0, 0.0, 0.5, 40.0, 800.0])
    assert sigmoid(values) == pytest.approx(expit(values), rel=1e-12)


def test_chances_survive_scores_that_are_certain() -> None:
    chances = fitter(np.array([-800.0, 800.0, 0.0]), temperature=1e-3)
    assert chances.tolist() == pytest.approx([0.0, 1.0, 0.0])


def test_columns_are_drawn_by_their_weights() -> None:
    weights = np.tile([2, 0, 5, 1], (20_000, 1))
    seen = np.bincount(draw_columns(weights, np.random.default_rng(0)), minlength=4)
    assert seen[1] == 0
    assert fits(seen[[0, 2, 3]], [2, 5, 1])


def test_each_row_has_its_own_weights() -> None:
    weights = np.array([[0, 0, 1], [3, 0, 0], [0, 0, 0], [0, 2, 0]])
    for seed in range(5):
        found = draw_columns(weights, np.random.default_rng(seed))
        assert found.tolist() == [2, 0, NOWHERE, 1]


# --- crossing and limits ------------------------------------------------------------------------


def test_uniform_crossover_takes_each_word_from_either() -> None:
    mask = evenly((20_000, 3), np.random.default_rng(0))
    seen = np.bincount(mask @ np.array([1, 2, 4]), minlength=8)
    assert fits(seen, np.ones(8))


def test_one_point_crossover_has_one_point() -> None:
    mask = at_one_point((20_000, 3), np.random.default_rng(0))
    kinds = [[False] * 3, [True, False, False], [True, True, False]]
    seen = [int((mask == kind).all(axis=1).sum()) for kind in kinds]
    assert sum(seen) == len(mask)
    assert fits(seen, np.ones(3))


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6),
    st.integers(0, 4),
    st.integers(0, 99),
)
def test_trimming_puts_words_back_and_no_more(
    given_rows: list[list[int]], most: int, seed: int
) -> None:
    before = rows(*given_rows)
    after = trimmed(before, most, rng=np.random.default_rng(seed))
    assert after.dtype == np.int16
    counts = np.count_nonzero(before, axis=1)
    assert np.count_nonzero(after, axis=1).tolist() == np.minimum(counts, most).tolist()
    assert ((after == before) | (after == 0)).all()


def test_trimming_is_fair() -> None:
    many = np.tile(rows((1, 0, 2, 3)), (12_000, 1))
    kept = trimmed(many, 2, rng=np.random.default_rng(0)) != 0
    assert fits(kept.sum(axis=0)[[0, 2, 3]], np.ones(3))


def test_each_row_may_have_its_own_limit() -> None:
    many = rows((1, 1, 1), (1, 1, 1), (1, 0, 1))
    kept = trimmed(many, np.array([0, 3, 1]), rng=np.random.default_rng(0))
    assert np.count_nonzero(kept, axis=1).tolist() == [0, 3, 1]


@pytest.mark.parametrize(("limit", "most"), [(None, 3), (0, 0), (2, 2), (3, 3), (9, 3)])
def test_the_limit_of_a_space(limit: int | None, most: int) -> None:
    assert most_swaps(SPACE, Goal(SPACE, 1, max_swaps=limit)) == most


# --- mutating -----------------------------------------------------------------------------------


def test_the_best_choice_of_every_row_in_one_question() -> None:
    ledger = ledger_of(SPACE)
    program = best_choices(
        ledger, rows((0, 0, 0), (0, 0, 0), (0, 0, 2), (1, 1, 0)), np.array([0, 1, 2, NOWHERE])
    )
    asked, found = drive(program, SPACE, linear(WEIGHTS, bias=9.0))
    assert found.tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 0]]  # y would not help
    assert len(asked) == 1
    assert len(asked[0]) == 3 + 1 + 3 + 1  # the original is asked for once


def test_a_swap_can_be_taken_back() -> None:
    program = best_choices(ledger_of(SPACE), rows((0, 1, 0)), np.array([1]))
    assert drive(program, SPACE, linear(WEIGHTS, bias=9.0))[1].tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_row_at_the_limit_gives_up_another_swap(limit: int) -> None:
    before = np.tile(rows([1] * limit + [0] * (3 - limit)), (50, 1))
    for column in range(3):
        ledger = ledger_of(SPACE, max_swaps=limit)
        work = mutated(ledger, before, np.full(50, column), rng=np.random.default_rng(0))
        _, after = drive(work, SPACE, linear({"u": -2.0, "y": -1.0, "t": -1.0}, bias=9.0))
        assert (after[:, column] == SPACE.counts[column]).all()
        assert (np.count_nonzero(after, axis=1) == limit).all()


def test_nothing_mutates_nowhere() -> None:
    before = rows((1, 1, 1), (0, 0, 0))
    work = mutated(
        ledger_of(SPACE, max_swaps=3), before, np.full(2, NOWHERE), rng=np.random.default_rng(0)
    )
    assert drive(work, SPACE, linear({}, bias=9.0))[1].tolist() == before.tolist()


# --- generations --------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.none() | st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_the_fittest_always_survives(seed: int, limit: int | None) -> None:
    rng = np.random.default_rng(seed)
    space = Space("a b c d e", {i: [f"c{i}v{k}" for k in range(3)] for i in range(5)})
    table: dict[Any, float] = {}

    def score(words: Any) -> tuple[float, float]:  # no order in it: swaps say nothing about others
        return 0.0, table.setdefault(tuple(words), float(rng.uniform(1, 9)))

    ledger = ledger_of(space, max_swaps=limit)
    population = space.sample(limit, 8, rng)
    fittest = []
    for _ in range(6):
        values = [score(space.text(row).words)[1] for row in population]
        fittest.append(min(values))
        work = next_generation(
            ledger,
            population,
            chances=partial(fitter, temperature=0.3),
            weights=anywhere,
            rng=rng,
        )
        asked, after = drive(work, space, score)
        assert after.shape == population.shape
        assert after[0].tolist() == population[int(np.argmin(values))].tolist()
        assert space.contains(after, limit).all()
        assert len(asked) <= 2  # the population, and all choices of all children
        population = after
    assert fittest == sorted(fittest, reverse=True)


def test_what_was_found_before_the_budget_ended_is_kept() -> None:
    ledger = ledger_of(SPACE)

    def work() -> Program[None]:
        yield from ledger.ask(rows((1, 0, 0), (0, 1, 0)))

    program = best_found(ledger, work())
    next(program)
    with pytest.raises(StopIteration) as stop:
        program.throw(Spent(rows((1, 0, 0)), np.array([[1.0, 0.0]])))
    assert stop.value.value.tolist() == [1, 0, 0]


def test_options_below_their_least_value() -> None:
    with pytest.raises(InputError, match="population is 99 or more, not 60"):
        at_least(Genetic(), population=99)
    with pytest.raises(InputError, match="temperature"):
        at_least(Genetic(temperature=0.1), temperature=0.2)
    at_least(Genetic(), population=60, generations=20)
