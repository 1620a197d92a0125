"""How large proofs are said to be before they start."""

from __future__ import annotations

import pytest

from unfooled.forecast import feasibility, forecast


@pytest.mark.parametrize(
    ("size", "speed", "said"),
    [
        (4_600_000_000, 142_000, "4.6e9 texts, about 9 h at this speed: raise --max-queries or lower --radius"),
        (999_999, None, "999,999 texts: raise --max-queries or lower --radius"),
        (9_996_000, 1e6, "1.0e7 texts, about 10 s"),
        (100, 1e6, "100 texts, about 1 s"),
        (600_000, 1000, "600,000 texts, about 10 min"),
        (10**9, 2000, "1.0e9 texts, about 6 days"),
        (10**400, 1e6, "1.0e400 texts, about more than 10,000 years"),
    ],
)  # fmt: skip
def test_feasibility(size: int, speed: float | None, said: str) -> None:
    assert feasibility(size, speed=speed).startswith(said)


def test_proofs_within_the_budget() -> None:
    said = forecast([10, 90], speed=50, max_queries=100)
    assert said == "2 proofs, at most 100 texts, about 2 s at 50 texts/s"


def test_no_budget_means_all_of_it() -> None:
    assert "at most 1.0e9 texts, about 12 days" in forecast([10**9], speed=1000, max_queries=None)


def test_proofs_beyond_the_budget_are_counted_and_the_largest_is_named() -> None:
    said = forecast([10, 4_600_000_000, 200_000], speed=142_000, max_queries=1000)
    assert said == (
        "3 proofs, at most 2,010 texts, about 1 s at 142,000 texts/s; 2 are beyond --max-queries "
        "1,000, the largest has 4.6e9 texts, about 9 h at this speed: raise --max-queries or lower "
        "--radius"
    )
