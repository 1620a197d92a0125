"""The piecewise function of a reading is what the network computes."""

from __future__ import annotations

import numpy as np
import pytest

from sweep_toys import space, victim
from unfooled.errors import Unsupported
from unfooled.exact.opened import opened
from unfooled.exact.shallow import threshold
from unfooled.sweeps.regions import Pick


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("words", [1, 2, 6, 15])
@pytest.mark.parametrize(
    ("arch", "layers"), [("mlp", 1), ("mlp", 3), ("dan", 1), ("dan", 2), ("cnn", 1), ("cnn-msr", 1)]
)
def test_logits_are_the_readings(arch: str, layers: int, words: int, pair: bool) -> None:
    model = victim(arch, seed=words, pair=pair, layers=layers)
    members = space(seed=words, words=words, columns=5, candidates=4, pair=pair)
    reading = model.layers(model.prepare(members))
    assert reading is not None
    made, rng = opened(reading), np.random.default_rng(words)
    picks = [
        [Pick(c, int(rng.integers(n))) for c, n in enumerate(made.sizes) if rng.random() < 0.6]
        for _ in range(20)
    ]
    np.testing.assert_allclose(made.scores(picks), reading.logits(picks).numpy(), atol=1e-9)
    assert made.shallow == (arch in ("mlp", "dan") and layers == 1 and not pair)
    most = max(len(swaps) for swaps in picks)
    low, high = made.extremes(most)
    first = np.stack([made.first(swaps) for swaps in picks])
    assert (first >= low - 1e-9).all()
    assert (first <= high + 1e-9).all()
    assert threshold(made, most) >= 1e-5 * max(1.0, np.abs(made.scores(picks)).max())


@pytest.mark.parametrize("arch", ["lstm", "bilstm"])
def test_sigmoids_are_refused_with_who_can(arch: str) -> None:
    model = victim(arch)
    members = space(seed=1, words=4, columns=2, candidates=2)
    reading = model.layers(model.prepare(members))
    assert reading is not None
    with pytest.raises(
        Unsupported, match=rf"{arch} is not piecewise linear: exhaustive, branch-and-bound"
    ):
        opened(reading)
