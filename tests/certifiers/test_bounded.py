"""Certifiers by bounds: what they prove is true, what they cannot prove they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sweep_toys import BOUNDED, naive
from sweep_toys import space as toy_space
from sweep_toys import victim as toy_victim
from unfooled import registry
from unfooled.certifiers.intervals import Intervals
from unfooled.certifiers.linear import Linear
from unfooled.errors import InputError, Unsupported
from unfooled.evidence import margins
from unfooled.proof import Proof
from unfooled.space import Space
from unfooled.text import Text
from unfooled.victims.words import WordVictim
from victim_doubles import Double, job, solve

RNG = np.random.default_rng(0)
METHODS = [Intervals, Linear]


def proof(model: Any, members: Space, label: int, method: Any) -> Proof:
    result = solve(model, [job(members, method.prove(members, label, RNG))])
    (found,) = result.values()
    assert found.error is None, found.error
    value: Proof = found.value
    return value


def scored(model: WordVictim, members: Space) -> np.ndarray:
    return model.scores([members.original.source])


@pytest.mark.parametrize("arch", BOUNDED)
@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_proved_is_true(arch: str, pair: bool, method: type[Any]) -> None:
    for seed in range(6):
        model = toy_victim(arch, seed=seed, pair=pair)
        for weight in model.network.parameters():
            weight.mul_(0.6)
        members = toy_space(seed=seed, words=5, columns=3, candidates=3, pair=pair)
        label = int(scored(model, members).argmax()) if seed % 3 else seed % 2
        found = proof(model, members, label, method(radius=3))
        least = [naive(model, members, k).margins(label).min(initial=np.inf) for k in range(4)]
        assert found.verdict != "falsified" or least[0] < 0
        assert all(value > 0 for value in least[: found.radius + 1])
        assert (found.radius == -1) == (least[0] < 0)
        assert found.verdict != "unknown" or found.reason.startswith("loose: the bound at ")
        assert found.size == members.size(3)


def planted(arch: str, seed: int) -> tuple[WordVictim, Space, int]:
    """A network whose bias puts zero just above the least margin within two swaps: one text fools."""
    model = toy_victim(arch, seed=seed, classes=2)
    members = toy_space(seed=seed, words=6, columns=4, candidates=3)
    label = int(scored(model, members).argmax())
    least = min(naive(model, members, k).margins(label).min(initial=np.inf) for k in range(3))
    model.network.output.bias.data[label] -= float(least) + 1e-3
    return model, members, label


@pytest.mark.parametrize("arch", BOUNDED)
@pytest.mark.parametrize("method", METHODS)
def test_planted_counterexamples_are_never_certified(arch: str, method: type[Any]) -> None:
    for seed in range(8):
        model, members, label = planted(arch, seed)
        if margins(scored(model, members), label)[0] < 0:
            continue
        assert proof(model, members, label, method(radius=2)).radius < 2


@pytest.mark.parametrize("method", METHODS)
def test_a_misclassified_original_is_its_own_counterexample(method: type[Any]) -> None:
    model, members = toy_victim("cnn"), toy_space(seed=1, words=5, columns=3, candidates=2)
    label = int(scored(model, members).argmin())
    found = proof(model, members, label, method())
    assert (found.verdict, found.radius) == ("falsified", -1)
    assert found.witness is not None
    assert not found.witness.any()


@pytest.mark.parametrize("method", METHODS)
def test_words_that_are_no_single_vectors_are_not_supported(method: type[Any]) -> None:
    model = toy_victim("cnn")
    members = Space(Text.parse("wa wb"), {0: ["wc wd"]})
    label = int(scored(model, members).argmax())
    found = proof(model, members, label, method())
    assert (found.verdict, found.radius) == ("unknown", 0)
    assert found.reason.startswith("unsupported: a candidate is not one word")


@pytest.mark.parametrize("method", METHODS)
def test_a_text_without_candidates_has_any_radius(method: type[Any]) -> None:
    model = toy_victim("bilstm")
    members = Space(Text.parse("wa wb"), {})
    label = int(scored(model, members).argmax())
    found = proof(model, members, label, method(radius=5))
    assert (found.verdict, found.radius) == ("certified", 5)
    assert found.argument["kind"] == "bound"


def test_a_near_tie_is_unknown() -> None:
    model, members = (
        toy_victim("mlp", classes=2),
        toy_space(seed=2, words=4, columns=2, candidates=2),
    )
    scores = scored(model, members)[0]
    model.network.output.bias.data[0] += float(scores[1] - scores[0])
    found = proof(model, members, 0, Intervals())
    assert (found.verdict, found.radius) == ("unknown", -1)
    assert found.reason.startswith("near-tie")


def test_a_spent_budget_is_unknown() -> None:
    model, members = toy_victim("mlp"), toy_space(seed=2, words=4, columns=2, candidates=2)
    result = solve(model, [job(members, Linear().prove(members, 0, RNG), max_queries=0)])
    (found,) = result.values()
    assert found.value.reason.startswith("budget")


def test_a_network_that_differs_in_float64_is_not_trusted() -> None:
    model, members = toy_victim("mlp", seed=3), toy_space(seed=2, words=4, columns=2, candidates=2)
    label = int(scored(model, members).argmax())
    model._double.output.bias.data[label] += 0.01
    found = proof(model, members, label, Linear())
    assert (found.verdict, found.radius) == ("unknown", 0)
    assert found.reason.startswith("numerics")


def test_a_victim_that_is_only_scored_is_refused() -> None:
    members = Space(Text.parse("wa"), {})
    with pytest.raises(Unsupported, match=r"does not show its layers"):
        solve(Double(lambda _: [1.0, 0.0]), [job(members, Intervals().prove(members, 0, RNG))])


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("intervals", {"radius": -1}, "number of swaps"),
        ("linear", {"radius": -2}, "number of swaps"),
        ("linear", {"steps": 0}, "at least 1"),
        ("linear", {"bounds": "box"}, "crown-ibp"),
    ],
)
def test_bad_options_are_named(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        registry.build("certifiers", name, options)
