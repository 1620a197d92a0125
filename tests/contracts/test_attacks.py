"""What every attack promises, over the registry: a new file is tested before its author is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from unfooled import registry
from unfooled.program import Attack, Goal
from unfooled.space import Space
from victim_doubles import (
    Double,
    Sloped,
    attacking,
    constant,
    ends,
    least_swaps,
    linear,
    plain,
    rule,
    solve,
)

WEIGHTS = {"good": 1.0, "fine": 0.5, "poor": -1.5, "film": 0.5, "flick": -0.75, "plot": 0.25}
VICTIMS = ["rule", "linear", "constant"]
LIMITS: list[dict[str, Any]] = [{}, {"max_swaps": 0}, {"max_swaps": 1}, {"max_swaps": 2}]
BUDGETS = [0, 1, 2, 5, 17]

# One swap, two swaps, no candidates, one candidate, repeated words, a text without words.
TEXTS = [
    ("good", {0: ("fine", "poor")}),
    ("a good film", {1: ("poor", "fine"), 2: ("flick", "plot")}),
    ("good good plot", {0: ("poor",), 1: ("fine", "poor"), 2: ("flick", "film")}),
    ("just a plot", {}),
    ("plot", {0: ("flick",)}),
    ("", {}),
]


@pytest.fixture(params=registry.names("attacks"))
def attack(request: pytest.FixtureRequest) -> Attack:
    """What companions say is tested with the attacks that ask them: here none does."""
    made = registry.build("attacks", request.param, plain(request.param))
    assert isinstance(made, Attack)
    return made


def spaces() -> list[Space]:
    return [Space(text, candidates) for text, candidates in TEXTS]


def victim_for(attack: Attack, kind: str) -> Double:
    """A victim that can answer what the attack asks."""
    if attack.needs == "gradients":
        weights = {"rule": {"poor": -9.0, "good": 1.0}, "linear": WEIGHTS, "constant": {}}[kind]
        return Sloped(weights)
    score = {"rule": rule("poor"), "linear": linear(WEIGHTS, 0.25), "constant": constant()}[kind]
    return Double(score)


def label_of(victim: Double, space: Space) -> int:
    return int(victim.scores([space.original.source])[0].argmax())


def run(attack: Attack, victim: Double, **options: Any) -> dict[str, Any]:
    engine = {key: options.pop(key) for key in ("batch", "in_flight") if key in options}
    jobs = [attacking(attack, s, label=label_of(victim, s), **options) for s in spaces()]
    return solve(victim, jobs, **engine)  # type: ignore[no-any-return]


def test_the_attacks_of_this_package_are_registered() -> None:
    assert {"greedy", "beam"} <= set(registry.names("attacks"))


def test_an_attack_is_its_options(attack: Attack) -> None:
    """A frozen value with a default for every option and a docstring that says what it does."""
    assert is_dataclass(attack)
    again = replace(attack)
    assert attack == again
    assert hash(attack) == hash(again)
    assert isinstance(type(attack)(), Attack)
    assert all(f.name in repr(attack) for f in fields(attack))
    assert (type(attack).__doc__ or "").strip()
    assert attack.needs in ("scores", "gradients")


@pytest.mark.parametrize("kind", VICTIMS)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_what_is_reported_meets_the_goal(attack: Attack, kind: str, limits: dict[str, Any]) -> None:
    victim = victim_for(attack, kind)
    results = run(attack, victim, **limits)
    assert len(results) == len(TEXTS)
    for space in spaces():
        result = results[str(space.original)]
        assert result.error is None, result.traceback
        goal = Goal(space, label_of(victim, space), **limits)
        least = least_swaps(space, victim, goal)
        if result.value is None:
            continue
        row = space.rows(result.value)
        assert space.contains(row, limits.get("max_swaps")).all()
        assert goal.met(victim.scores(space.sources(row)), row).all()
        assert least is not None
        assert least <= int(np.count_nonzero(row))


class Near:
    """An encoder to which a text with the word awful is far from all others."""

    name, fingerprint, batch_rows = "near", "near", 64

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[0.0, 1.0] if "awful" in text else [1.0, 0.0] for text in texts])


MORE = (
    " and so on and so on and so on"  # two swaps are then within every attack's share of the words
)


@pytest.mark.parametrize(
    "text", ["the good film", f"a good film plot{MORE}", f"film of a good plot{MORE}"]
)
def test_a_word_whose_swaps_are_refused_costs_no_later_success(attack: Attack, text: str) -> None:
    """The swap that would fool best is not similar enough, alone or beside others."""
    weights = {"good": 1.0, "awful": -9.0, "film": 0.5, "movie": -0.9, "plot": 0.25, "story": -0.5}
    swaps = {"good": ["awful"], "film": ["movie"], "plot": ["story"], "the": ["a"]}
    victim = Sloped(weights) if attack.needs == "gradients" else Double(linear(weights))
    limits: dict[str, Any] = {"min_similarity": 0.5, "encoder": Near(), "candidates": swaps}
    (outcome,) = uf.attack(attack, victim, [(text, 1)], **limits)
    assert outcome.error is None
    assert outcome.refused > 0
    assert "awful" not in str(outcome.text)
    assert outcome.status == ("failed" if text == "the good film" else "success")


def test_a_constant_is_never_fooled(attack: Attack) -> None:
    assert {r.value for r in run(attack, victim_for(attack, "constant")).values()} == {None}


@pytest.mark.parametrize("kind", ["rule", "linear"])
def test_one_swap_that_suffices_is_found(attack: Attack, kind: str) -> None:
    """A word whose only fooling candidate stands alone: who misses this finds nothing."""
    result = run(attack, victim_for(attack, kind))["good"]
    assert result.value.tolist() == [2]


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("kind", VICTIMS)
def test_a_budget_is_never_exceeded(attack: Attack, kind: str, budget: int) -> None:
    for result in run(attack, victim_for(attack, kind), max_queries=budget).values():
        assert result.error is None, result.traceback
        assert result.queries <= budget
        assert result.forwards <= result.queries


@pytest.mark.parametrize("kind", VICTIMS)
def test_outcomes_depend_on_neither_batches_nor_company(attack: Attack, kind: str) -> None:
    expected = ends(run(attack, victim_for(attack, kind)))
    for batch, in_flight in [(1, 1), (1, 64), (3, 2), (128, 1)]:
        again = run(attack, victim_for(attack, kind), batch=batch, in_flight=in_flight)
        assert ends(again) == expected


@pytest.mark.parametrize("target", [0, 2])
def test_a_target_is_met_or_nothing_is_reported(attack: Attack, target: int) -> None:
    if attack.needs == "gradients":
        pytest.skip("the differentiable double has two classes")
    table = {"good": (0.1, 1.0, 0.2), "poor": (1.0, 0.2, 0.1), "fine": (0.1, 0.3, 0.4)}
    victim = Double(lambda found: table.get(found[0], (0.3, 0.4, 0.3)), classes=3)
    space = Space("good", {0: ("poor", "fine")})
    (result,) = solve(victim, [attacking(attack, space, label=1, target=target)]).values()
    assert result.value.tolist() == [1 if target == 0 else 2]


def test_a_pair_is_attacked_on_its_editable_side(attack: Attack) -> None:
    space = Space(("a good film", "a good plot"), {1: ("poor",), 2: ("flick",)})
    victim = victim_for(attack, "rule")
    (result,) = solve(victim, [attacking(attack, space)]).values()
    assert result.error is None, result.traceback
    assert space.text(result.value).source == ("a good film", "a poor plot")
