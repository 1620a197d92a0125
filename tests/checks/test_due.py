"""Which methods an audit asks of a text: real audits are the oracle, whatever they meet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from runner_toys import DATA, TABLE, Counted
from runner_toys import victim as toy
from sweep_toys import KNOWN
from sweep_toys import victim as network
from unfooled.check import check

NEAR = {word: [KNOWN[(i + 7) % 24], KNOWN[(i + 11) % 24]] for i, word in enumerate(KNOWN)}


def passes(run: Path, victim: Any, data: Any, **given: Any) -> bool:
    candidates = given.pop("candidates")
    uf.audit(victim, data, candidates=candidates, out=run, **given)
    found = check(run, victim, data=data, candidates=candidates)
    assert found.refused == []
    return found.passed


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "certifiers",
    [
        ("intervals", "linear", "exhaustive"),
        ("minimum", "exhaustive"),
        ("exhaustive", "minimum"),
        ("linear", "branch-and-bound"),
    ],
)
def test_audits_of_networks_are_complete(
    tmp_path: Path, seed: int, certifiers: tuple[str, ...]
) -> None:
    model, rng = network("mlp", seed=seed, classes=2), np.random.default_rng(seed)
    texts = [" ".join(rng.choice(KNOWN, 4).tolist()) for _ in range(6)]
    data = [(text, model.labels[int(rng.integers(2))]) for text in texts]
    attacks = ("random",) if seed % 2 else ("pdp", "greedy")  # the first leaves more to be proved
    given: dict[str, Any] = {"attacks": attacks, "certifiers": certifiers, "radius": 1 + seed % 3}
    given |= {"max_queries": 12 if seed == 3 else None, "candidates": NEAR}
    assert passes(tmp_path / "run", model, data, **given)


def failing(word: str, *, after: int) -> Callable[[list[Any]], Any]:
    honest, seen = Counted(), [0]

    def scores(texts: list[Any]) -> list[list[float]]:
        if any(word in text for text in texts):
            seen[0] += 1
            if seen[0] > after:
                raise ValueError(f"no {word}")
        return honest(texts)

    return scores


@pytest.mark.parametrize("after", [0, 2, 4, 6, 8, 12])
def test_what_failed_is_not_asked_for_again(tmp_path: Path, after: int) -> None:
    """The victim fails for good at some point of the audit, and is well again when it is checked."""
    broken = toy(failing("movie", after=after))
    attacks: dict[str, Any] = {"attacks": ("pdp", "greedy"), "certifiers": ("exhaustive",)}
    uf.audit(broken, DATA, candidates=TABLE, radius=2, out=tmp_path / "run", **attacks)
    assert check(tmp_path / "run", toy(), data=DATA, candidates=TABLE).refused == []


def test_a_run_that_was_stopped_is_incomplete_until_it_goes_on(tmp_path: Path) -> None:
    run, honest = tmp_path / "run", Counted()
    left = [3]

    def stops(texts: list[Any]) -> list[list[float]]:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return honest(texts)

    with pytest.raises(KeyboardInterrupt):
        uf.audit(toy(stops), DATA, candidates=TABLE, radius=2, out=run)
    assert any("is missing" in why for _, why in check(run, toy()).refused)
    assert passes(run, toy(), DATA, candidates=TABLE, radius=2)
