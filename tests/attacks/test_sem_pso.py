"""SemPSO: the authors' constants, turns towards elites, elites that only rise, mutations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from population_toys import drive, fits, ledger_of, rows
from unfooled.attacks.sem_pso import (
    METHOD,
    SemPSO,
    Swarm,
    faster,
    move,
    position_weights,
    schedule,
    start,
    turned,
)
from unfooled.errors import InputError
from unfooled.space import Space
from victim_doubles import linear


def test_the_file_is_the_attack() -> None:
    assert METHOD is SemPSO
    assert (SemPSO().population, SemPSO().steps) == (60, 20)


def test_the_constants_of_the_authors() -> None:
    """Inertia 0.8 to 0.2, own elite 0.8 to 0.2, the swarm's 0.2 to 0.8, in twenty linear steps."""
    for step in range(20):
        inertia, own, shared = schedule(step / 20)
        assert inertia == pytest.approx((0.8 - 0.2) * (20 - step) / 20 + 0.2)
        assert own == pytest.approx(0.8 - step / 20 * 0.6)
        assert shared == pytest.approx(0.2 + step / 20 * 0.6)


def test_velocities_by_hand() -> None:
    """Equal to both elites: -6; to one: 0; to none: +6; each weighs 1 - inertia."""
    swarm = Swarm(
        rows((0, 0, 1, 2), (0, 2, 0, 0)),
        np.array([[1.0, 1.0, 1.0, 1.0], [-2.0, 0.0, 0.0, 0.0]]),
        rows((0, 0, 0, 0), (0, 1, 0, 0)),
        np.array([0.0, 1.0]),
    )
    assert swarm.elite.tolist() == [0, 1, 0, 0]
    found = faster(swarm, inertia=0.8)
    assert found[0].tolist() == pytest.approx([0.8 - 1.2, 0.8, 0.8 + 1.2, 0.8 + 1.2])
    assert found[1].tolist() == pytest.approx([-1.6 - 1.2, 1.2, -1.2, -1.2])


def test_turn_probability_one_gives_the_elite_and_zero_the_particle() -> None:
    rng = np.random.default_rng(0)
    particles, elites = rows((1, 0, 2), (0, 3, 1)), rows((0, 2, 2), (1, 1, 1))
    ones, zeros = np.ones((2, 3)), np.zeros((2, 3))
    assert turned(particles, elites, chances=ones, rng=rng).tolist() == elites.tolist()
    assert turned(particles, elites, chances=zeros, rng=rng).tolist() == particles.tolist()
    mixed = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert turned(particles, elites, chances=mixed, rng=rng).tolist() == [[0, 0, 2], [0, 1, 1]]
    one = turned(particles, elites[:1], chances=ones, rng=rng)  # the elite of the swarm, for all
    assert one.tolist() == [[0, 2, 2], [0, 2, 2]]


def test_every_word_turns_with_its_own_probability() -> None:
    particles = np.zeros((20_000, 2), dtype=np.int16)
    chances = np.tile(expit([-1.0, 2.0]), (20_000, 1))
    moved = turned(particles, rows((1, 1)), chances=chances, rng=np.random.default_rng(0))
    for word, p in enumerate(expit([-1.0, 2.0])):
        turns = int(moved[:, word].sum())
        assert fits([turns, 20_000 - turns], [p, 1 - p])


def test_positions_weigh_their_candidates_up_to_ten() -> None:
    space = Space(
        "a b c",
        {0: ["x"], 1: [f"y{i}" for i in range(10)], 2: [f"z{i}" for i in range(30)]},
    )
    found = position_weights(space, rows((0, 0, 0), (0, 4, 0), (1, 1, 1)))
    # Once every position is swapped, any of them.
    assert found.tolist() == [[1, 10, 10], [1, 0, 10], [1, 10, 10]]


def test_the_swarm_starts_with_one_swap_each() -> None:
    space = Space("a b", {0: ("x", "u"), 1: ("y",)})
    score = linear({"x": -1.0, "u": -2.0, "y": -1.0}, bias=9.0)
    work = start(ledger_of(space), 3000, rng=np.random.default_rng(0))
    asked, swarm = drive(work, space, score)
    assert len(asked) == 1
    swapped = swarm.particles.tolist()
    assert {tuple(row) for row in swapped} == {(2, 0), (0, 1)}  # the best candidate of each
    assert fits([swapped.count([2, 0]), swapped.count([0, 1])], [2, 1])
    assert (swarm.velocities == swarm.velocities[:, :1]).all()  # one for all words of a particle
    speeds = swarm.velocities[:, 0]
    assert fits(np.histogram(speeds, bins=6, range=(-3, 3))[0].tolist(), np.ones(6))
    assert swarm.elites.tolist() == swapped


@given(st.integers(0, 10**6), st.none() | st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_elites_improve_monotonically(seed: int, limit: int | None) -> None:
    """On scores without any order: every elite is the best of what its particle has been."""
    rng = np.random.default_rng(seed)
    space = Space("a b c d e f", {i: [f"c{i}v{k}" for k in range(3)] for i in range(6)})
    table: dict[Any, float] = {}

    def score(words: Any) -> tuple[float, float]:
        return 0.0, table.setdefault(tuple(words), float(rng.uniform(1, 9)))

    def odds(found: Any) -> list[float]:
        return [-table[tuple(space.text(row).words)] for row in found]

    ledger = ledger_of(space, max_swaps=limit)
    _, swarm = drive(start(ledger, 6, rng=rng), space, score)
    best = odds(swarm.particles)
    for step in range(8):
        before = swarm
        asked, swarm = drive(move(ledger, before, passed=step / 8, rng=rng), space, score)
        assert len(asked) <= 2  # all particles after the turn, all candidates of all mutations
        best = [max(pair) for pair in zip(best, odds(swarm.particles), strict=True)]
        assert swarm.log_odds.tolist() == pytest.approx(best, abs=1e-3)
        assert odds(swarm.elites) == pytest.approx(swarm.log_odds.tolist())
        assert (swarm.log_odds >= before.log_odds).all()
        assert space.contains(swarm.particles, limit).all()
        assert odds([swarm.elite]) == pytest.approx([max(best)], abs=1e-3)


@pytest.mark.parametrize(("words", "chance"), [(8, 0.5), (4, 0.0), (3, 0.0), (40, 0.9)])
def test_mutation_is_rarer_the_more_words_are_swapped(words: int, chance: float) -> None:
    """Two swaps, elites equal to the particles: what changes is a mutation, with 1 - 2 x 2 / words."""
    text = " ".join(["a", "b", "c", *("o" for _ in range(words - 3))])
    space = Space(text, {0: ("x",), 1: ("y",), 2: ("z",)})
    n = 3000
    same = np.tile(rows((1, 1, 0)), (n, 1))
    swarm = Swarm(same, np.full((n, 3), -3.0), same, np.full(n, -9.0))
    work = move(ledger_of(space), swarm, passed=0.0, rng=np.random.default_rng(0))
    _, after = drive(work, space, linear({"z": -1.0}, bias=9.0))
    mutated = int((after.particles[:, 2] == 1).sum())
    if chance == 0.0:
        assert mutated == 0
    else:
        assert fits([mutated, n - mutated], [chance, 1 - chance])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"population": 0}, "population is 1 or more"), ({"steps": -1}, "steps is 0 or more")],
)
def test_options_that_make_no_sense(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SemPSO(**options)
