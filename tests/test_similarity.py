"""Similarity: cosine, angular, and the conversions of the papers' thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.similarity import angular_to_cosine, as_cosine, cosine, cosine_to_angular

# Angular thresholds of the attacks and the cosines that they are: cos(pi (1 - a)).
TABLE = [(0.840845, 0.8776), (0.936338, 0.9801), (0.8, 0.8090), (0.9, 0.9511)]


@pytest.mark.parametrize(("angular", "expected"), TABLE)
def test_thresholds_of_the_papers(angular: float, expected: float) -> None:
    assert angular_to_cosine(angular) == pytest.approx(expected, abs=5e-5)
    assert cosine_to_angular(expected) == pytest.approx(angular, abs=1e-4)


def test_textfooler_and_bae_thresholds_are_angles_in_radians() -> None:
    assert angular_to_cosine(1 - 0.5 / math.pi) == pytest.approx(math.cos(0.5))
    assert angular_to_cosine(1 - 0.2 / math.pi) == pytest.approx(math.cos(0.2))


@given(st.floats(0, 1))
@settings(deadline=None)
def test_there_and_back(angular: float) -> None:
    assert cosine_to_angular(angular_to_cosine(angular)) == pytest.approx(angular, abs=1e-7)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9))
@settings(deadline=None)
def test_the_order_is_kept(values: list[float]) -> None:
    found = cosine_to_angular(np.array(sorted(values)))
    assert (np.diff(found) >= 0).all()


def test_cosines_by_hand() -> None:
    vectors = np.array([[3.0, 4.0], [4.0, -3.0], [-6.0, -8.0], [0.0, 0.0], [1.0, 0.0]])
    assert cosine(vectors, [3.0, 4.0]).tolist() == pytest.approx([1, 0, -1, 0, 0.6])
    assert cosine(vectors, [0.0, 0.0]).tolist() == [0.0] * 5


def test_rounding_never_leaves_the_range() -> None:
    vectors = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    for vector in vectors:
        assert cosine(vector, vector)[0] <= 1.0
        assert np.isfinite(cosine_to_angular(cosine(vector, vector)))[0]


def test_thresholds_as_cosines() -> None:
    assert as_cosine(0.9, "cosine") == 0.9
    assert as_cosine(0.9, "angular") == pytest.approx(0.9511, abs=5e-5)
    for value, metric in [
        (1.1, "cosine"),
        (-1.1, "cosine"),
        (-0.1, "angular"),
        (math.nan, "cosine"),
    ]:
        with pytest.raises(InputError, match=f"by {metric} is a number from"):
            as_cosine(value, metric)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cosine or angular, not 'euclid'"):
        as_cosine(0.5, "euclid")  # type: ignore[arg-type]
