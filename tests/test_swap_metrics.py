"""AUA and MMWS by hand, and that an interval holds whatever the undecided texts turn out to be."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest

from unfooled.swap_metrics import (
    Interval,
    accuracy_under_attack,
    mean_minimum_swaps,
    robust_share,
    summary,
)


@dataclass(frozen=True)
class Known:
    """What a certifier says of one text."""

    status: str
    lower: float
    upper: float | None
    seconds: float = 0.0


def exactly(swaps: float) -> Known:
    return Known("robust" if swaps == math.inf else "optimal", swaps, swaps)


MISSED = Known("skipped", 0, 0)
FIVE = [exactly(1), exactly(3), exactly(math.inf), exactly(5), MISSED]


def test_decided_texts_give_exact_figures() -> None:
    assert accuracy_under_attack(FIVE) == Interval(0.2, 0.2)  # the misclassified one is broken
    assert accuracy_under_attack(FIVE, 3) == Interval(0.4, 0.4)
    assert accuracy_under_attack(FIVE, 0) == Interval(0.8, 0.8)  # accuracy
    assert mean_minimum_swaps(FIVE) == Interval(3.0, 3.0)
    assert robust_share(FIVE) == Interval(0.25, 0.25)


def test_no_texts_have_no_figures() -> None:
    assert accuracy_under_attack([]) is None
    assert mean_minimum_swaps([MISSED, exactly(math.inf)]) is None
    assert robust_share([MISSED]) is None


def test_an_error_may_be_anything() -> None:
    assert accuracy_under_attack([exactly(1), Known("error", 0, None)]) == Interval(0.0, 0.5)


@pytest.mark.parametrize(
    "open_texts",
    [
        [Known("bracketed", 2, 4)],
        [Known("bracketed", 2, None)],
        [Known("bracketed", 0, None)],
        [Known("bracketed", 1, None), Known("bracketed", 2, 3), Known("bracketed", 4, None)],
    ],
)
def test_intervals_hold_whatever_the_truth_is(open_texts: list[Known]) -> None:
    results = [*FIVE, *open_texts]
    ranges = [
        [float(m) for m in range(int(max(t.lower, 1)), int(t.upper or 9) + 1)]
        + ([math.inf] if t.upper is None else [])
        for t in open_texts
    ]
    for truth in itertools.product(*ranges):
        real = [*FIVE, *(exactly(m) for m in truth)]
        for figure in (accuracy_under_attack, mean_minimum_swaps, robust_share):
            wide, exact = figure(results), figure(real)
            assert wide is not None
            assert exact is not None
            assert exact.exact
            assert wide.low - 1e-9 <= exact.low <= wide.high + 1e-9, (figure, truth)
        for radius in (1, 2, 3):
            wide, exact = (
                accuracy_under_attack(results, radius),
                accuracy_under_attack(real, radius),
            )
            assert wide is not None
            assert exact is not None
            assert wide.low <= exact.low <= wide.high


def test_summary_counts_and_times() -> None:
    timed = [Known("optimal", 2, 2, seconds=s / 10) for s in range(10)]
    found = summary([*timed, MISSED])
    assert (found["texts"], found["optimal"], found["skipped"]) == (11, 10, 1)
    assert (found["median_s"], found["p90_s"], found["max_s"]) == (0.4, 0.8, 0.9)
    assert found["swaps"] == {2: 10}
