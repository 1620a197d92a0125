"""PDP: the algorithm by hand, its memory, drawing and limits, and what tightening adds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import unfooled as uf
from unfooled.attacks.greedy import Greedy
from unfooled.attacks.pdp import METHOD, PDP, _best, draw
from unfooled.errors import InputError, Unsupported
from unfooled.program import Finding, Goal, Gradients, Scores
from unfooled.space import Space
from victim_doubles import (
    Blurred,
    Double,
    Sloped,
    attacking,
    constant,
    ends,
    job,
    least_swaps,
    linear,
    rule,
    solve,
)

WEIGHTS = {"a": 1.0, "x": 0.5, "u": -0.2, "b": 1.0, "y": -0.5, "c": 1.0, "z": 0.4}


@pytest.fixture
def space() -> Space:
    """Score 3; the best swaps take away 1.2 at a (u), 1.5 at b (y) and 0.6 at c (z)."""
    return Space("a b c", {0: ("x", "u"), 1: ("y",), 2: ("z",)})


def finding(space: Space, victim: Double, attack: PDP, **limits: Any) -> Finding:
    budget = limits.pop("max_queries", None)
    goal = Goal(space, limits.pop("label", 1), **limits)
    program = attack.search(space, goal, np.random.default_rng(0))
    (result,) = solve(victim, [job(space, program, goal=goal, max_queries=budget)]).values()
    assert result.error is None, result.traceback
    assert isinstance(result.value, Finding)
    return result.value


def found(space: Space, victim: Double, attack: PDP, **limits: Any) -> tuple[int, ...] | None:
    row = finding(space, victim, attack, **limits).row
    return None if row is None else tuple(row.tolist())


def traced(attack: PDP, space: Space, score: Any) -> tuple[list[Any], Any]:
    """The rows of every question, and what the attack returns."""
    asked: list[Any] = []

    program = attack.search(space, Goal(space, 1), np.random.default_rng(0))
    answer: Any = None
    while True:
        try:
            question = program.send(answer)
        except StopIteration as stop:
            return asked, stop.value
        assert isinstance(question, Scores)
        asked.append(question.rows.tolist())
        answer = np.array([score(space.text(row).words) for row in question.rows])


def paper(**options: Any) -> PDP:
    return PDP(tighten=0, **options)


def test_the_file_is_the_attack() -> None:
    assert METHOD is PDP


# --- algorithm 1 --------------------------------------------------------------------------------


def test_worked_example_step_by_step(space: Space) -> None:
    """K = 1. Position b first (3 - 1.5), then a (0.3), then c (-0.3): fooled with three swaps."""
    asked, value = traced(paper(keep=1, draws=1), space, linear(WEIGHTS))
    assert (value.row.tolist(), value.first_swaps) == ([2, 1, 1], 3)
    assert asked == [
        [[0, 0, 0]],
        [[1, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1]],  # all single swaps; y is best
        [[1, 1, 0], [2, 1, 0], [0, 1, 1]],  # with y: u is best
        [[2, 1, 1]],  # with both: what is left
    ]  # texts of A x S(p*) were all seen when looking ahead, and are not asked for again


def test_memory_holds_the_k_best() -> None:
    """What follows the best text leads nowhere; what follows the second best fools."""
    table = {
        ("a", "b"): 3.0,
        ("x", "b"): 1.0,
        ("u", "b"): 2.8,
        ("a", "y"): 2.0,
        ("a", "z"): 2.5,
        ("x", "y"): 1.0,
        ("x", "z"): 1.0,
        ("u", "y"): -1.0,
        ("u", "z"): 0.5,
    }
    space = Space("a b", {0: ("x", "u"), 1: ("y", "z")})
    victim = Double(lambda words: (0.0, table[tuple(words)]))  # type: ignore[index]
    assert found(space, victim, paper(keep=1)) is None
    assert found(space, victim, paper(keep=2)) == (2, 1)


def test_a_text_with_the_original_word_stays_in_memory(space: Space) -> None:
    """y only blocks the way: the text that skips the chosen position fools."""

    def score(words: Any) -> tuple[float, float]:
        if "u" in words and "z" in words and "y" not in words:
            return 1.0, 0.0
        return 0.0, 2.0 - ("y" in words)

    assert found(space, Double(score), paper(keep=9)) == (2, 0, 1)


def test_fewest_swaps_then_the_highest_score() -> None:
    rows = np.array([[1, 1, 1], [1, 0, 2], [0, 1, 1], [2, 1, 0]], dtype=np.int16)
    assert _best(rows, np.array([9.0, 1.0, 3.0, 2.0])).tolist() == [0, 1, 1]
    # Equal but for float noise: the first, whatever the last digits say.
    assert _best(rows, np.array([9.0, 3.0, 3.0 + 1e-9, 2.0])).tolist() == [1, 0, 2]


@pytest.mark.parametrize(("limit", "expected"), [(0, None), (1, None), (2, None), (3, (2, 1, 1))])
@pytest.mark.parametrize("tighten", [0, 500])
def test_the_limit_of_swaps(space: Space, limit: int, expected: object, tighten: int) -> None:
    attack = PDP(tighten=tighten)
    assert found(space, Double(linear(WEIGHTS)), attack, max_swaps=limit) == expected


@pytest.mark.parametrize(("words", "status"), [(7, "failed"), (8, "success"), (9, "success")])
def test_the_limit_is_the_floor_of_the_share(words: int, status: str) -> None:
    """Two swaps are a quarter of eight words, and more than a quarter of seven."""
    text = " ".join(["a", "b", "o", "o", "o", "o", "o", "o", "o"][:words])
    victim = Double(rule("x", "y"))
    for name, options in (("pdp", {}), ("pdp", {"tighten": 0, "keep": 9})):
        (outcome,) = uf.attack(
            name,
            victim,
            [(text, 1)],
            candidates=lambda _: {0: ("x",), 1: ("y",)},
            max_rate=0.25,
            **options,  # type: ignore[arg-type]
        )
        assert outcome.status == status
        assert outcome.first_swaps == (2 if status == "success" else None)


def test_targeted() -> None:
    space = Space("red", {0: ("green", "blue")})
    table = {"red": (1.0, 0.2, 0.0), "green": (0.0, 1.0, 0.3), "blue": (0.5, 0.0, 0.6)}
    victim = Double(lambda words: table.get(words[0], (0.0, 0.0, 0.0)), classes=3)
    for attack in (PDP(), paper()):
        assert found(space, victim, attack, label=0, target=1) == (1,)
        assert found(space, victim, attack, label=0, target=2) == (2,)
        green = Space("red", {0: ("green",)})
        assert found(green, victim, attack, label=0, target=2) is None


def test_targeted_follows_the_target_and_not_the_label() -> None:
    """Class 1 is easily reached by x; the way to class 2 is y and z, through its score alone."""
    score = {"x": (0.0, 5.0, -1.0), "y": (0.0, 0.0, 1.5), "z": (0.0, 0.0, 1.0)}
    space = Space("a b c", {0: ("x",), 1: ("y",), 2: ("z",)})

    def scores(words: Any) -> Any:
        return np.sum([(2.0, 0.0, 0.0), *(score[w] for w in words if w in score)], axis=0)

    victim = Double(scores, classes=3)
    assert found(space, victim, paper(keep=1), label=0) == (1, 0, 0)
    assert found(space, victim, paper(keep=1), label=0, target=2) == (0, 1, 1)


def test_probabilities_that_are_certain_still_show_the_way() -> None:
    """Logits of 90 and more: as probabilities all texts but the last are 1.0, and none leads."""
    weights = {f"w{i}": 100.0 for i in range(4)} | {"c0": 90.0, "c1": 0.0, "c2": -210.0}
    space = Space("w0 w1 w2 w3", {i: (f"c{i}",) for i in range(3)})
    assert found(space, Double(linear(weights)), paper(keep=1)) == (0, 1, 1)


# --- drawing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 4])
def test_texts_are_drawn_in_proportion_to_their_scores(n: int) -> None:
    importance = np.array([0.9, 0.05, 0.45, 0.3])
    rng = np.random.default_rng(1)
    odds = np.log(importance / (1 - importance))
    drawn = np.concatenate([draw(odds, n, rng=rng) for _ in range(20_000 // n)])
    seen = np.bincount(drawn, minlength=4)
    test = stats.chisquare(seen, importance / importance.sum() * len(drawn))
    assert test.pvalue > 1e-3


def test_drawing_survives_underflow() -> None:
    """Scores of e^-801, e^-800: their ratio is still e."""
    drawn = draw(np.array([-801.0, -800.0]), 20_000, rng=np.random.default_rng(0))
    assert np.mean(drawn) == pytest.approx(np.e / (1 + np.e), abs=0.015)
    assert set(draw(np.array([-1e6, 1e6]), 50, rng=np.random.default_rng(0)).tolist()) == {1}


# --- white box ----------------------------------------------------------------------------------


def test_gradients_lead_the_same_way_for_a_linear_victim(space: Space) -> None:
    victim = Sloped(WEIGHTS)
    for tighten in (0, 500):
        attack = PDP(positions="gradient", tighten=tighten)
        assert found(space, victim, attack) == (2, 1, 1)
        assert found(space, victim, attack, max_swaps=2) is None


def test_gradients_replace_the_look_ahead(space: Space) -> None:
    """Two questions for the slopes of both classes, then only the chosen position is tried."""
    program = paper(keep=1, positions="gradient").search(
        space, Goal(space, 1), np.random.default_rng(0)
    )
    assert next(program).rows.tolist() == [[0, 0, 0]]  # type: ignore[union-attr]
    questions = program.send(np.array([[0.0, 3.0]]))
    assert [(type(q), q.of) for q in questions] == [(Gradients, 1), (Gradients, 0)]  # type: ignore
    slopes = np.zeros((1, 3, 3))
    slopes[0, 2, 1] = -1.0  # at c, for the label
    slopes[0, 1, 2] = -9.0  # no such candidate: b has only one
    after = program.send((slopes, np.zeros((1, 3, 3))))
    assert after.rows.tolist() == [[0, 0, 1]]  # type: ignore[union-attr]


def test_targeted_gradients() -> None:
    space = Space("a b", {0: ("x",), 1: ("y",)})
    program = paper(positions="gradient").search(
        space, Goal(space, 0, target=2), np.random.default_rng(0)
    )
    next(program)
    questions = program.send(np.array([[2.0, 1.0, 0.0]]))
    assert [q.of for q in questions] == [2, 0]  # type: ignore[union-attr]
    towards = np.zeros((1, 2, 2))
    towards[0, 1, 1] = 1.0
    assert program.send((towards, np.zeros((1, 2, 2)))).rows.tolist() == [[0, 1]]  # type: ignore


def test_gradients_on_a_word_model() -> None:
    torch = pytest.importorskip("torch")
    from unfooled.models import ModelConfig, Vocabulary, WordModel, build
    from unfooled.victims.words import WordVictim

    names = [f"{w}{i}" for w in "wcd" for i in range(5)]
    vocabulary = Vocabulary(names)
    config = ModelConfig(arch="cnn", entries=len(vocabulary), classes=2, dimensions=8, units=6)
    space = Space("w0 w1 w2 w3 w4", {i: (f"c{i}", f"d{i}") for i in range(5)})
    every = np.concatenate(list(space.enumerate(None)))
    least = None
    for seed in range(50):  # until the random network can be fooled, but not by a single swap
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = build(config).eval().requires_grad_(False)
        model = WordModel(network, vocabulary, ("no", "yes"), config)
        victim = WordVictim(model, name="tiny", fingerprint="tiny")
        goal = Goal(space, int(victim.scores([space.original.source])[0].argmax()))
        met = goal.met(victim.scores(space.sources(every)), every)
        least = min(np.count_nonzero(every[met], axis=1), default=None)
        if least == 2:
            break
    assert least == 2
    for attack in (PDP(positions="gradient"), paper(positions="gradient", keep=10**6)):
        program = attack.search(space, goal, np.random.default_rng(0))
        (result,) = solve(victim, [job(space, program, goal=goal)]).values()
        assert result.error is None, result.traceback
        row = result.value.row[None]
        assert goal.met(victim.scores(space.sources(row)), row).all()
        assert np.count_nonzero(row) >= least


def test_only_the_white_box_needs_gradients(space: Space) -> None:
    assert PDP().needs == "scores"
    assert PDP(positions="gradient").needs == "gradients"
    victim = Double(linear(WEIGHTS))
    with pytest.raises(Unsupported, match="pdp follows gradients and double has none"):
        uf.attack("pdp", victim, [("a b c", 1)], candidates=[space], positions="gradient")
    (outcome,) = uf.attack("pdp", victim, [("a b c", 1)], candidates=[space])
    assert outcome.status == "success"


# --- beyond the paper ---------------------------------------------------------------------------


def misleading() -> tuple[Space, Double]:
    """Three words with a strong pull each fool together; p and q, weak alone, fool as a pair."""
    weights = {"x": -2.0, "y": -2.0, "z": -2.0, "p": -0.1, "q": -0.1}

    def score(words: Any) -> tuple[float, float]:
        pair = -9.0 if {"p", "q"} <= set(words) else 0.0
        return 0.0, 5.0 + pair + sum(weights.get(w, 0.0) for w in words)

    space = Space("a b c d e", {0: ("x",), 1: ("y",), 2: ("z",), 3: ("p",), 4: ("q",)})
    return space, Double(score)


def test_both_results_are_reported() -> None:
    space, victim = misleading()
    only = finding(space, victim, paper(keep=2))
    assert (np.count_nonzero(only.row), only.first_swaps) == (3, 3)  # type: ignore[arg-type]
    both = finding(space, victim, PDP(keep=2))
    assert (both.row.tolist(), both.first_swaps) == ([0, 0, 0, 1, 1], 3)  # type: ignore[union-attr]
    (outcome,) = uf.attack("pdp", victim, [("a b c d e", 1)], candidates=[space], keep=2)
    assert (outcome.swaps, outcome.first_swaps) == (2, 3)
    assert uf.Outcome.from_record(outcome.record()) == outcome


def test_a_failure_of_the_paper_can_be_rescued() -> None:
    """Within two swaps only the pair fools, and the paper's memory has forgotten it by then."""
    space, victim = misleading()
    assert found(space, victim, paper(keep=1), max_swaps=2) is None
    rescued = finding(space, victim, PDP(keep=1), max_swaps=2)
    assert rescued.row.tolist() == [0, 0, 0, 1, 1]  # type: ignore[union-attr]
    assert rescued.first_swaps is None


