"""What the tests of population searches share: random linear victims, drivers, chi-square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from unfooled.program import Attack, Finding, Goal, Program, Scores
from unfooled.space import Space
from unfooled.tightening import Ledger
from victim_doubles import Double, Score, attacking, least_swaps, linear, solve

LIMITS = [None, 1, 2, 3]


def rows(*chosen: Sequence[int]) -> Any:
    return np.array(chosen, dtype=np.int16)


def ledger_of(space: Space, **goal: Any) -> Ledger:
    return Ledger(space, Goal(space, goal.pop("label", 1), **goal))


def drive(program: Program[Any], space: Space, score: Score) -> tuple[list[Any], Any]:
    """The rows of every question, and what a program returns when a victim answers it."""
    asked: list[Any] = []
    answer: Any = None
    while True:
        try:
            question = program.send(answer)
        except StopIteration as stop:
            return asked, stop.value
        assert isinstance(question, Scores)
        asked.append(question.rows.copy())
        answer = np.array([score(space.text(row).words) for row in question.rows])


def random_case(seed: int) -> tuple[Space, Double]:
    """Two to five words with one to four candidates; only texts near the best one fool."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    space = Space(
        " ".join(f"w{i}" for i in range(n)),
        {i: [f"c{i}v{k}" for k in range(rng.integers(1, 5))] for i in range(n)},
    )
    weights = {w: float(rng.normal()) for w in space.original.words}
    weights |= {c: float(rng.normal()) for found in space.candidates for c in found}
    now = sum(weights[w] for w in space.original.words)
    best = sum(
        min(weights[w] for w in (space.original.words[i], *space.candidates[i])) for i in range(n)
    )
    return space, Double(linear(weights, -best - rng.uniform(0.02, 1.0) * (now - best)))


def success_rate(attack: Attack, limit: int | None, *, cases: int = 60) -> float:
    """Of the cases where brute force finds a fooling text, the share where the attack does."""
    found = []
    for seed in range(cases):
        space, victim = random_case(seed)
        goal = Goal(space, 1, max_swaps=limit)
        least = least_swaps(space, victim, goal)
        if least == 0 or (least is None and seed >= cases // 6):  # nothing to find takes longest
            continue
        (result,) = solve(victim, [attacking(attack, space, max_swaps=limit)]).values()
        assert result.error is None, result.traceback
        if least is None:
            assert result.value is None
            continue
        found.append(result.value is not None)
        if found[-1]:
            assert goal.met(victim.scores(space.sources(result.value)), result.value[None]).all()
    assert len(found) > cases // 2
    return float(np.mean(found))


def most_asked(attack: Attack, limit: int) -> int:
    """The most swaps of any row that is asked for, on a text that is never fooled."""
    space = Space("a b c d e", dict.fromkeys(range(5), ("x", "y", "z")))
    weights = {"x": -0.5, "y": -0.25, "z": 0.25}
    program = attack.search(space, Goal(space, 1, max_swaps=limit), np.random.default_rng(3))
    asked, value = drive(program, space, linear(weights, bias=50.0))
    assert value is None or (isinstance(value, Finding) and value.row is None)
    return max(int(np.count_nonzero(r, axis=1).max()) for r in asked)


def fits(seen: Sequence[int], chances: Any) -> bool:
    """Whether counts agree with exact probabilities, by chi-square."""
    expected = np.asarray(chances) / np.sum(chances) * np.sum(seen)
    return float(stats.chisquare(seen, expected).pvalue) > 1e-3
