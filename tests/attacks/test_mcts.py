"""MCTS: which vertices are simulated, pickup weights, distances, all successes, the end."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import unfooled as uf
from population_toys import drive, fits, rows
from unfooled import candidates, registry
from unfooled.attacks import mcts
from unfooled.attacks.mcts import METHOD, Trials, pickup, uniform, word_distances
from unfooled.errors import AssetError, InputError, MissingExtra
from unfooled.lexicon.vectors import Vectors, read
from unfooled.program import Finding, Goal
from unfooled.space import Space
from unfooled.tree import Tree
from victim_doubles import Double, job, linear, solve

MCTS: Any = partial(mcts.MCTS, vectors=None)  # no asset is needed where a test names no vectors
WEIGHTS = {"a": 1.0, "x": 0.5, "u": -0.2, "b": 1.0, "y": -0.5, "c": 1.0, "z": 0.4}
VECTORS = Vectors(
    ("a", "x", "u", "b", "y"),
    np.array([[0, 0], [3, 4], [1, 0], [1, 1], [1, 3]], dtype=np.float32),
)


@pytest.fixture
def space() -> Space:
    """Score 3; the best swaps take away 1.2 at a (u), 1.5 at b (y) and 0.6 at c (z)."""
    return Space("a b c", {0: ("x", "u"), 1: ("y",), 2: ("z",)})


def traced(attack: Any, space: Space, bias: float = 0.0, **goal: Any) -> tuple[list[Any], Finding]:
    program = attack.search(space, Goal(space, 1, **goal), np.random.default_rng(0))
    asked, value = drive(program, space, linear(WEIGHTS, bias))
    assert isinstance(value, Finding)
    return [some.tolist() for some in asked], value


def test_the_file_is_the_attack() -> None:
    assert METHOD is mcts.MCTS
    assert (METHOD().simulations, METHOD().alpha) == (1000, 0.5)


def test_distances_are_in_the_vectors_of_its_own_candidates() -> None:
    source: Any = candidates.load(METHOD.source or "")
    assert METHOD().vectors == source.source.vectors == "glove-50"
    assert registry.build("attacks", "mcts", {"vectors": "none"}).vectors is None


# --- the search ---------------------------------------------------------------------------------


def test_worked_example(space: Space) -> None:
    """One level, then below b, whose drop is the greatest, then below a, then c has nothing new."""
    asked, value = traced(MCTS(depth=3), space)
    assert asked == [
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1]],  # 3 at first; 2.5 1.8, 1.5, 2.4
        [[1, 1, 0], [2, 1, 0], [0, 1, 1]],  # y with x or u, y with z: 1.0, 0.3, 0.9
        [[1, 1, 1], [2, 1, 1]],  # below a and b: -0.3 fools
        [[1, 0, 1], [2, 0, 1]],  # what is left below a
    ]
    assert value.row is not None
    assert (value.row.tolist(), value.others) == ([2, 1, 1], ())


def test_the_next_vertex_is_the_one_with_the_highest_uct() -> None:
    """Two ways to go on after b: deeper below (a, b), or to a. The bonus of the root decides."""
    space = Space("a b c d", {0: ("x",), 1: ("y",), 2: ("z",), 3: ("u",)})

    def next_columns(alpha: float) -> list[int]:
        asked, _ = traced(MCTS(alpha=alpha, expansions=3), space, bias=-1.0)
        return np.flatnonzero((np.array(asked[2]) != 0).all(axis=0)).tolist()

    score = {(): 3.0, (0,): 2.5, (1,): 1.5, (2,): 2.4, (3,): 2.8, (0, 1): 1.0, (1, 2): 0.9}
    drop = {k: float(expit(-(v - 1)) - expit(-2.0)) for k, v in score.items()}
    # After b was expanded: the root and b have two visits each, so the drops alone decide.
    assert drop[(1, 2)] > drop[(0, 1)] > drop[(2,)]
    assert next_columns(0.5) == next_columns(0.0) == [1, 2]


def test_single_substitutions_are_all_tried_and_nothing_else(space: Space) -> None:
    asked, value = traced(MCTS(substitutions="single"), space, bias=-1.6)
    assert [sorted(some) for some in asked] == [
        [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [2, 0, 0]]
    ]
    assert value.row is not None
    assert value.row.tolist() == [0, 1, 0]


@pytest.mark.parametrize(("depth", "limit", "deepest"), [(1, None, 1), (2, 3, 2), (3, 2, 2)])
def test_no_deeper_than_asked(space: Space, depth: int, limit: int | None, deepest: int) -> None:
    asked, _ = traced(MCTS(depth=depth), space, bias=50.0, max_swaps=limit)
    every = [row for some in asked for row in some]
    assert max(np.count_nonzero(row) for row in every) == deepest
    assert len(every) == space.size(deepest)


@pytest.mark.parametrize(
    ("share", "vertices"), [(0.1, 4), (4 / 15, 4), (0.4, 7), (0.5, 9), (1.0, 15)]
)
def test_the_end_at_a_share_of_the_vertices(share: float, vertices: int) -> None:
    """Four positions, depth 4: 15 sets. Whole expansions: 4, then 3, then 2 or fewer."""
    space = Space("p q r s", {i: (f"v{i}",) for i in range(4)})
    asked, _ = traced(MCTS(share=share), space, bias=50.0)
    assert sum(map(len, asked)) - 1 == vertices  # one text for each vertex, and the original


def test_the_end_after_so_many_expansions() -> None:
    space = Space("p q r s", {i: (f"v{i}",) for i in range(4)})
    for expansions in (1, 2, 3):
        asked, _ = traced(MCTS(expansions=expansions), space, bias=50.0)
        assert len(asked) == expansions


def test_long_texts_are_asked_about_in_parts() -> None:
    space = Space(
        " ".join(f"w{i}" for i in range(12)),
        {i: [f"c{i}k{k}" for k in range(30)] for i in range(12)},
    )
    asked, _ = traced(MCTS(expansions=2), space, bias=50.0)
    sizes = [len(some) for some in asked]
    assert sizes[0] == 1 + 12 * 30
    assert sum(sizes[1:]) == 11 * 900
    assert max(sizes) < 4096 + 900


# --- drawing ------------------------------------------------------------------------------------


def test_pickup_by_hand() -> None:
    """Distances 1, 2, 3: (6 - d) / 6 / 2."""
    assert pickup(np.array([1.0, 2.0, 3.0])).tolist() == pytest.approx([5 / 12, 4 / 12, 3 / 12])
    assert pickup(np.array([7.0])).tolist() == [1.0]
    assert pickup(np.zeros(4)).tolist() == uniform(np.zeros(4)).tolist() == [0.25] * 4


@pytest.mark.parametrize("how", ["weighted", "uniform"])
def test_candidates_are_drawn_by_their_pickup(how: Any) -> None:
    """With fewer simulations than texts; each text counts once for a vertex, so one draw at a time."""
    space = Space("a", {0: ("p", "q", "r")})
    trials = Trials(space, Goal(space, 1), word_distances(space, None), most=1)
    rng, attack = np.random.default_rng(0), MCTS(simulations=1, pickup=how)
    drawn = [int(attack._draw(trials, (0,), rng=rng)[0, 0]) for _ in range(6000)]
    expected = [5, 4, 3] if how == "weighted" else [1, 1, 1]
    assert fits(np.bincount(drawn, minlength=4)[1:].tolist(), expected)


def test_every_position_of_a_vertex_is_swapped_and_no_other() -> None:
    space = Space("a b c", {i: [f"c{i}k{k}" for k in range(9)] for i in range(3)})
    trials = Trials(space, Goal(space, 1), word_distances(space, None), most=1)
    for simulations in (40, 81, 500):
        found = MCTS(simulations=simulations)._draw(trials, (0, 2), rng=np.random.default_rng(0))
        assert (found[:, [0, 2]] > 0).all()
        assert (found[:, 1] == 0).all()
        assert len({tuple(r) for r in found.tolist()}) == len(found) <= min(simulations, 81)
        if simulations >= 81:
            assert len(found) == 81  # each text once, where that is no more than the simulations


# --- distances and successes --------------------------------------------------------------------


def test_distances_in_the_vectors(space: Space) -> None:
    """a-x is 5, a-u is 1, b-y is 2; c has no vector and z neither."""
    found = word_distances(space, VECTORS)
    assert found.tolist() == [[0, 5, 1], [0, 2, 0], [0, 1, 0]]
    assert word_distances(space, None).tolist() == [[0, 1, 2], [0, 1, 0], [0, 1, 0]]


def test_an_unknown_candidate_is_as_far_as_the_farthest() -> None:
    space = Space("A", {0: ("u", "nobody", "x")})
    assert word_distances(space, VECTORS).tolist() == [[0, 1, 5, 5]]


def test_successes_fewest_swaps_first_then_closest(space: Space) -> None:
    trials = Trials(space, Goal(space, 1), word_distances(space, VECTORS), most=4)
    asked = rows((1, 1, 0), (1, 0, 0), (0, 0, 0), (2, 1, 0), (0, 1, 0), (2, 0, 0), (0, 0, 1))
    fools = np.array([True, True, False, True, True, True, False])
    trials.learn(asked, np.where(fools[:, None], [2.0, 0.0], [0.0, 2.0]))
    assert trials.successes.tolist() == [[2, 0, 0], [0, 1, 0], [1, 0, 0], [2, 1, 0]]


def test_all_successes_are_recorded(tmp_path: Path) -> None:
    space = Space("a b", {0: ("x", "u"), 1: ("y",)})
    victim = Double(linear({"a": 1.0, "x": -2.0, "u": -3.0, "b": 0.5, "y": 0.5}))
    for keep, expected in ((0, 0), (2, 2), (20, 3), (None, 3)):
        (outcome,) = uf.attack(
            "mcts", victim, [("a b", 1)], candidates=[space], keep=keep, vectors=None
        )
        assert outcome.changes == ((0, "a", "x"),)
        others = (((0, "a", "u"),), ((0, "a", "x"), (1, "b", "y")), ((0, "a", "u"), (1, "b", "y")))
        assert outcome.others == others[:expected]
        assert uf.Outcome.from_record(outcome.record()) == outcome
        old = {k: v for k, v in outcome.record().items() if k != "others"}
        assert uf.Outcome.from_record(old).others == ()


def test_an_other_that_fools_nobody_is_not_recorded() -> None:
    """What an attack calls a success is run again, alone, whether first or not."""

    class Liar(METHOD):
        def search(self, space: Space, goal: Goal, rng: Any) -> Any:
            yield from ()
            return Finding(rows((1,))[0], others=(rows((2,))[0], rows((3,))[0]))

    space = Space("a", {0: ("x", "u", "v")})
    victim = Double(linear({"a": 1.0, "x": -2.0, "u": 1.0, "v": -1.0}))
    (outcome,) = uf.attack(Liar(vectors=None), victim, [("a", 1)], candidates=[space])
    assert (outcome.status, outcome.others) == ("success", (((0, "a", "v"),),))


def test_vectors_by_name(tmp_path: Path) -> None:
    """u is nearer than x although it comes later in the list."""
    np.save(tmp_path / "vectors.npy", VECTORS.matrix)
    (tmp_path / "words.txt").write_text("\n".join(VECTORS.words) + "\n")
    assert read(tmp_path).words == VECTORS.words
    space = Space("a b", {0: ("x", "u"), 1: ("y",)})
    victim = Double(linear({"a": 1.0, "x": -2.0, "u": -2.0}))
    for named, expected in ((None, [1, 0]), (str(tmp_path), [2, 0])):
        goal = Goal(space, 1)
        program = MCTS(vectors=named).search(space, goal, np.random.default_rng(0))
        (result,) = solve(victim, [job(space, program, goal=goal)]).values()
        assert result.value.row.tolist() == expected
    with pytest.raises(InputError):
        next(MCTS(vectors="nowhere/at/all").search(space, Goal(space, 1), np.random.default_rng(0)))


@pytest.mark.parametrize(
    "error", [AssetError("the index cannot be reached"), MissingExtra("the index", "data")]
)
def test_missing_vectors_are_told_before_any_text_is_attacked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    def missing(name: str) -> Vectors:
        raise error

    monkeypatch.setattr(mcts.vectors, "load", missing)
    victim = Double(linear(WEIGHTS))
    table: Any = {"candidates": {"a": ["u"]}, "out": tmp_path / "run"}
    said = rf"unfooled assets get glove-50.*--vectors none\. {re.escape(str(error))}"
    with pytest.raises(AssetError, match=said):
        uf.attack("mcts", victim, [("a b", 1)], **table)
    with pytest.raises(AssetError, match=said):
        uf.audit(victim, [("a b", 1)], attacks=["greedy", "mcts"], radius=1, **table)
    assert not victim.forwards
    assert not (tmp_path / "run").exists()
    assert len(uf.attack("mcts", victim, [("a b", 1)], vectors=None, **table)) == 1


@pytest.mark.assets("glove-50")
def test_the_nearest_by_glove_comes_first(asset: Callable[[str], Path]) -> None:
    """movie is nearer to film than banana is, wherever they stand in the list."""
    asset("glove-50")
    space = Space("film", {0: ("banana", "movie")})
    victim = Double(linear({"film": 1.0, "banana": -2.0, "movie": -2.0}))
    for options, expected in (({}, "movie"), ({"vectors": None}, "banana")):
        (outcome,) = uf.attack("mcts", victim, [("film", 1)], candidates=[space], **options)
        assert outcome.changes == ((0, "film", expected),)


def test_the_value_of_a_vertex_is_its_maximum_drop() -> None:
    """One good candidate among nine that make it worse: the mean would hide it."""
    space = Space("a b", {0: [f"n{i}" for i in range(9)] + ["good"], 1: ("fair",)})

    def score(words: Any) -> tuple[float, float]:
        return 0.0, 3.0 + sum(w[0] == "n" for w in words) - ("good" in words) - 0.5 * (
            "fair" in words
        )

    attack, goal = MCTS(expansions=1), Goal(space, 1)
    trials = Trials(space, goal, word_distances(space, None), most=1)
    tree = Tree(2, 2, alpha=0.5)
    children = tree.expand(tree.root)
    drive(attack._simulate(trials, children, rng=np.random.default_rng(0)), space, score)
    before = 1 / (1 + math.exp(3))
    assert children[0].value == pytest.approx(1 / (1 + math.exp(2)) - before)
    assert children[1].value == pytest.approx(1 / (1 + math.exp(2.5)) - before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations is 1 or more, not 0"),
        ({"alpha": -1.0}, "alpha is 0 or more, not -1.0"),
        ({"depth": 0}, "depth is 1 or more, not 0"),
        ({"expansions": 0}, "expansions is 1 or more, not 0"),
        ({"keep": -1}, "keep is 0 or more, not -1"),
        ({"share": 0.0}, "share is above 0 and at most 1, not 0.0"),
        ({"share": 1.5}, "share is above 0 and at most 1, not 1.5"),
        ({"substitutions": "two"}, "single or multiple, not 'two'"),
        ({"pickup": "luck"}, "weighted or uniform, not 'luck'"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MCTS(**options)
