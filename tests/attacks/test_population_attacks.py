"""What all searches with populations and trees promise: success, limits, repetition, no memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from population_toys import LIMITS, most_asked, random_case, success_rate
from unfooled import registry
from unfooled.program import Attack
from unfooled.space import Space
from victim_doubles import Blurred, Double, attacking, constant, ends, linear, plain, solve

NAMES = ["genetic", "faster-genetic", "iga", "sem-pso", "mcts"]
SMALL: dict[str, dict[str, Any]] = {  # short runs, for texts that nothing fools
    "genetic": {"population": 12, "generations": 4},
    "faster-genetic": {"population": 12, "generations": 4},
    "iga": {"generations": 4},
    "sem-pso": {"population": 12, "steps": 4},
    "mcts": {"simulations": 8, "expansions": 6, "vectors": None},
}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def small(name: str) -> Attack:
    made = registry.build("attacks", name, SMALL[name])
    assert isinstance(made, Attack)
    return made


@pytest.mark.parametrize("limit", LIMITS)
def test_what_brute_force_finds_is_found(name: str, limit: int | None) -> None:
    assert success_rate(registry.build("attacks", name, plain(name)), limit) >= 0.95


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_no_text_over_the_limit_is_even_asked_for(name: str, limit: int) -> None:
    assert most_asked(registry.build("attacks", name, plain(name)), limit) == limit


@pytest.mark.parametrize(("words", "status"), [(7, "failed"), (8, "success"), (9, "success")])
def test_the_limit_is_the_floor_of_the_share(name: str, words: int, status: str) -> None:
    """Two swaps are a quarter of eight words, and more than a quarter of seven."""
    text = " ".join(["a", "b", "o", "o", "o", "o", "o", "o", "o"][:words])
    score = linear({"x": -1.0, "y": -1.0}, bias=1.5)
    (outcome,) = uf.attack(
        name,
        Double(score),
        [(text, 1)],
        candidates=lambda _: {0: ("x",), 1: ("y",)},
        max_rate=0.25,
        **plain(name),
    )
    assert outcome.status == status


@pytest.mark.parametrize("text", ["", "just words"])
def test_without_candidates(name: str, text: str) -> None:
    (result,) = solve(Double(constant()), [attacking(small(name), Space(text, {}))]).values()
    assert (result.value, result.queries, result.error) == (None, 0, None)


def test_no_text_is_paid_for_twice(name: str) -> None:
    space = Space("a b c", {0: ("x", "u"), 1: ("y",), 2: ("z",)})
    (result,) = solve(
        Double(constant()), [attacking(registry.build("attacks", name, plain(name)), space)]
    ).values()
    assert result.queries == result.forwards <= space.size()


@pytest.mark.parametrize("budget", [1, 4, 9, 30])
def test_a_budget_ends_the_search_with_what_it_found(name: str, budget: int) -> None:
    for seed in range(8):
        space, victim = random_case(seed)
        attack = registry.build("attacks", name, plain(name))
        (result,) = solve(victim, [attacking(attack, space, max_queries=budget)]).values()
        assert result.error is None, result.traceback
        assert result.forwards <= result.queries <= budget
        assert (result.value is None) == (result.best is None)


def test_follows_the_target_and_not_the_label(name: str) -> None:
    """Class 1 is easily reached by x; the way to class 2 is y and z, through its score alone."""
    score = {"x": (0.0, 5.0, -1.0), "y": (0.0, 0.0, 1.5), "z": (0.0, 0.0, 1.0)}
    space = Space("a b c", {0: ("x",), 1: ("y",), 2: ("z",)})

    def scores(words: Any) -> Any:
        return np.sum([(2.0, 0.0, 0.0), *(score[w] for w in words if w in score)], axis=0)

    victim = Double(scores, classes=3)
    for target, expected in ((None, [1, 0, 0]), (2, [0, 1, 1])):
        job = attacking(registry.build("attacks", name, plain(name)), space, label=0, target=target)
        (result,) = solve(victim, [job]).values()
        assert result.value.tolist() == expected


@pytest.mark.parametrize("scale", ["logits", "log-probabilities", "probabilities"])
def test_all_kinds_of_scores_lead_there(name: str, scale: str) -> None:
    """Four swaps of which each helps a little: who climbs finds it, who does not would not."""
    space = Space("a b c d e f", dict.fromkeys(range(6), ("x", "y", "z")))

    def score(words: Any) -> Any:
        margin = 3.5 - sum(w == "y" for w in words)
        logs = -np.logaddexp(0.0, [margin, -margin])
        return {
            "logits": [0.0, margin],
            "log-probabilities": logs,
            "probabilities": np.exp(logs),
        }[scale]

    (result,) = solve(
        Double(score), [attacking(registry.build("attacks", name, plain(name)), space)]
    ).values()
    assert np.count_nonzero(result.value == 2) == 4


# --- repetition ---------------------------------------------------------------------------------


def texts() -> tuple[list[Space], dict[str, float]]:
    """Ten texts of seven words with weights that repeat; some can be fooled and some cannot."""
    rng = np.random.default_rng(5)
    spaces = [
        Space(
            " ".join(f"w{n}v{i}" for i in range(7)),
            {i: [f"c{n}v{i}k{k}" for k in range(3)] for i in range(7)},
        )
        for n in range(10)
    ]
    names = [w for s in spaces for w in (*s.original.words, *(c for f in s.candidates for c in f))]
    return spaces, {
        w: float(rng.choice([-0.5, 0.0, 0.25, 0.5])) + 0.1 * (w[0] == "w") for w in names
    }


def jobs(name: str, spaces: list[Space]) -> list[Any]:
    return [attacking(small(name), space, max_swaps=3) for space in spaces]


def noisy(weights: dict[str, float]) -> Blurred:
    victim = Blurred(weights, noise=2e-7, bias=1.0)
    victim._rng = np.random.default_rng(9)
    return victim


def test_outcomes_depend_on_neither_batches_nor_noise(name: str) -> None:
    spaces, weights = texts()
    expected = ends(solve(Blurred(weights, bias=1.0), jobs(name, spaces)))
    assert {end[0] is None for end in expected.values()} == {True, False}
    for batch, in_flight in ((1, 1), (7, 3), (128, 64)):
        found = solve(noisy(weights), jobs(name, spaces), batch=batch, in_flight=in_flight)
        assert ends(found) == expected


def test_no_memory_between_texts(name: str) -> None:
    """One attack on many texts, in any order or alone: each text comes out the same."""
    spaces, weights = texts()
    victim, attack = Blurred(weights, bias=1.0), small(name)

    def outcomes(some: list[Space]) -> dict[str, Any]:
        examples = [uf.Example(s.original, 1, id=str(s.original)) for s in some]
        found = uf.attack(attack, victim, examples, candidates=some, max_swaps=3)
        return {o.id: o.record() for o in found}

    together, backwards = outcomes(spaces), outcomes(spaces[::-1])
    alone = {key: value for space in spaces for key, value in outcomes([space]).items()}
    assert together == backwards == alone


def test_the_seed_decides(name: str) -> None:
    """The same seed asks the same; another one does not, where anything is drawn."""
    spaces, weights = texts()
    queries = []
    for seed in (0, 0, 1, 2, 3):
        found = uf.attack(
            small(name),
            Blurred(weights, bias=1.0),
            [(s.original, 1) for s in spaces],
            candidates=spaces,
            seed=seed,
        )
        queries.append([o.queries for o in found])
    assert queries[0] == queries[1]
    assert len({tuple(q) for q in queries}) > 1


def printed(name: str) -> str:
    spaces, weights = texts()
    return json.dumps(ends(solve(Blurred(weights, bias=1.0), jobs(name, spaces))), sort_keys=True)


def test_outcomes_do_not_depend_on_the_hash_seed() -> None:
    code = "import test_population_attacks as t; [print(t.printed(n)) for n in t.NAMES]"
    here = Path(__file__).parent
    folders = [str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(folders)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout.splitlines()
        for seed in ("0", "31337")
    ]
    assert said[0] == said[1] == [printed(name) for name in NAMES]
