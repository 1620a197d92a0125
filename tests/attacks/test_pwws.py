"""PWWS: the order worked out by hand, swaps that do not help, and a plain oracle."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import unfooled as uf
from attack_toys import World, attacked, first_max, in_order, put, row_of, worlds
from unfooled.attacks.pwws import METHOD, PWWS, softmax
from unfooled.space import Space
from victim_doubles import Double, Score, attacking, linear, solve


def test_the_file_is_the_attack() -> None:
    assert METHOD is PWWS


def by_table(table: dict[str, float]) -> Score:
    """A victim that knows p of every text it may be asked for, and no other."""
    return lambda words: (1 - table[" ".join(words)], table[" ".join(words)])


def test_worked_example() -> None:
    """p = 0.9; S = (0.1, 0.5), dP* = (0.35, 0.25).

    softmax(S) = (1, e^0.4) / (1 + e^0.4) = (0.4013, 0.5987): H = (0.1405, 0.1497), so b goes first
    although a gains more. With b alone p is 0.65, with both 0.4: fooled after two swaps.
    """
    table = {"a b": 0.9, "? b": 0.8, "a ?": 0.4, "x b": 0.7, "y b": 0.55, "a z": 0.65, "y z": 0.4}
    space = Space("a b", {0: ("x", "y"), 1: ("z",)})
    run = attacked(PWWS(), space, by_table(table))
    assert row_of(run) == [2, 1]
    # One question: original, two probes, three swaps; then one text for each step.
    assert [q.rows.tolist() for q in run.questions] == [
        [[0, 0], [-1, 0], [0, -1], [1, 0], [2, 0], [0, 1]],
        [[0, 1]],
        [[2, 1]],
    ]
    assert run.queries == 1 + 2 + 3 + 2


def test_it_stops_at_the_first_text_that_fools() -> None:
    table = {"a b": 0.9, "? b": 0.8, "a ?": 0.4, "x b": 0.7, "a z": 0.45}
    space = Space("a b", {0: ("x",), 1: ("z",)})
    run = attacked(PWWS(), space, by_table(table))
    assert row_of(run) == [0, 1]
    assert run.queries == 1 + 2 + 2 + 1


def test_a_word_without_gain_is_swapped_too() -> None:
    """Alone x does not help, dP* = -0.05; after z it does: only who swaps it anyway finds this."""
    table = {"a b": 0.9, "? b": 0.9, "a ?": 0.4, "x b": 0.95, "a z": 0.65, "x z": 0.3}
    space = Space("a b", {0: ("x",), 1: ("z",)})
    run = attacked(PWWS(), space, by_table(table))
    assert row_of(run) == [1, 1]


def test_the_best_word_is_that_of_the_original_text() -> None:
    """After z, x would fool and y does not; but y was the best before: no success."""
    table = {"a b": 0.9, "? b": 0.8, "a ?": 0.4, "x b": 0.7, "y b": 0.65, "a z": 0.65}
    table |= {"y z": 0.6, "x z": 0.3}
    space = Space("a b", {0: ("x", "y"), 1: ("z",)})
    assert row_of(attacked(PWWS(), space, by_table(table))) is None


@pytest.mark.parametrize(("limit", "queries"), [(0, 0), (1, 1 + 2 + 3 + 1)])
def test_the_limit_of_swaps(limit: int, queries: int) -> None:
    table = {"a b": 0.9, "? b": 0.8, "a ?": 0.4, "x b": 0.7, "y b": 0.55, "a z": 0.65, "y z": 0.4}
    space = Space("a b", {0: ("x", "y"), 1: ("z",)})
    run = attacked(PWWS(), space, by_table(table), max_swaps=limit)
    assert (row_of(run), run.queries) == (None, queries)


def test_a_budget_that_ends_in_the_first_question_still_gives_what_was_seen() -> None:
    space = Space("good film", {0: ("fine", "poor"), 1: ("flick",)})
    victim = Double(linear({"good": 1.0, "film": 0.5, "poor": -2.0, "fine": 0.5}))
    (result,) = solve(victim, [attacking(PWWS(), space, max_queries=5)]).values()
    assert (result.value, result.exhausted, result.queries) == (None, True, 5)
    assert result.best.tolist() == [2, 0]  # the fifth row


def test_softmax() -> None:
    assert softmax(np.array([0.0, math.log(3.0)])) == pytest.approx([0.25, 0.75])


def oracle(world: World) -> list[str] | None:
    """The authors' loop, one text at a time."""
    text, before = world.text, world.doubt(world.text)
    best, gain, saliency = {}, {}, {}
    for i in world.places:
        doubts = [world.doubt(put(text, i, word)) for word in world.options[i]]
        best[i] = first_max([math.log(d) for d in doubts])
        gain[i] = doubts[best[i]] - before
        saliency[i] = world.doubt(put(text, i, "?")) - before
    whole = sum(math.exp(s) for s in saliency.values())
    weighted = {i: math.exp(saliency[i]) / whole * gain[i] for i in world.places}
    for i in in_order(weighted)[: world.most]:
        text = put(text, i, world.options[i][best[i]])
        if world.fooled(text):
            return text
    return None


@given(worlds())
@settings(max_examples=150, deadline=None)
def test_as_a_plain_loop_does_it(world: World) -> None:
    run = attacked(PWWS(), world.space, world.score, **world.limits)
    assert row_of(run) == world.row(oracle(world))


def test_names_are_swapped_by_a_table_beside_the_synonyms(tmp_path: Path) -> None:
    """Spelled as in the docstring, with the synonyms from a table too."""
    (tmp_path / "words.json").write_text(json.dumps({"fine": ["good"], "film": ["movie"]}))
    (tmp_path / "names.tsv").write_text("Paris\tLondon\tRome\n")
    both = f"table:{tmp_path / 'words.json'} + table:{tmp_path / 'names.tsv'}"

    def likes_paris(texts: list[str]) -> list[list[float]]:
        return [[0.5 + ("Rome" in t), 0.2 * ("fine" in t) + 0.6 * ("Paris" in t)] for t in texts]

    who = uf.victim(likes_paris, ["no", "yes"])
    (found,) = uf.attack("pwws", who, [("a fine film from Paris", 1)], candidates=both)
    assert found.changes == ((4, "Paris", "Rome"),)
    assert "table:names.tsv" in (PWWS.__doc__ or "")
    words = both.partition(" + ")[0]
    (alone,) = uf.attack("pwws", who, [("a fine film from Paris", 1)], candidates=words)
    assert alone.status == "failed"
