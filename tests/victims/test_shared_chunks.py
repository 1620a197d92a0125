"""Words glued to each other have a table if every combination of candidates stays cut as it is."""

from __future__ import annotations

import numpy as np

from sweep_toys import victim
from unfooled.space import Space
from unfooled.victims.base import Part


def test_words_that_stay_apart_have_a_table_and_the_same_scores() -> None:
    model = victim("cnn")
    members = Space("wa,wb wc/wd", {0: ["we"], 2: ["wf", "wg"], 3: ["wh"], 5: ["wi"]})
    prepared = model.prepare(members)
    assert prepared.table is not None
    rows = np.concatenate(list(members.enumerate()))
    told = model.submit([Part(prepared, rows)])()
    assert np.abs(told - model.scores(members.sources(rows))).max() < 1e-6


def test_words_that_join_up_have_none() -> None:
    model = victim("cnn")
    for glued in ({0: ["x'"], 2: ["s"]}, {0: ["3"], 2: ["4"]}):
        members = Space("wa.wb", glued)
        prepared = model.prepare(members)
        rows = np.concatenate(list(members.enumerate()))
        told = model.submit([Part(prepared, rows)])()
        assert np.abs(told - model.scores(members.sources(rows))).max() < 1e-6


def test_too_many_combinations_are_spelled_out() -> None:
    model = victim("cnn")
    many = [f"w{a}{b}" for a in "abcdefgh" for b in "abcdefghij"]
    assert model.prepare(Space("wa,wb", {0: many, 2: many})).table is None
