"""PR of texts: against brute force, by seed, with near-ties, budgets and bad options."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unfooled as uf
from unfooled.engine import Engine
from unfooled.errors import InputError
from unfooled.estimators._sequences import clopper_pearson, hoeffding_size, sequence
from unfooled.estimators.pr import PR, Estimate, Tally
from unfooled.space import Space
from unfooled.task import Job, Result

Scored = Callable[[list[Any]], list[list[float]]]


def wide(words: int, candidates: int) -> Space:
    """A text "0 0 ... 0" whose words may become 1, 2, ..."""
    return Space(
        " ".join(["0"] * words), dict.fromkeys(range(words), tuple("123456789"[:candidates]))
    )


def linear(threshold: float, *, noise: float = 0.0) -> Scored:
    """Class 1 loses a point of its `threshold` for each unit by which the words grow."""

    def score(texts: list[Any]) -> list[list[float]]:
        return [[0.0, threshold - sum(map(int, text.split())) + noise] for text in texts]

    return score


def run(
    method: PR, space: Space, function: Scored, *, seed: int = 0, **more: Any
) -> Result[Estimate]:
    engine = Engine(uf.victim(function, ["a", "b"], name="toy"), batch=more.pop("batch", None))
    rng, budget = np.random.default_rng(seed), more.get("max_queries")
    program = method.measure(space, 1, rng, budget=budget)
    (result,) = engine.run([Job("key", space, program, **more)])
    return result


def pr(method: PR, space: Space, function: Scored, **more: Any) -> Estimate:
    result = run(method, space, function, **more)
    assert result.error is None, result.traceback
    assert result.value is not None
    return result.value


def brute(space: Space, radius: int, function: Scored) -> float:
    """PR by listing every choice and counting words that differ."""
    kept = []
    for choice in itertools.product(*(("0", *c) for c in space.candidates)):
        if sum(word != "0" for word in choice) <= radius:
            no, yes = function([" ".join(choice)])[0]
            kept.append(yes > no)
    return sum(kept) / len(kept)


class TestExact:
    @pytest.mark.parametrize("method", ["exact", "sequential"])
    @pytest.mark.parametrize("radius", [0, 1, 2, 9])
    @pytest.mark.parametrize("threshold", [-1, 0.5, 1.5, 3.5, 99])
    def test_equals_brute_force(self, method: Any, radius: int, threshold: float) -> None:
        space, function = wide(4, 2), linear(threshold)
        found = pr(PR(radius=radius, method=method), space, function)
        assert found.value == found.low == found.high == brute(space, radius, function)
        assert found.exact
        assert found.method == "exact"
        assert (found.samples, found.radius) == (space.size(radius), radius)

    @pytest.mark.parametrize("method", ["exact", "sequential", "hoeffding"])
    @pytest.mark.parametrize("kept", [True, False])
    def test_radius_zero_and_an_empty_space_are_the_text_alone(
        self, method: Any, kept: bool
    ) -> None:
        function = linear(0.5 if kept else -0.5)
        for space, radius in ((wide(30, 9), 0), (Space("0 0", {}), 5)):
            result = run(PR(radius=radius, method=method), space, function)
            assert result.value == Estimate(kept, kept, kept, 1, True, radius, "exact", 1)
            assert result.queries == 1

    def test_a_large_space_is_refused_with_its_size(self) -> None:
        result = run(PR(radius=30, method="exact"), wide(30, 9), linear(5))
        assert result.error is not None
        assert "1.0e+30 texts within 30 swaps, more than the 1,000,000" in result.error
        told = run(PR(radius=1, method="exact", limit=270), wide(30, 9), linear(5)).error
        assert told is not None
        assert "271 texts within 1 swap, more than the 270" in told
        assert run(PR(radius=1, method="exact", limit=271), wide(30, 9), linear(5)).error is None

    def test_a_budget_leaves_what_the_rest_can_change(self) -> None:
        space, function = wide(4, 2), linear(1.5)
        result = run(PR(radius=2, method="exact"), space, function, max_queries=9)
        assert result.exhausted
        found = result.value
        assert found is not None
        assert (found.low, found.high) == (5 / 33, 1 - 4 / 33)  # one swap by 1 keeps, by 2 loses
        assert not found.exact
        assert (found.samples, found.size) == (9, 33)
        assert found.low <= brute(space, 2, function) <= found.high


class TestSampled:
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 10**6), st.sampled_from([2.5, 4.5, 6.5, 8.5, 12.5]))
    def test_the_interval_holds_the_brute_force_share(self, seed: int, threshold: float) -> None:
        space, function = wide(8, 3), linear(threshold)
        truth = exact_share(space, 4, threshold)
        for method in ("sequential", "hoeffding"):
            # delta of 1e-9: a miss in any of these runs would be a bug
            asked = PR(radius=4, epsilon=0.1, delta=1e-9, method=method)
            found = pr(asked, space, function, seed=seed)
            assert found.low <= truth <= found.high
            assert max(found.value - found.low, found.high - found.value) <= 0.1 + 1e-12
            assert not found.exact
            assert found.method == method

    def test_hoeffding_takes_the_papers_number(self) -> None:
        result = run(PR(radius=5, method="hoeffding"), wide(30, 9), linear(25.5))
        found = result.value
        assert found is not None
        assert found.samples == result.queries == 4794
        assert found.low == pytest.approx(found.value - 0.025)
        assert found.high == pytest.approx(found.value + 0.025)

    def test_a_robust_text_is_done_at_the_first_look(self) -> None:
        plan = sequence(0.025, 0.005)
        result = run(PR(radius=5), wide(30, 9), linear(999))
        found = result.value
        assert found is not None
        assert found.samples == result.queries == plan.looks[0] < 4794 / 18
        assert (found.value, found.high) == (1, 1)
        assert 0.975 <= found.low < 1

    def test_stops_at_the_first_look_that_allows_it(self) -> None:
        plan, space, function = sequence(0.025, 0.005), wide(30, 9), linear(35.5)
        found = pr(PR(radius=5), space, function, seed=4)
        rng, tally = np.random.default_rng(4), Tally()
        for look, n in enumerate(plan.looks):
            texts = space.sources(space.sample(5, int(n) - tally.n, rng))
            tally = tally.plus(np.array(function(texts)), 1)
            if plan.stops(look, tally.kept):
                break
        low, high = clopper_pearson(tally.kept, tally.n, alpha=plan.alpha)
        assert found.samples == tally.n < plan.looks[-1]
        assert (found.value, found.low, found.high) == (tally.kept / tally.n, low, high)

    @pytest.mark.parametrize("method", ["sequential", "hoeffding"])
    def test_the_seed_decides_and_the_batch_does_not(self, method: Any) -> None:
        space, asked = wide(30, 9), PR(rate=0.2, epsilon=0.05, method=method)
        first = pr(asked, space, linear(30.5), seed=1)
        assert all(pr(asked, space, linear(30.5), seed=1, batch=b) == first for b in (1, 7, 500))
        assert any(pr(asked, space, linear(30.5), seed=s) != first for s in (2, 3, 4))

    def test_a_rate_is_rounded_down_to_swaps_of_the_words(self) -> None:
        asked = PR(rate=0.29)
        assert asked.swaps(wide(100, 1)) == 29
        assert asked.swaps(wide(10, 1)) == 2
        assert asked.swaps(Space("one two three", {})) == 0

    def test_turns_to_enumeration_when_sampling_would_need_as_much(self) -> None:
        space = wide(8, 2)  # 577 texts within 3 swaps: more than the first look, less than the last
        plan = sequence(0.025, 0.005)
        assert plan.looks[0] < (size := space.size(3)) < plan.looks[-1]
        fragile, robust = linear(3.5), linear(99)
        hard = run(PR(radius=3), space, fragile)
        assert hard.value is not None
        assert hard.value.exact
        assert hard.value.value == brute(space, 3, fragile)
        assert hard.forwards == size < hard.queries  # what was drawn before is not scored again
        easy = pr(PR(radius=3), space, robust)
        assert (easy.method, easy.samples) == ("sequential", plan.looks[0])


def exact_share(space: Space, radius: int, threshold: float) -> float:
    """PR of the linear toy from the rows themselves."""
    rows = np.concatenate(list(space.enumerate(radius)))
    return float((rows.sum(axis=1) < threshold).mean())


class TestNearTies:
    def test_count_as_kept_in_the_value_and_as_lost_in_the_low_end(self) -> None:
        scores = np.array([[0, 1.0], [0, 2e-5], [0, 5e-6], [0, 0], [0, -5e-6], [0, -2e-5]])
        tally = Tally(1, 1, 1).plus(scores, 1)
        assert tally == Tally(kept=3, lost=2, close=4)
        assert tally.value == 7 / 9

    def test_an_enumeration_with_near_ties_is_not_exact(self) -> None:
        space = wide(2, 1)  # grows by 0, 1, 1, 2
        found = pr(PR(radius=2, method="exact"), space, linear(1, noise=1e-7))
        assert (found.low, found.value, found.high) == (1 / 4, 3 / 4, 3 / 4)
        assert not found.exact

    def test_a_victim_that_cannot_decide_says_nothing_and_takes_no_more_samples(self) -> None:
        found = pr(PR(radius=5), wide(30, 9), lambda texts: [[0.0, 0.0]] * len(texts))
        assert (found.low, found.value, found.high) == (0, 1, 1)
        assert found.samples == sequence(0.025, 0.005).looks[0]

    @pytest.mark.parametrize("method", ["sequential", "hoeffding"])
    def test_some_widen_the_interval_on_the_low_side_alone(self, method: Any) -> None:
        space = wide(30, 9)
        asked = PR(radius=5, epsilon=0.05, method=method)
        clear, tied = linear(25.5), linear(25)  # a growth of 25 is kept, or a tie
        without, within = pr(asked, space, clear), pr(asked, space, tied)
        if method == "hoeffding":  # as many samples, so the same ones
            assert (within.value, within.high) == (without.value, without.high)
        assert within.low < within.value - 0.05
        assert within.low <= sampled_share(space, 25) <= within.high

    def test_the_sign_of_a_tie_changes_nothing(self) -> None:
        asked, space = PR(radius=5, epsilon=0.05), wide(30, 9)
        up, down = (pr(asked, space, linear(25, noise=n)) for n in (1e-7, -1e-7))
        assert up == down


def sampled_share(space: Space, threshold: float) -> float:
    """The share that grows by less, from many samples: a tie counted as lost."""
    rows = space.sample(5, 200_000, np.random.default_rng(9))
    return float((rows.sum(axis=1) < threshold).mean())


class TestBudgets:
    @pytest.mark.parametrize("method", ["sequential", "hoeffding"])
    @pytest.mark.parametrize("queries", [1, 10, 200, 700])
    def test_what_was_sampled_still_gives_an_interval(self, method: Any, queries: int) -> None:
        asked, space = PR(radius=5, delta=1e-6, method=method), wide(30, 9)
        result = run(asked, space, linear(25.5), max_queries=queries)
        found = result.value
        assert result.exhausted
        assert found is not None
        assert found.samples == result.queries == queries
        assert found.low <= sampled_share(space, 25.5) <= found.high
        assert found.high - found.low > 0.05
        assert found.low <= found.value <= found.high

    @pytest.mark.parametrize("queries", [1, 5, 170])
    def test_a_small_space_that_the_budget_does_not_pay_for_is_sampled(self, queries: int) -> None:
        space = wide(4, 5)  # 171 texts within two swaps: fewer than the first look
        found = run(PR(radius=2), space, linear(3.5), max_queries=queries).value
        assert found is not None
        assert (found.method, found.samples, found.exact) == ("sequential", queries, False)
        assert found.value * queries == pytest.approx(round(found.value * queries))  # a sample mean
        assert found.low <= brute(space, 2, linear(3.5)) <= found.high

    def test_what_the_budget_pays_for_is_enumerated(self) -> None:
        found = run(PR(radius=2), wide(4, 5), linear(3.5), max_queries=171).value
        assert found is not None
        assert (found.value, found.exact) == (brute(wide(4, 5), 2, linear(3.5)), True)

    @pytest.mark.parametrize("queries", range(200, 1400, 100))
    def test_samples_are_not_thrown_away_for_an_enumeration_that_cannot_end(
        self, queries: int
    ) -> None:
        space = wide(5, 9)  # 856 texts within two swaps: enumerated after a look at 0.5
        found = run(PR(radius=2), space, linear(8.5), max_queries=queries).value
        assert found is not None
        assert found.exact or found.method == "sequential"
        assert found.low <= brute(space, 2, linear(8.5)) <= found.high

    def test_more_samples_say_more(self) -> None:
        spans = []
        for queries in (10, 100, 1000):
            found = run(PR(radius=5), wide(30, 9), linear(25.5), max_queries=queries).value
            assert found is not None
            spans.append(found.high - found.low)
        assert spans == sorted(spans, reverse=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "either a radius .* or a rate"),
        ({"radius": 1, "rate": 0.5}, "not radius 1 and rate 0.5"),
        ({"radius": -1}, "0 or more, not -1"),
        ({"rate": 1.5}, "from 0 to 1, not 1.5"),
        ({"rate": float("nan")}, "from 0 to 1, not nan"),
        ({"radius": 1, "method": "guess"}, "one of sequential, hoeffding, exact, not 'guess'"),
        ({"radius": 1, "epsilon": 0}, "between 0.005 and 0.5, not 0"),
        ({"radius": 1, "epsilon": 0.5}, "not 0.5$"),
        ({"radius": 1, "epsilon": 0.7}, "between 0.005 and 0.5, not 0.7$"),
        ({"radius": 1, "epsilon": 0.001}, "for less use unfooled estimate with method hoeffding"),
        ({"radius": 1, "epsilon": 0, "method": "hoeffding"}, "between 0 and 0.5, not 0$"),
        ({"radius": 1, "delta": 0}, "delta is a probability .* not 0"),
        ({"radius": 1, "delta": 1}, "not 1"),
        ({"radius": 1, "limit": 0}, "limit is 1 or more texts, not 0"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        PR(**options)


def test_a_fine_epsilon_is_hoeffdings_business() -> None:
    assert hoeffding_size(PR(radius=1, epsilon=0.001, method="hoeffding").epsilon, 0.005) > 10**6
