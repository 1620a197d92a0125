"""Arguments of the Python contract that cannot be used: one sentence each, before any query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from runner_toys import DATA, TABLE, Counted, victim
from unfooled.errors import InputError

RUNS: dict[str, Callable[..., Any]] = {
    "attack": lambda who, **more: uf.attack("greedy", who, DATA, **more),
    "certify": lambda who, **more: uf.certify("exhaustive", who, DATA, **more),
    "estimate": lambda who, **more: uf.estimate(who, DATA, **more),
    "audit": lambda who, **more: uf.audit(who, DATA, **more),
}

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("*", {"max_queries": 0}, "max_queries is 1 or more.*, not 0"),
    ("*", {"max_queries": -3}, "max_queries is 1 or more.*, not -3"),
    ("*", {"max_queries": 2.5}, "max_queries .*2.5"),
    ("certify", {"max_queries": "50x"}, "max_queries is a whole number, not '50x'"),
    ("estimate", {"max_queries": "50x"}, "max_queries is a whole number, not '50x'"),
    ("audit", {"max_queries": "50x"}, "max_queries is a whole number, not '50x'"),
    ("attack", {"max_queries": "many"}, "such as 50x .*, not many"),
    ("*", {"seed": "a"}, "seed is a whole number, not 'a'"),
    ("*", {"seed": 1.5}, "seed is a whole number, not 1.5"),
    ("*", {"seed": None}, "seed is a whole number, not None"),
    ("estimate", {"radius": 2.5}, "option radius of PR cannot be 2.5"),
    ("estimate", {"radius": "3"}, "option radius of PR cannot be '3'"),
    ("estimate", {"rate": "x"}, "option rate of PR cannot be 'x'"),
    ("estimate", {"radius": 2, "delta": "x"}, "option delta of PR cannot be 'x'"),
    ("estimate", {"radius": 2, "epsilon": None}, "option epsilon of PR cannot be None"),
    ("estimate", {"radius": 2, "method": "guess"}, "option method of PR cannot be 'guess'"),
    ("attack", {"max_rate": "0.2"}, "option max_rate of the limits cannot be '0.2'"),
    ("attack", {"max_swaps": 1.5}, "option max_swaps of the limits cannot be 1.5"),
    ("attack", {"window": "x", "min_similarity": 0.5}, "option window of the limits"),
    ("attack", {"max_rate": "0.2", "preset": "pwws"}, "option max_rate of the limits"),
    ("attack", {"encoder": 3}, "encoder is a name, a folder or a sentence encoder, not 3"),
    ("attack", {"masked": 3}, "masked is a name, a folder or a language model, not 3"),
    ("audit", {"radius": None}, "radius is 1 or more swaps, a whole number, not None"),
    ("audit", {"radius": "3"}, "radius is 1 or more swaps, a whole number, not '3'"),
    ("audit", {"radius": 2.5}, "radius is 1 or more swaps, a whole number, not 2.5"),
    ("audit", {"max_rate": "0.2"}, "option max_rate of the audit cannot be '0.2'"),
    ("audit", {"delta": "x"}, "option delta of PR cannot be 'x'"),
]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [(run, g, said) for name, g, said in BAD for run in (RUNS if name == "*" else [name])],
)
def test_what_cannot_be_used_is_named(name: str, given: dict[str, Any], said: str) -> None:
    function = Counted()
    with pytest.raises(InputError, match=said) as caught:
        RUNS[name](victim(function), candidates=TABLE, **given)
    assert "\n" not in str(caught.value)
    assert not function.seen


@pytest.mark.parametrize("name", RUNS)
def test_numbers_of_numpy_are_numbers(name: str) -> None:
    more = {} if name == "attack" else {"radius": np.int64(2)}
    given = {"max_queries": np.int64(500), "seed": np.int32(3), **more}
    found = RUNS[name](victim(), candidates=TABLE, **given)
    plain = {key: int(value) for key, value in given.items()}
    again = RUNS[name](victim(), candidates=TABLE, **plain)
    assert [item.queries for item in getattr(found, "all", found) if name != "audit"] == [
        item.queries for item in getattr(again, "all", again) if name != "audit"
    ]


def falls(text: uf.Text) -> dict[int, list[str]]:
    raise KeyError("no such word")


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (falls, r"the candidates function .*falls failed on 'a good film': KeyError: 'no such"),
        (lambda text: {0: 5}, "gave 5 where words were expected"),
        (lambda text: {0: [3]}, r"gave \[3\] where words were expected"),
    ],
)
def test_a_candidates_function_that_fails_is_named(name: str, function: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        RUNS[name](victim(), candidates=function)
