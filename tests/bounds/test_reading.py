"""A reading computes what the victim does, in float64, whatever the architecture."""

from __future__ import annotations

import numpy as np
import pytest

from sweep_toys import ARCHITECTURES, space, victim
from unfooled.counting import Rows
from unfooled.errors import Unsupported
from unfooled.program import Layers, Program
from unfooled.space import Space
from unfooled.sweeps.regions import Pick
from unfooled.text import Text
from victim_doubles import Double, constant, job, solve


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("words", [1, 6, 15])
def test_logits_are_the_victims_scores(arch: str, pair: bool, words: int) -> None:
    model = victim(arch, seed=words, pair=pair)
    members = space(seed=words, words=words, columns=4, candidates=4, pair=pair)
    reading = model.layers(model.prepare(members))
    assert reading is not None
    rng = np.random.default_rng(words)
    picks = [
        [
            Pick(c, int(rng.integers(len(found))))
            for c, found in enumerate(reading.choices)
            if rng.random() < 0.6
        ]
        for _ in range(20)
    ]
    rows: Rows = np.stack([reading.row(swaps) for swaps in picks])
    scores = model.scores(members.sources(rows))
    assert np.abs(reading.logits(picks).numpy() - scores).max() < 1e-5


def test_a_choice_stands_for_all_candidates_that_look_like_it() -> None:
    model = victim("cnn")
    members = Space(Text.parse("wa wb wc"), {0: ["xq", "xr", "wd"], 1: ["wb"]})
    reading = model.layers(model.prepare(members))
    assert reading is not None
    assert reading.plan.weights == ((2, 1),)
    assert reading.row([Pick(0, 1)]).tolist() == [3]


def test_words_that_are_not_single_vectors_have_no_reading() -> None:
    model = victim("cnn")
    members = Space(Text.parse("wa wb"), {0: ["wc wd"]})
    assert model.layers(model.prepare(members)) is None


def test_a_victim_scored_from_outside_has_no_layers() -> None:
    def asks() -> Program[None]:
        yield Layers()

    members = Space(Text.parse("wa"), {})
    with pytest.raises(Unsupported, match=r"does not show its layers.*exhaustive"):
        solve(Double(constant()), [job(members, asks())])