@pytest.mark.parametrize("tighten", [1, 3, 10, 40, 500])
def test_tightening_keeps_to_its_queries(tighten: int) -> None:
    space, victim = misleading()
    (alone,) = solve(victim, [attacking(paper(keep=2), space)]).values()
    (more,) = solve(victim, [attacking(PDP(keep=2, tighten=tighten), space)]).values()
    assert more.queries <= alone.queries + tighten
    assert np.count_nonzero(more.value) <= np.count_nonzero(alone.value)


def test_a_small_budget_is_not_for_nothing(space: Space) -> None:
    """What greedy finds for so many queries, PDP returns too, although its own search is cut off."""
    victim = Double(linear(WEIGHTS))
    (greedy,) = solve(victim, [attacking(Greedy(), space)]).values()
    (result,) = solve(victim, [attacking(PDP(), space, max_queries=greedy.queries)]).values()
    assert result.exhausted
    assert result.queries == greedy.queries
    assert result.value.tolist() == greedy.value.tolist()


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.lists(st.integers(-20, 20), min_size=30, max_size=30),
    st.none() | st.integers(0, 4),
    st.booleans(),
    st.sampled_from([1, 2, 10**6]),
)
@settings(max_examples=80, deadline=None)
def test_against_brute_force(
    counts: list[int], values: list[int], limit: int | None, tangled: bool, keep: int
) -> None:
    space = Space(
        " ".join(f"w{i}" for i in range(len(counts))),
        {i: [f"c{i}{k}" for k in range(n)] for i, n in enumerate(counts)},
    )
    names = sorted({*space.original.words, *(c for found in space.candidates for c in found)})
    score = linear({w: v / 7 for w, v in zip(names, values, strict=False)}, bias=3.0)
    # Tangled: single swaps say nothing about several of them.
    victim = Double((lambda words: (0.0, score(words)[1] * 7 % 5 - 1.5)) if tangled else score)
    goal = Goal(space, 1, max_swaps=limit)
    least = least_swaps(space, victim, goal)
    if least == 0:
        return  # not of its class from the start: nothing to attack
    for attack in (paper(keep=keep), PDP(keep=keep)):
        result = finding(space, victim, attack, max_swaps=limit)
        swaps = None if result.row is None else int(np.count_nonzero(result.row))
        if least is None:
            assert swaps is None
            continue
        if keep > 2:  # nothing is forgotten, so what exists is found
            assert swaps is not None
        if keep > 2 and not tangled:  # and the best positions come first
            assert swaps == least
        if swaps is not None:
            assert swaps >= least
            assert result.first_swaps is None or swaps <= result.first_swaps


