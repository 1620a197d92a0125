"""A bound computed again from its certificate is the bound; a tampered one is refused or differs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bound_cases import bound, cases

from sweep_toys import BOUNDED
from unfooled.bounds.margins import METHODS, Method
from unfooled.bounds.replay import argument, recomputed
from unfooled.errors import InputError


def written(arch: str, method: Method, seed: int = 3) -> tuple[Any, Any, dict[str, Any]]:
    """A case, the bounds at 1 to 3 swaps and the argument for 2 after a way through JSON."""
    case = cases(arch, seed=seed, count=3)[1]
    found = bound([case] * 3, [1, 2, 3], method)
    return case, found, json.loads(json.dumps(argument(method, found, row=1)))


@pytest.mark.parametrize("arch", BOUNDED)
@pytest.mark.parametrize("method", [m for m in METHODS if m != "crown"])
def test_the_same_bound_comes_out(arch: str, method: Method) -> None:
    case, found, kept = written(arch, method)
    again = recomputed(case.reading, case.label, radius=2, argument=kept)
    assert float(again.margin[0]) == pytest.approx(float(found.margin[1]), rel=1e-9)
    assert kept["bound"] == float(found.margin[1])
    assert bool(again.holds[0]) == bool(found.holds[1])
    assert (kept["slopes"] is None) == (method != "optimised")


def test_a_stored_value_is_not_believed() -> None:
    case, found, kept = written("cnn", "crown-ibp")
    again = recomputed(case.reading, case.label, radius=2, argument=kept | {"bound": 1e9})
    assert float(again.margin[0]) == pytest.approx(float(found.margin[1]), rel=1e-9)


def test_other_slopes_are_sound_whatever_they_are() -> None:
    case, _, kept = written("lstm", "optimised")
    exact = float(case.least(2).min())
    for number, parts in kept["slopes"].items():
        changed = {**kept["slopes"], number: [_scaled(part, 3.0) for part in parts]}
        again = recomputed(case.reading, case.label, radius=2, argument=kept | {"slopes": changed})
        assert float(again.margin[0]) <= exact + 1e-9


def _scaled(values: Any, by: float) -> Any:
    return [_scaled(v, by) for v in values] if isinstance(values, list) else by * values


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "enumeration"}, "'enumeration'"),
        ({"bounds": "magic"}, "'magic'"),
        ({"slopes": None}, "has none"),
        ({"slopes": [1, 2]}, "not those of this network"),
        ({"slopes": {"1": [[0.5]]}}, "shapes"),
        ({"slopes": {"1": ["x"]}}, "no arrays of numbers"),
        ({"slopes": {"9": [[0.5]]}}, "not those of this network"),
    ],
)
def test_a_broken_argument_is_refused_with_the_reason(change: dict[str, Any], said: str) -> None:
    case, _, kept = written("mlp", "optimised")
    with pytest.raises(InputError, match=said):
        recomputed(case.reading, case.label, radius=2, argument=kept | change)


def test_slopes_that_are_not_numbers_are_refused() -> None:
    case, _, kept = written("mlp", "optimised")
    values = [[[float("nan") for _ in row] for row in part] for part in kept["slopes"]["1"]]
    with pytest.raises(InputError, match="finite"):
        recomputed(case.reading, case.label, radius=2, argument=kept | {"slopes": {"1": values}})
