"""The same outcomes whatever the batch size, the order, the company, the hash seed or float noise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unfooled.attacks.beam import Beam
from unfooled.attacks.greedy import Greedy
from unfooled.program import Goal, Program, Scores
from unfooled.space import Space
from unfooled.task import Job
from victim_doubles import Blurred, attacking, ends, job, solve

NOISE = 1e-7
VOCABULARY = [f"v{i}" for i in range(40)]
# Weights repeat on purpose: many candidates have exactly the same effect.
WEIGHTS = {word: ((7 * i) % 11 - 5) / 4 for i, word in enumerate(VOCABULARY)}
ATTACKS = [Greedy(), Beam(1), Beam(3)]


def spaces(n: int = 24) -> list[Space]:
    """Texts of several lengths; half of the candidates are unknown to the victim."""
    rng = np.random.default_rng(5)
    found = []
    for number in range(n):
        length = int(rng.integers(1, 9))
        words = [f"id{number}", *rng.choice(VOCABULARY, length).tolist()]
        candidates = {
            p: [*rng.choice(VOCABULARY, 2).tolist(), *(f"oov{k}" for k in range(4))]
            for p in range(1, length + 1)
        }
        found.append(Space(" ".join(words), candidates))
    return found


def label_of(space: Space) -> int:
    """The class that a victim without noise gives to the original."""
    return int(sum(WEIGHTS.get(w, 0.0) for w in space.original.words) + 0.0625 > 0)


def jobs(*, budget: int | None = None, backwards: bool = False) -> list[Job[Any]]:
    made = [
        attacking(
            ATTACKS[i % len(ATTACKS)], space, label=label_of(space), max_queries=budget, max_swaps=2
        )
        for i, space in enumerate(spaces())
    ]
    return made[::-1] if backwards else made


def victim(*, noise: float = NOISE, merge: bool = True) -> Blurred:
    return Blurred(WEIGHTS, noise=noise, merge=merge, bias=0.0625)


@pytest.mark.parametrize("budget", [None, 12, 40])
@pytest.mark.parametrize("merge", [True, False])
def test_outcomes_depend_on_nothing_that_shares_the_batch(budget: int | None, merge: bool) -> None:
    expected = ends(solve(victim(noise=0.0, merge=merge), jobs(budget=budget)))
    for batch, in_flight, backwards in product((1, 7, 128), (1, 3, 64), (False, True)):
        found = solve(
            victim(merge=merge),
            jobs(budget=budget, backwards=backwards),
            batch=batch,
            in_flight=in_flight,
        )
        assert ends(found) == expected, (batch, in_flight, backwards)


def test_the_examples_are_worth_comparing() -> None:
    """Some texts are fooled and some are not, with one swap and with several."""
    found = [r.value for r in solve(victim(), jobs()).values()]
    swaps = {None if row is None else int(np.count_nonzero(row)) for row in found}
    assert {None, 1, 2} <= swaps
    best = [r.best is not None for r in solve(victim(), jobs(budget=12)).values()]
    assert any(best)
    assert not all(best)


def test_merging_candidates_changes_no_outcome() -> None:
    merged, plain = (solve(victim(merge=merge), jobs()) for merge in (True, False))
    assert ends(merged) == ends(plain)
    assert sum(r.forwards for r in merged.values()) < sum(r.forwards for r in plain.values())


def test_forwards_do_not_depend_on_batches_either() -> None:
    counts = [
        {key: r.forwards for key, r in solve(victim(), jobs(), batch=batch).items()}
        for batch in (1, 7, 128)
    ]
    assert counts[0] == counts[1] == counts[2]


def test_a_choice_by_the_last_digit_would_fail_this() -> None:
    """The noise is real: an argmax over equal candidates changes from run to run."""

    def careless(space: Space) -> Program[int]:
        scores = yield Scores(space.neighbours(space.origin), cache=False)
        return int(scores[:, 1].argmin())

    def run() -> list[int]:
        found = solve(victim(merge=False), [job(s, careless(s)) for s in spaces()])
        return [r.value for r in found.values()]

    assert len({tuple(run()) for _ in range(5)}) > 1


def test_the_best_row_of_equal_ones_is_the_first() -> None:
    """Structural ties: every swap has the same effect, and the budget ends before the program."""
    space = Space("v0 v0 v0", dict.fromkeys(range(3), ("one", "two", "three")))
    goal = Goal(space, label=1)

    def all_at_once() -> Program[None]:
        yield Scores(space.neighbours(space.origin))
        yield Scores(space.origin)

    tied = {"v0": 1.0, "one": -3.0, "two": -3.0, "three": -3.0}
    for _ in range(20):
        (result,) = solve(
            Blurred(tied, noise=NOISE, merge=False),
            [job(space, all_at_once(), goal=goal, max_queries=9)],
        ).values()
        assert result.best.tolist() == [1, 0, 0]


@pytest.mark.parametrize("attack", [Greedy(), Beam(2)])
def test_structural_ties_go_to_the_first_candidate(attack: Any) -> None:
    """A victim that counts words of a kind cannot tell positions or candidates apart."""
    space = Space("v0 v0 v0 v0", dict.fromkeys(range(4), ("bad", "poor", "dire")))
    tied = {"v0": 1.0, "bad": -1.5, "poor": -1.5, "dire": -1.5}
    for _ in range(10):
        (result,) = solve(
            Blurred(tied, noise=NOISE, merge=False), [attacking(attack, space)]
        ).values()
        assert result.value.tolist() == [1, 1, 0, 0]


def test_outcomes_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import json, test_determinism as t; "
        "print(json.dumps(t.ends(t.solve(t.victim(), t.jobs(budget=40))), sort_keys=True))"
    )
    here = str(Path(__file__).parent)
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": here},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("0", "1", "31337")
    ]
    expected = json.dumps(ends(solve(victim(), jobs(budget=40))), sort_keys=True)
    assert {line.strip() for line in printed} == {expected}
