"""Outcomes: figures by hand, and records that give the same outcome back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.canonical import dumps, loads
from unfooled.outcomes import Outcome, Outcomes, Status
from unfooled.text import Text

TEXT = Text.parse("one two three four")


def outcome(status: Status, swaps: int = 0, **more: Any) -> Outcome:
    changes = tuple((i, TEXT.words[i], "x") for i in range(swaps))
    text = TEXT.swap(dict.fromkeys(range(swaps), "x")) if swaps else None
    defaults: dict[str, Any] = {"label": 1, "scores": (0.0, 1.0), "text": text, "changes": changes}
    return Outcome("id", status, TEXT, **(defaults | more))


def test_the_figures_by_hand() -> None:
    found = Outcomes(
        "greedy",
        (
            outcome("success", 1, queries=10, forwards=8),
            outcome("success", 3, queries=20, forwards=10),
            outcome("failed", queries=40, forwards=30),
            outcome("exhausted", queries=50, forwards=32),
            outcome("skipped", scores=(1.0, 0.0), queries=1, forwards=1),
            outcome("error", error="why", queries=1000, forwards=1000),
        ),
        seconds=2.0,
    )
    assert found.summary() == {
        "texts": 6,
        "clean_accuracy": 4 / 5,
        "accuracy_under_attack": 2 / 5,
        "success_rate": 2 / 4,
        "mean_swaps": 2.0,
        "mean_swapped_share": (1 / 4 + 3 / 4) / 2,
        "few_swaps": 1 / 2,
        "mean_edits": (3 + 3 + 3 + 5) / 2,  # one, two and three become x
        "mean_queries": 30.0,
        "mean_forwards": 20.0,
        "failures": {"no_candidates": 0, "no_swaps": 0, "budget": 1, "constraint": 0, "search": 1},
        "exhausted": 1,
        "errors": 1,
    }


@pytest.mark.parametrize(
    ("scores", "right"), [((0.0, 1.0), 1.0), ((1.0, 0.0), 0.0), ((1.0, 1.0), 0.0)]
)
def test_a_skipped_text_counts_as_right_when_it_was(scores: Any, right: float) -> None:
    """With a target, texts of the target class are skipped although the victim has them right."""
    figures = Outcomes("greedy", (outcome("skipped", scores=scores),)).summary()
    assert figures["clean_accuracy"] == figures["accuracy_under_attack"] == right
    assert figures["success_rate"] is None


@pytest.mark.parametrize("found", [(), (outcome("error", error="why"),)], ids=["none", "errors"])
def test_a_mean_over_nothing_is_none(found: tuple[Outcome, ...]) -> None:
    figures = Outcomes("beam", found).summary()
    assert figures["texts"] == figures["errors"] == len(found)
    unknown = [name for name, value in figures.items() if value is None]
    assert len(unknown) == 9
    assert json.loads(json.dumps(figures)) == figures


def test_a_sequence_of_outcomes() -> None:
    first, second = outcome("failed"), outcome("success", 2)
    found = Outcomes("beam", (first, second))
    assert (found[0], found[-1], found[:1]) == (first, second, (first,))
    assert list(found) == [first, second]
    assert len(found) == 2
    assert second in found
    assert (second.swaps, second.rate) == (2, 0.5)
    assert Outcome("", "failed", Text.parse(""), 0).rate == 0.0


def words() -> st.SearchStrategy[str]:
    # Not two halves of one character: such a text cannot be written and is refused earlier.
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def originals(draw: st.DrawFn) -> Text:
    if draw(st.booleans()):
        return Text.parse(draw(words()))
    return Text.pair(
        draw(words()), draw(words()), editable=draw(st.sampled_from(["first", "second", "both"]))
    )


@given(originals(), st.data())
def test_a_record_gives_the_same_outcome_back(original: Text, data: st.DataObject) -> None:
    places = (
        data.draw(st.sets(st.integers(0, max(len(original) - 1, 0)))) if original.words else set()
    )
    # Candidates may hold spaces or signs, and may not split into words as the text was split.
    swaps = {
        p: data.draw(st.sampled_from(["new", "two words", "o'", "-", "N. Y."])) for p in places
    }
    text = original.swap(swaps) if swaps else None
    changes = tuple((p, original.words[p], text.words[p]) for p in sorted(swaps)) if text else ()
    score = st.floats(-1e6, 1e6)
    given_one = Outcome(
        data.draw(words()),
        "success" if swaps else "failed",
        original,
        data.draw(st.integers(0, 9)),
        text,
        changes,
        *data.draw(st.tuples(st.integers(0, 999), st.integers(0, 999))),
        data.draw(st.tuples(score, score)),
        data.draw(st.none() | words()),
    )
    record = loads(dumps(given_one.record()))
    assert Outcome.from_record(record) == given_one
    assert Outcome.from_record({**record, "key": "k", "seconds": 1}) == given_one
    if text is not None and isinstance(text.source, str):
        assert record["text"] == text.source
