"""`uf.attack`: outcomes by hand, limits, targets, verification."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unfooled as uf
from runner_toys import DATA, TABLE, Counted, Proposes, attack, told, victim
from unfooled.errors import InputError
from unfooled.limits import Limits

# --- outcomes by hand ---------------------------------------------------------------------------


def test_every_outcome_by_hand() -> None:
    found = attack()
    assert [o.id for o in found] == [f"list:{i}" for i in range(5)]
    assert [o.status for o in found] == ["success", "success", "success", "skipped", "failed"]
    assert [o.changes for o in found[:3]] == [
        ((1, "good", "ok"),),
        ((1, "bad", "nice"),),
        ((1, "fine", "ok"), (2, "good", "ok")),
    ]
    assert [str(o.text) for o in found[:3]] == ["a ok film", "a nice film", "a ok ok film"]
    assert found[3].text is None
    assert found[4].text is None
    # The original (1), the original again and one probe a position, then the candidates visited.
    # In the third, "good" (2 candidates) comes before "fine" (1): then the flip.
    assert [o.queries for o in found] == [1 + 3 + 2, 1 + 3 + 1, 1 + 4 + 2 + 1, 1, 1 + 2 + 1]
    # Asked again, the original is a query and no forward.
    assert [o.forwards for o in found] == [1 + 2 + 2, 1 + 2 + 1, 1 + 3 + 2 + 1, 1, 1 + 1 + 1]
    expected = [(0.0, -0.5), (0.0, 0.5), (0.0, -1.0), (0.0, 0.0), (0.0, 2.0)]
    assert [o.scores for o in found] == [pytest.approx(scores) for scores in expected]
    assert [o.label for o in found] == [1, 0, 1, 1, 1]
    assert found.summary() == {
        "texts": 5,
        "clean_accuracy": 0.8,
        "accuracy_under_attack": 0.2,
        "success_rate": 0.75,
        "mean_swaps": pytest.approx(4 / 3),
        "mean_swapped_share": pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 3),
        "few_swaps": 1.0,
        "mean_edits": pytest.approx((3 + 4 + (4 + 3)) / 3),
        "mean_queries": pytest.approx((6 + 5 + 8 + 4) / 4),
        "mean_forwards": pytest.approx((5 + 4 + 7 + 3) / 4),
        "failures": {"no_candidates": 0, "no_swaps": 0, "budget": 0, "constraint": 0, "search": 1},
        "exhausted": 0,
        "errors": 0,
    }
    assert found.attack == "greedy"


@pytest.mark.parametrize("shape", [{"in_flight": 1}, {"batch": 1}, {"in_flight": 2, "batch": 3}])
def test_outcomes_are_in_the_order_of_the_data_and_do_not_depend_on_batches(shape: dict) -> None:
    data = DATA * 4
    assert told(attack(data=data, **shape)) == told(attack(data=data))


def test_forwards_are_texts_that_the_victim_was_given() -> None:
    function = Counted()
    found = attack(who=victim(function))
    looked_twice, verified = 2 * len(DATA), len(DATA)
    assert len(function.seen) == sum(o.forwards for o in found) + looked_twice + verified


@st.composite
def problems(draw: Any) -> tuple[dict[str, float], dict[str, list[str]], str]:
    words = [f"w{i}" for i in range(4)]
    spare = [f"s{i}" for i in range(5)]
    numbers = st.integers(-3, 3).map(float)
    weights = {word: draw(numbers) for word in words + spare}
    table = {
        word: draw(st.lists(st.sampled_from(spare), max_size=2, unique=True)) for word in words
    }
    return weights, table, " ".join(draw(st.lists(st.sampled_from(words), min_size=1, max_size=4)))


@given(problems(), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_a_wide_beam_finds_what_brute_force_finds(problem: Any, most: int) -> None:
    weights, table, text = problem
    function = Counted(weights)
    [found] = attack(
        "beam", victim(function), [(text, 1)], candidates=table, width=999, max_swaps=most
    )
    words = text.split()
    least = min(
        (
            sum(a != b for a, b in zip(words, choice, strict=True))
            for choice in product(*([word, *table[word]] for word in words))
            if function.score(" ".join(choice)) < 0
        ),
        default=99,
    )
    if function.score(text) <= 0:
        assert found.status == "skipped"
    elif least <= most:
        assert (found.status, found.swaps) == ("success", least)
        assert function.score(str(found.text)) < 0
    else:
        assert found.status == "failed"


# --- limits -------------------------------------------------------------------------------------


@given(st.integers(0, 400), st.integers(0, 1000))
def test_max_rate_is_the_floor_of_the_share_of_the_words(words: int, thousandths: int) -> None:
    text = uf.Text.parse(" ".join(["word"] * words))
    exact = Fraction(thousandths, 1000) * words
    assert Limits(max_rate=thousandths / 1000).swaps(text) == exact.numerator // exact.denominator


def test_rates_that_floats_miss_by_a_hair() -> None:
    hundred = uf.Text.parse("word " * 100)
    assert 0.29 * 100 < 29
    assert Limits(max_rate=0.29).swaps(hundred) == 29
    assert Limits(max_rate=0.2899).swaps(hundred) == 28
    assert Limits(max_rate=0.5, max_swaps=3).swaps(hundred) == 3
    assert Limits(max_rate=0.01, max_swaps=3).swaps(hundred) == 1
    assert Limits().swaps(hundred) is None


@pytest.mark.parametrize("name", ["greedy", "beam"])
@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"max_swaps": 0}, "failed"),
        ({"max_swaps": 1}, "failed"),
        ({"max_swaps": 2}, "success"),
        ({"max_rate": 0.49}, "failed"),  # of four words
        ({"max_rate": 0.5}, "success"),
        ({"max_rate": 1.0, "max_swaps": 1}, "failed"),
    ],
)
def test_a_text_that_needs_two_swaps(name: str, limit: dict, status: str) -> None:
    assert attack(name, data=DATA[2:3], **limit)[0].status == status


@pytest.mark.parametrize("budget", range(1, 9))
def test_a_budget_is_kept_to_the_query(budget: int) -> None:
    [found] = attack(data=DATA[2:3], max_queries=budget)
    assert found.queries == budget
    assert found.status == ("success" if budget == 8 else "exhausted")


def test_a_text_that_was_fooled_before_the_budget_ended_is_a_success() -> None:
    # The wanted row is the second of its question, which is cut after it.
    [found] = attack("beam", data=[("good film", 1)], max_queries=3)
    assert (found.status, found.queries) == ("success", 3)
    assert found.changes == ((0, "good", "ok"),)
    assert attack("beam", data=[("good film", 1)], max_queries=2)[0].status == "exhausted"


def test_a_misclassified_text_is_skipped_within_a_budget_of_one() -> None:
    assert attack(data=DATA[3:4], max_queries=1)[0].status == "skipped"


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"max_rate": 1.1}, "max_rate is a share"),
        ({"max_rate": float("nan")}, "max_rate of the limits cannot be nan"),
        ({"max_swaps": -1}, "max_swaps is 0 or more"),
        ({"max_queries": 0}, "max_queries is 1 or more"),
        ({"in_flight": 0}, "in_flight is 1 or more"),
        ({"batch": 0}, "batch is 1 or more"),
        ({"batch": -3}, "batch is 1 or more"),
        ({"target": 2}, "the target 2 is no class of toy: neg, pos"),
        ({"target": -1}, "the target -1 is no class"),
        ({"target": "neutral"}, "the target 'neutral' is no class of toy: neg, pos"),
        ({"shard": "3/2"}, "a shard is i/n"),
    ],
)
def test_limits_that_make_no_sense(limit: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        attack(**limit)


# --- targets ------------------------------------------------------------------------------------


def three(texts: list[str]) -> list[list[float]]:
    """The class is the last word."""
    order = ["red", "green", "blue"]
    return [[float(t.split()[-1] == colour) for colour in order] for t in texts]


COLOURS = ["Red", "Green", "Blue"]
SWATCHES = {"red": ["green", "blue"], "green": ["red"], "blue": ["red"]}


@pytest.mark.parametrize("target", [2, "Blue", "blue", "2"])
def test_a_target_by_name_or_number(target: Any) -> None:
    data = [("so red", "red"), ("so green", "green"), ("so blue", "blue"), ("so blue", "green")]
    who = victim(three, labels=COLOURS)
    found = attack(who=who, data=data, candidates=SWATCHES, target=target)
    # Green can only become red; the third is blue already, and right; the fourth is wrong.
    assert [o.status for o in found] == ["success", "failed", "skipped", "skipped"]
    assert str(found[0].text) == "so blue"
    assert found.summary()["clean_accuracy"] == 3 / 4
    assert found.summary()["accuracy_under_attack"] == 2 / 4
    assert found.summary()["success_rate"] == 1 / 2


def test_without_a_target_any_other_class_will_do() -> None:
    found = attack(who=victim(three, labels=COLOURS), data=[("so green", 1)], candidates=SWATCHES)
    assert found[0].status == "success"


def test_a_class_named_by_a_number_goes_before_its_place() -> None:
    who = victim(three, labels=["2", "1", "0"])
    data = [("so red", "2")]
    assert str(attack(who=who, data=data, candidates=SWATCHES, target=0)[0].text) == "so blue"


# --- verification -------------------------------------------------------------------------------


def test_a_success_that_fails_alone_is_none() -> None:
    honest = Counted()

    def flatters(texts: list[str]) -> list[list[float]]:
        scores = honest(texts)
        if len(texts) > 1:  # "nice" is enough, but only in company
            scores = [[5.0, 0.0] if "nice" in t else s for t, s in zip(texts, scores, strict=True)]
        return scores

    [found] = attack(who=victim(flatters), data=[("a good film", 1)], max_swaps=1)
    assert found.status == "failed"
    assert found.text is None
    assert found.changes == ()
    assert found.scores == (0.0, 1.0), "the scores are those of the text that the record has"


def test_a_victim_that_fails_alone_only_spoils_its_own_text(tmp_path: Path) -> None:
    honest = Counted()

    def shy(texts: list[str]) -> Any:
        if len(texts) == 1 and texts[0] == "a ok film":
            return [[float("nan"), 1.0]]
        if len(texts) == 1 and texts[0] == "a nice film":
            raise RuntimeError("not alone")
        return honest(texts)

    # Two candidates each, so that the search never asks for one of them alone.
    table = {**TABLE, "bad": ["nice", "awful"]}
    found = attack(who=victim(shy), candidates=table, out=tmp_path / "run")
    assert [o.status for o in found] == ["error", "error", "success", "skipped", "failed"]
    assert found[0].error == "toy failed on 'a ok film' when run alone: it returned [nan, 1.0]"
    assert found[1].error == "toy failed on 'a nice film' when run alone: RuntimeError: not alone"
    assert told(attack(who=victim(shy), candidates=table, out=tmp_path / "run")) == told(found)


@pytest.mark.parametrize(
    "row",
    [
        np.array([9, 0]),
        np.array([-1, 0]),  # a probe is no text
        np.array([1.0, 0.0]),
        np.array([1]),
        np.zeros((2, 2), dtype=np.int16),
        [[1], [1, 2]],
        "row",
    ],
    ids=str,
)
def test_what_is_no_row_of_the_space_is_an_error_of_that_text(row: Any) -> None:
    found = attack(Proposes(row), data=[DATA[0], DATA[3]])
    assert [o.status for o in found] == ["error", "skipped"]
    assert str(found[0].error).startswith("the attack proposed ")
    assert "is no row of Space('a good film'" in str(found[0].error)


def test_a_row_over_the_limit_or_without_effect_is_no_success() -> None:
    both = attack(Proposes((2, 1)), data=DATA[:1], max_swaps=1)
    assert both[0].status == "failed"
    assert attack(Proposes((2, 1)), data=DATA[:1], max_swaps=2)[0].status == "success"
    assert attack(Proposes((0, 0)), data=DATA[:1])[0].status == "failed"
    assert attack(Proposes((1, 0)), data=DATA[:1])[0].status == "failed"  # nice is positive
    assert attack(Proposes(None), data=DATA[:1])[0].status == "failed"


def test_a_victim_that_fails_on_one_text_spoils_only_that(tmp_path: Path) -> None:
    honest = Counted()

    def touchy(texts: list[str]) -> list[list[float]]:
        if any("bad" in text for text in texts):
            raise RuntimeError("language!")
        return honest(texts)

    without = [e for e in DATA if "bad" not in e[0]]
    found = attack(who=victim(touchy), out=tmp_path / "run")
    assert found[1].status == "error"
    assert str(found[1].error).startswith("toy failed on 'a bad film': RuntimeError: language!")
    others = [replace(o, id="") for o in found if o.status != "error"]
    assert others == [replace(o, id="") for o in attack(data=without)]
    assert found.summary()["errors"] == 1
    assert found.summary()["clean_accuracy"] == 3 / 4
    lines = (tmp_path / "run" / "records.jsonl").read_text().splitlines()
    assert sum("language!" in line for line in lines) == 1


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_text_without_finite_scores_fails_alone(bad: float, tmp_path: Path) -> None:
    def holey(texts: list[Any]) -> list[list[float]]:  # "bad" is in a probe of the fingerprint too
        return [[0.0, bad] if "bad" in t else row for t, row in zip(texts, Counted()(texts), strict=True)]  # fmt: skip

    found = attack(who=victim(holey), out=tmp_path / "run")
    assert [o.status for o in found] == ["success", "error", "success", "skipped", "failed"]
    assert told(attack(who=victim(holey), out=tmp_path / "run")) == told(found)


def test_a_victim_that_changes_its_mind_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    attack(who=victim(lambda texts: rng.random((len(texts), 2))))
    assert "toy gives different scores for the same text" in capsys.readouterr().err
