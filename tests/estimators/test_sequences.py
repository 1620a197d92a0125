"""Intervals and stopping: against scipy, an exact forward recursion, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unfooled.estimators._sequences import (
    RESERVE,
    Sequence,
    clopper_pearson,
    early,
    fixed_size,
    hoeffding_size,
    hoeffding_width,
    sequence,
)

SHARES = (0.0, 0.01, 0.5, 0.9, 0.99, 1.0)
SETTINGS = [(0.025, 0.005), (0.05, 0.01), (0.1, 0.05), (0.3, 0.05), (0.45, 0.005), (0.03, 0.5)]


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


class TestClopperPearson:
    @given(counts(), st.floats(1e-6, 0.5))
    def test_agrees_with_scipy(self, counted: tuple[int, int], alpha: float) -> None:
        hits, n = counted
        expected = stats.binomtest(hits, n).proportion_ci(1 - alpha, method="exact")
        low, high = clopper_pearson(hits, n, alpha=alpha)
        assert low == pytest.approx(expected.low, abs=1e-9)
        assert high == pytest.approx(expected.high, abs=1e-9)

    @given(counts(), st.floats(1e-6, 0.2))
    def test_the_ends_are_the_shares_that_the_count_is_just_too_much_for(
        self, counted: tuple[int, int], alpha: float
    ) -> None:
        hits, n = counted
        low, high = clopper_pearson(hits, n, alpha=alpha)
        if hits:
            assert stats.binom.sf(hits - 1, n, low) == pytest.approx(alpha / 2, rel=1e-5)
        if hits < n:
            assert stats.binom.cdf(hits, n, high) == pytest.approx(alpha / 2, rel=1e-5)

    @given(st.integers(2, 3000), st.floats(1e-6, 0.2))
    def test_ends_rise_with_the_count_mirror_each_other_and_widen_with_confidence(
        self, n: int, alpha: float
    ) -> None:
        hits = np.arange(n + 1)
        low, high = clopper_pearson(hits, n, alpha=alpha)
        assert (np.diff(low) > 0).all()
        assert (np.diff(high) > 0).all()
        assert low[0] == 0
        assert high[-1] == 1
        np.testing.assert_allclose(low, 1 - high[::-1], atol=1e-9)
        wider = clopper_pearson(hits, n, alpha=alpha / 2)
        assert (wider.low <= low).all()
        assert (wider.high >= high).all()


class TestFixedSizes:
    def test_hoeffding_is_the_papers(self) -> None:
        assert hoeffding_size(0.025, 0.005) == 4794
        assert hoeffding_width(4794, 0.005) <= 0.025 < hoeffding_width(4793, 0.005)

    @given(st.floats(0.01, 0.4), st.floats(1e-6, 0.5))
    def test_with_no_failure_it_is_a_logarithm(self, epsilon: float, alpha: float) -> None:
        expected = math.log(alpha / 2) / math.log1p(-epsilon)
        assert fixed_size(1.0, epsilon=epsilon, alpha=alpha) == pytest.approx(expected, abs=1)
        assert fixed_size(0.0, epsilon=epsilon, alpha=alpha) == pytest.approx(expected, abs=1)

    def test_is_enough_for_the_share_it_is_for_and_never_above_hoeffding(self) -> None:
        for share in np.linspace(0, 1, 21):
            n = fixed_size(float(share), epsilon=0.05, alpha=0.01)
            low, high = clopper_pearson(share * n, n, alpha=0.01)
            assert max(share - low, high - share) <= 0.05
            assert n <= hoeffding_size(0.05, 0.01)


def forward(plan: Sequence, share: float) -> dict[str, float]:
    """What the sequence does at a share, by carrying the distribution of the count from look to look."""
    alive, last = np.ones(1), 0
    found = {"stopped": 0.0, "samples": 0.0, "above": 0.0, "below": 0.0}
    for n, most in zip(plan.looks, plan.most, strict=True):
        step = stats.binom.pmf(np.arange(n - last + 1), n - last, share)
        alive, last = np.convolve(alive, step), n
        hits = np.arange(n + 1)
        stop = np.minimum(hits, n - hits) <= most
        interval = clopper_pearson(hits, n, alpha=plan.alpha)
        found["stopped"] += alive[stop].sum()
        found["samples"] += n * alive[stop].sum()
        found["above"] += alive[stop & (interval.low > share)].sum()
        found["below"] += alive[stop & (interval.high < share)].sum()
        alive = np.where(stop, 0.0, alive)
    return found


def stop_points(plan: Sequence) -> list[tuple[int, int]]:
    points = []
    for n, most in zip(plan.looks.tolist(), plan.most.tolist(), strict=True):
        few = range(min(most, n // 2) + 1)
        points += [(s, n) for s in few] + [(n - s, n) for s in few]
    return points


class TestSequence:
    @pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
    def test_stops_only_with_intervals_as_narrow_as_asked(
        self, epsilon: float, delta: float
    ) -> None:
        plan = sequence(epsilon, delta)
        hits, n = np.array(stop_points(plan)).T
        low, high = clopper_pearson(hits, n, alpha=plan.alpha)
        assert np.maximum(hits / n - low, high - hits / n).max() <= epsilon + 1e-12

    @pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
    def test_its_last_look_stops_whatever_it_sees(self, epsilon: float, delta: float) -> None:
        plan = sequence(epsilon, delta)
        last = len(plan.looks) - 1
        assert all(plan.stops(last, hits) for hits in range(int(plan.looks[-1]) + 1))
        assert (np.diff(plan.looks) > 0).all()
        assert (np.diff(plan.looks)[:-1] >= 16).all()  # no question of a few rows but the last
        assert plan.looks[-1] <= hoeffding_size(epsilon, plan.alpha)

    @pytest.mark.parametrize(("epsilon", "delta"), SETTINGS[1:])
    def test_each_end_misses_with_at_most_half_of_delta_at_any_share(
        self, epsilon: float, delta: float
    ) -> None:
        plan = sequence(epsilon, delta)
        hits, n = np.array(stop_points(plan)).T
        ends = np.unique(clopper_pearson(hits, n, alpha=plan.alpha).low)
        worst = np.random.default_rng(0).choice(ends, 40) * (1 - 1e-9)
        for share in {*worst.tolist(), *np.linspace(0, 1, 41).tolist(), *SHARES}:
            found = forward(plan, share)
            assert found["stopped"] == pytest.approx(1)
            assert max(found["above"], found["below"]) <= plan.miss * (1 + 1e-9)
        assert plan.miss <= (1 - RESERVE) * delta / 2

    def test_the_computed_probability_is_reached_not_only_kept(self) -> None:
        plan = sequence(0.1, 0.05)
        hits, n = np.array(stop_points(plan)).T
        ends = np.unique(clopper_pearson(hits, n, alpha=plan.alpha).low)
        found = max(forward(plan, share * (1 - 1e-9))["above"] for share in ends)
        assert found == pytest.approx(plan.miss, rel=0.01)

    def test_costs_little_more_than_knowing_the_share_before(self) -> None:
        plan = sequence(0.025, 0.005)
        for share in (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.7, 0.9, 0.99, 1.0):
            need = fixed_size(share, epsilon=0.025, alpha=0.005)
            assert forward(plan, share)["samples"] <= 1.15 * need

    def test_expects_the_look_where_that_mean_stops(self) -> None:
        plan = sequence(0.05, 0.01)
        assert plan.expected(0.0) == plan.expected(1.0) == plan.looks[0]
        assert plan.expected(0.5) == plan.looks[-1]
        needs = [plan.expected(share) for share in np.linspace(0, 0.5, 50)]
        assert needs == sorted(needs)
        assert plan.expected(0.2) == plan.expected(0.8)

    def test_a_fine_epsilon_cuts_the_shares_into_cells_and_still_keeps_delta(self) -> None:
        plan = sequence(0.01, 0.005)
        assert plan.miss <= 0.0025
        assert plan.looks[0] == pytest.approx(math.log(plan.alpha / 2) / math.log(0.99), abs=1)

    @settings(max_examples=15, deadline=None)
    @given(st.floats(0.05, 0.49), st.floats(1e-9, 0.9))
    def test_a_level_is_found_for_any_demand(self, epsilon: float, delta: float) -> None:
        plan = sequence(epsilon, delta)
        assert 0 < plan.alpha <= delta
        assert plan.miss <= delta / 2


def simulate(plan: Sequence, share: float, *, repetitions: int, seed: int) -> tuple[float, int]:
    """The mean number of samples and the number of misses, sampled one by one."""
    draws = np.random.default_rng(seed).random((repetitions, int(plan.looks[-1]))) < share
    hits = draws.cumsum(axis=1)
    samples, misses = 0, 0
    for path in hits:
        look = next(k for k, n in enumerate(plan.looks) if plan.stops(k, int(path[n - 1])))
        n = int(plan.looks[look])
        low, high = clopper_pearson(path[n - 1], n, alpha=plan.alpha)
        samples, misses = samples + n, misses + int(not low <= share <= high)
    return samples / repetitions, misses


@pytest.mark.parametrize("share", SHARES)
def test_covers_in_simulation(share: float) -> None:
    plan = sequence(0.05, 0.05)
    mean, misses = simulate(plan, share, repetitions=2000, seed=7)
    assert misses <= stats.binom.ppf(0.999, 2000, 0.05)
    assert mean == pytest.approx(forward(plan, share)["samples"], rel=0.02)


class TestEarly:
    def test_holds_at_every_number_of_samples_at_once(self) -> None:
        delta, rng, misses = 0.2, np.random.default_rng(3), 0
        n = np.arange(1, 301)
        for _ in range(300):
            hits = (rng.random(300) < 0.8).cumsum()
            ends = [early((h, h), m, delta=delta) for h, m in zip(hits[::7], n[::7], strict=True)]
            misses += any(not low <= 0.8 <= high for low, high in ends)
        assert misses <= stats.binom.ppf(0.999, 300, delta)

    def test_its_levels_sum_to_delta_and_its_ends_have_their_own_counts(self) -> None:
        low, high = early((3, 8), 10, delta=0.1)
        alpha = 0.1 / 110  # 1/2 + 1/6 + 1/12 + ... = 1
        assert low == pytest.approx(stats.binomtest(3, 10).proportion_ci(1 - alpha).low)
        assert high == pytest.approx(stats.binomtest(8, 10).proportion_ci(1 - alpha).high)
