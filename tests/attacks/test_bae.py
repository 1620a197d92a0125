"""BAE: worked examples, proposals in the current text, a private copy that can be verified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_toys import (
    Alike,
    World,
    attacked,
    by_last_letters,
    driven,
    first_max,
    in_order,
    logs,
    overlap,
    put,
    row_of,
    take,
    window,
    worlds,
)
from unfooled.attacks.bae import BAE, METHOD
from unfooled.auditing import audit
from unfooled.errors import InputError
from unfooled.outcomes import Attempt, verified
from unfooled.program import Goal, Proposals, Scores
from unfooled.rerun import finished
from unfooled.runner import attempt
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example
from victim_doubles import Double, attacking, linear, solve

WEIGHTS = {"really": 0.1, "good": 1.0, "fine": 0.6, "poor": -0.5, "film": 0.8, "movie": 0.3}
WEIGHTS |= {"flick": -0.4, "truly": 0.2, "okay": 0.0}


@pytest.fixture
def space() -> Space:
    return Space(
        "really good film", {0: ("truly",), 1: ("fine", "poor", "okay"), 2: ("movie", "flick")}
    )


def test_the_file_is_the_attack() -> None:
    assert METHOD is BAE
    assert (BAE().proposals, BAE().opens) == (50, True)  # the authors' K, at every step


def test_worked_example(space: Space) -> None:
    """good -> poor leaves 0.4; then movie leaves -0.1 and flick -0.8: both fool."""
    victim = Double(linear(WEIGHTS))
    (result,) = solve(victim, [attacking(BAE(0, step_similarity=None), space)]).values()
    assert result.value.tolist() == [0, 2, 2]
    assert (result.queries, result.forwards) == (1 + 3 + 3 + 2, 9)


def test_words_are_deleted_for_their_importance(space: Space) -> None:
    run = attacked(BAE(0, step_similarity=None), space, linear(WEIGHTS))
    assert run.questions[0].rows.tolist() == [[0, 0, 0], [-2, 0, 0], [0, -2, 0], [0, 0, -2]]


def test_of_several_that_fool_the_most_similar_is_taken(space: Space) -> None:
    def alike(one: Any, two: Any) -> float:
        return 0.9 if "movie" in one else 0.5

    run = attacked(BAE(0, step_similarity=0.4), space, linear(WEIGHTS), alike=alike)
    assert row_of(run) == [0, 2, 1]


def test_a_swap_must_improve_the_current_text() -> None:
    weights = {"good": 2.0, "poor": -0.2, "film": 1.0, "movie": 1.5, "night": 0.5, "day": -1.4}
    space = Space("good film night", {0: ("poor",), 1: ("movie",), 2: ("day",)})
    assert row_of(attacked(BAE(0, step_similarity=None), space, linear(weights))) == [1, 0, 1]


def test_drift_is_allowed_only_when_it_is_asked_for() -> None:
    space = Space(" ".join(["a0", "b0", *["pad0"] * 13]), {0: ("a1",), 1: ("b1",)})
    score = linear({"a0": 2.0, "b0": 1.0, "a1": 0.5, "b1": -1.0})
    assert row_of(attacked(BAE(0, step_similarity=0.85), space, score, alike=overlap)) is None
    free = BAE(0, step_similarity=0.85, reference="previous")
    assert row_of(attacked(free, space, score, alike=overlap)) == [1, 1]


def test_with_a_threshold_only_its_own_result_counts() -> None:
    assert [BAE(0, step_similarity=None).strict, BAE(0, step_similarity=0.0).strict] == [
        False,
        True,
    ]


# --- proposals ----------------------------------------------------------------------------------


def in_context(words: Sequence[str], position: int) -> list[str]:
    """A language model that says flick only after poor, and repeats words, the old one, and signs."""
    if position == 1:
        return ["good", "poor", "!!", "poor", "fine"]
    return ["flick"] if "poor" in words else ["movie"]


def test_the_model_is_asked_in_the_current_text(space: Space) -> None:
    mine = space.open()
    run = attacked(
        BAE(proposals=50, step_similarity=None), mine, linear(WEIGHTS), proposed=in_context
    )
    assert mine.text(run.value).words == ("really", "poor", "flick")
    asked = [q for q in run.questions if isinstance(q, Proposals)]
    assert [(q.row.tolist(), q.position, q.k) for q in asked] == [
        ([0, 0, 0], 1, 50),
        ([0, 2, 0], 2, 50),
    ]
    # The original, three probes, poor and fine for good, flick for film.
    assert run.queries == 1 + 3 + 2 + 1


def test_what_is_proposed_is_added_and_the_given_space_stays(space: Space) -> None:
    mine, before = space.open(), space.fingerprint
    score = linear(WEIGHTS | {"dire": -9.0})
    run = attacked(
        BAE(proposals=3, step_similarity=None), mine, score, proposed=lambda words, i: ["Dire"]
    )
    assert row_of(run) == [0, 4, 0]
    assert mine.candidates[1] == ("fine", "poor", "okay", "dire")
    assert space.fingerprint == before
    assert not space.contains(run.value)[0]
    assert Goal(mine, 1).space.contains(run.value)[0]


@pytest.mark.parametrize(("most", "queries"), [(None, 1 + 3 + 2 + 1), (1, 1 + 3 + 1 + 1 + 1)])
def test_the_limit_of_candidates_is_also_one_of_proposals(
    space: Space, most: int | None, queries: int
) -> None:
    """Fewer are tried, as of a source: poor, and flick with it. Before, poor and fine."""
    attack, score = BAE(50, step_similarity=None), linear(WEIGHTS)
    run = attacked(attack, space.open(), score, proposed=in_context, max_candidates=most)
    assert {q.k for q in run.questions if isinstance(q, Proposals)} == {50}
    assert run.queries <= queries
    few = [len(q.rows) for q in run.questions if isinstance(q, Scores)][1:]
    assert max(few) <= (most or 2)


def test_no_more_proposals_than_asked_for_and_none_is_no_step(space: Space) -> None:
    score = linear(WEIGHTS)
    few = attacked(
        BAE(proposals=1, step_similarity=None), space.open(), score, proposed=in_context
    )  # good, for good
    assert few.value is None
    none = attacked(
        BAE(proposals=9, step_similarity=None), space.open(), score, proposed=lambda words, i: []
    )
    assert (none.value, none.queries) == (None, 4)


def test_a_row_of_the_grown_copy_is_verified_in_it(space: Space) -> None:
    """As the runner does it: the job has the open copy, and the outcome is a text that fools."""
    victim, mine, attack = (
        Double(linear(WEIGHTS | {"dire": -9.0})),
        space.open(),
        BAE(proposals=3, step_similarity=None),
    )
    assert attack.opens
    goal = Goal(mine, 1, max_swaps=1)
    program = attempt(attack, mine, goal=goal, rng=None)  # type: ignore[arg-type]
    found: Attempt = driven(program, mine, victim.score, proposed=lambda words, i: ["dire"]).value
    job = Job("one", mine, program, goal)
    example = Example(space.original, 1, "one")
    outcome = finished([verified(example, Result(job, found, 6, 6))], victim)[0]
    assert outcome.status == "success"
    assert outcome.changes == ((1, "good", "dire"),)
    frozen = Job("one", space, program, Goal(space, 1))
    refused = finished([verified(example, Result(frozen, found, 6, 6))], victim)[0]
    assert refused.status == "error"
    assert "no row of" in str(refused.error)


def test_only_an_attack_that_adds_candidates_has_an_open_copy() -> None:
    assert [BAE(0, step_similarity=None).opens, BAE(proposals=1, step_similarity=None).opens] == [
        False,
        True,
    ]


def test_without_an_open_copy_it_says_so(space: Space) -> None:
    with pytest.raises(InputError, match="a space is frozen"):
        attacked(
            BAE(proposals=3, step_similarity=None), space, linear(WEIGHTS), proposed=in_context
        )


def test_an_audit_refuses_what_no_proof_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BAE, "opens", True)
    with pytest.raises(InputError, match="bae adds candidates of its own, which no proof covers"):
        audit(Double(linear(WEIGHTS)), [("good film", 1)], attacks=("bae",), candidates={})


@pytest.mark.parametrize(
    ("options", "named"),
    [({"proposals": -1}, "proposals is 0 or more"), ({"step_window": 0}, "step_window")],
)
def test_options_that_make_no_sense(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        BAE(**options)


# --- the plain oracle ---------------------------------------------------------------------------


def oracle(
    world: World, *, alike: Alike | None, least: float, width: int, previous: bool
) -> list[str] | None:
    """Algorithm 1 of the paper, one text at a time."""
    text, changed = world.text, 0
    loss = {i: world.doubt(take(world.text, i)) for i in world.places}
    for i in in_order(logs(loss)):
        if changed == world.most:
            return None
        part = window(len(text), i, width)
        base = [(text if previous else world.text)[j] for j in part]
        tried = []
        for new in (put(text, i, word) for word in world.options[i]):
            value = 1.0 if alike is None else alike([new[j] for j in part], base)
            if alike is None or len(text) < width or value >= least:
                tried.append((new, value, math.log(world.doubt(new))))
        flips = [entry for entry in tried if world.fooled(entry[0])]
        if flips:
            by = [entry[2] if alike is None else entry[1] for entry in flips]
            return flips[first_max(by)][0]
        now = math.log(world.doubt(text))
        lower = [entry for entry in tried if entry[2] > now + 1e-5 * max(1, abs(now))]
        if lower:
            text, changed = lower[first_max([entry[2] for entry in lower])][0], changed + 1
    return None


@given(
    worlds(),
    st.booleans(),
    st.sampled_from([None, 0.6, 0.75, 0.9]),
    st.integers(1, 5),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_as_a_plain_loop_does_it(
    world: World, previous: bool, least: float | None, width: int, ask: bool
) -> None:
    """The same when a language model proposes, in every text, what the space has anyway."""
    how = (None,) if least is None else (least, width, "previous" if previous else "original")
    attack = BAE(9 if ask else 0, *how)
    alike = None if least is None else by_last_letters
    space = world.space.open() if ask else world.space
    run = attacked(
        attack,
        space,
        world.score,
        **world.limits,
        alike=alike,
        proposed=lambda words, i: world.options[i],
    )
    expected = oracle(world, alike=alike, least=least or 0, width=width, previous=previous)
    assert row_of(run) == world.row(expected)
