"""Metrics: why failures failed, edits and similarities, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_doubles import WordEncoder, similarity_of
from unfooled import attack, metrics, victim
from unfooled.companions import Floats
from unfooled.errors import CompanionError
from unfooled.lexicon.edits import distance
from unfooled.metrics import REASONS, edits, failures, similarities, summary, why
from unfooled.outcomes import Outcome, Outcomes, Status, changed
from unfooled.text import Text


def outcome(source: Any = "one two three four", status: Status = "failed", **more: Any) -> Outcome:
    text = Text.pair(*source) if isinstance(source, tuple) else Text.parse(source)
    return Outcome("id", status, text, 1, scores=(0.0, 1.0), **more)


def success(source: Any, *swaps: tuple[int, str], **more: Any) -> Outcome:
    text = Text.pair(*source, **more) if isinstance(source, tuple) else Text.parse(source)
    changes = tuple((p, text.words[p], new) for p, new in swaps)
    final = changed(text, changes)
    return Outcome("id", "success", text, 1, final, changes, scores=(1.0, 0.0))


@pytest.mark.parametrize(
    ("status", "facts", "reason"),
    [
        ("failed", {"positions": 3}, "search"),
        ("failed", {}, "search"),  # an older run that did not count positions
        ("failed", {"positions": 3, "max_swaps": 1}, "search"),
        ("failed", {"positions": 3, "refused": 2}, "constraint"),
        ("exhausted", {"positions": 3}, "budget"),
        ("exhausted", {"positions": 3, "refused": 2}, "budget"),
        ("failed", {"positions": 3, "max_swaps": 0}, "no_swaps"),
        ("failed", {"positions": 0}, "no_candidates"),
        ("failed", {"positions": 0, "max_swaps": 0}, "no_candidates"),
        ("skipped", {"positions": 0}, None),
        ("error", {"positions": 0, "error": "why"}, None),
        ("success", {"positions": 3, "refused": 2}, None),
    ],
)
def test_why_a_text_was_not_broken(status: Status, facts: dict[str, Any], reason: Any) -> None:
    assert why(outcome(status=status, **facts)) == reason


STATUSES = st.sampled_from(["success", "failed", "exhausted", "skipped", "error"])


@given(st.lists(st.tuples(STATUSES, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))))
def test_every_text_that_was_not_broken_has_one_reason(facts: list[tuple[Any, ...]]) -> None:
    found = [outcome(status=s, positions=p, max_swaps=m, refused=r) for s, p, m, r in facts]
    counted = failures(found)
    assert list(counted) == list(REASONS)
    assert sum(counted.values()) == sum(s in ("failed", "exhausted") for s, *_ in facts)


WEIGHTS = {"good": 1.0, "fine": 0.8, "ok": -0.5, "plain": 0.2}
VICTIM = victim(
    lambda texts: [[0.0, sum(WEIGHTS.get(w, 0.0) for w in t.split())] for t in texts],
    labels=["no", "yes"],
)


def test_the_reasons_of_real_runs() -> None:
    data = [("a good film", 1), ("one plain day", 1)]
    words = {"good": ["fine", "ok"]}

    def run(**limits: Any) -> dict[str, int]:
        found = attack("greedy", VICTIM, data, candidates=words, **limits)
        counted: dict[str, int] = found.summary()["failures"]
        return {reason: count for reason, count in counted.items() if count}

    assert run() == {"no_candidates": 1}
    assert run(max_swaps=0) == {"no_candidates": 1, "no_swaps": 1}
    assert run(max_rate=0.3) == {"no_candidates": 1, "no_swaps": 1}  # a third of a word
    assert run(max_queries=2) == {"no_candidates": 1, "budget": 1}
    assert run(max_candidates=1) == {"no_candidates": 1, "search": 1}  # fine fools nobody
    near = {"min_similarity": 0.9999, "encoder": WordEncoder()}
    assert run(**near) == {"no_candidates": 1, "constraint": 1}


def test_facts_of_a_search_are_recorded_and_read_again() -> None:
    [one] = attack(
        "greedy", VICTIM, [("a good film", 1)], candidates={"good": ["fine"]}, max_swaps=2
    )
    assert (one.positions, one.max_swaps) == (1, 2)
    assert Outcome.from_record(one.record()) == one
    older = {k: v for k, v in one.record().items() if k not in ("positions", "max_swaps")}
    assert Outcome.from_record(older).positions is None


def test_edits_are_counted_word_by_word() -> None:
    assert edits(success("kitten or film", (0, "sitting"), (2, "flim"))) == 3 + 2
    assert edits(outcome()) == 0


@given(st.lists(st.tuples(st.text("abc", min_size=1), st.text("abc", min_size=1)), min_size=1))
def test_edits_are_never_less_than_those_of_the_whole_text(pairs: list[tuple[str, str]]) -> None:
    source = " ".join(old for old, _ in pairs)
    found = success(source, *((i, new) for i, (_, new) in enumerate(pairs)))
    assert edits(found) >= distance(source, str(found.text))


def test_few_swaps_are_two_at_most() -> None:
    found = [success("a b c d", *((i, "x") for i in range(n))) for n in (1, 2, 3, 4)]
    assert summary(found)["few_swaps"] == 2 / 4


def test_similarities_are_those_of_the_successes() -> None:
    first, second = success("a good film", (1, "fine")), success("so it goes", (0, "thus"))
    encoder = WordEncoder(batch_rows=3)
    found = similarities([first, outcome(), second], encoder)
    expected = [
        similarity_of("a fine film", "a good film"),
        similarity_of("thus it goes", "so it goes"),
    ]
    assert found == pytest.approx(expected)
    mean = Outcomes("greedy", (first, outcome(), second)).summary(encoder=encoder)
    assert mean["mean_similarity"] == pytest.approx(np.mean(expected))
    assert "mean_similarity" not in summary([first])
    assert summary([outcome()], encoder=encoder)["mean_similarity"] is None


@pytest.mark.parametrize(
    ("editable", "position", "before", "after"),
    [
        ("second", 1, "it rests", "it sleeps"),
        ("first", 1, "he naps", "he sleeps"),
        ("both", 1, "he naps it rests", "he sleeps it rests"),
    ],
)
def test_of_a_pair_the_editable_sides_are_compared(
    editable: Any, position: int, before: str, after: str
) -> None:
    found = success(("he naps", "it rests"), (position, "sleeps"), editable=editable)
    expected = similarity_of(after, before)
    assert similarities([found], WordEncoder())[0] == pytest.approx(expected)


class Shapeless:
    name, fingerprint, batch_rows = "shapeless", None, 8

    def encode(self, texts: Any) -> Floats:
        return np.zeros((1, 3))


def test_an_encoder_that_fails_is_named() -> None:
    found = [success("a good film", (1, "fine"))]
    with pytest.raises(CompanionError, match="words failed on the fooling texts"):
        similarities(found, WordEncoder(faults={"fine": "raise"}))
    with pytest.raises(CompanionError, match="words did not give a vector"):
        similarities(found, WordEncoder(faults={"fine": "nan"}))
    with pytest.raises(CompanionError, match="shapeless did not give a vector"):
        metrics.similarities(found, Shapeless())