# --- the rest -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "just words"])
def test_without_candidates(text: str) -> None:
    (result,) = solve(Double(constant()), [attacking(PDP(), Space(text, {}))]).values()
    assert (result.value, result.queries, result.error) == (None, 0, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 0}, "keep is 1 or more, not 0"),
        ({"draws": -1}, "draws is 1 or more, not -1"),
        ({"tighten": -5}, "tighten is 0 or more, not -5"),
        ({"positions": "luck"}, "lookahead or gradient, not 'luck'"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PDP(**options)


def texts() -> tuple[list[Space], dict[str, float]]:
    """Ten texts of seven words with weights drawn at random."""
    rng = np.random.default_rng(5)
    spaces = [
        Space(
            " ".join(f"w{n}v{i}" for i in range(7)),
            {i: [f"c{n}v{i}k{k}" for k in range(3)] for i in range(7)},
        )
        for n in range(10)
    ]
    names = [w for s in spaces for w in (*s.original.words, *(c for f in s.candidates for c in f))]
    weights = {w: float(rng.normal(0.3 if w[0] == "w" else -0.1, 0.5)) for w in names}
    return spaces, weights


def test_same_seed_same_outcomes_in_any_batches() -> None:
    """Batches come back with float noise; whatever shares them, the outcomes are the same."""
    spaces, weights = texts()
    victim = Blurred(weights, noise=2e-7, bias=1.0)
    examples = [(s.original, 1) for s in spaces]
    runs = [
        [
            o.text
            for o in uf.attack("pdp", victim, examples, candidates=spaces, batch=b, in_flight=f)
        ]
        for b, f in ((1, 1), (7, 3), (128, 64))
    ]
    assert runs[0] == runs[1] == runs[2]
    assert any(runs[0])
    results = [
        ends(solve(victim, [attacking(PDP(), s) for s in spaces], batch=batch)) for batch in (3, 64)
    ]
    assert results[0] == results[1]


def test_another_seed_draws_other_texts() -> None:
    """The queries differ from seed to seed; what is found is still true."""
    spaces, weights = texts()
    victim = Double(lambda words: (0.0, 2.5 + np.sin(7 * sum(weights[w] for w in words))))
    jobs = []
    for seed in range(6):
        goal = Goal(spaces[0], 1)
        program = paper(keep=4, draws=1).search(spaces[0], goal, np.random.default_rng(seed))
        jobs.append(solve(victim, [job(spaces[0], program, goal=goal)]).popitem()[1].queries)
    assert len(set(jobs)) > 1
