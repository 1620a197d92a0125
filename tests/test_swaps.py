"""Swapped words: counts and cosines against tiny data worked out by hand and a plain loop."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled import data
from unfooled.errors import InputError
from unfooled.lexicon.vectors import Vectors
from unfooled.outcomes import Outcome, changed
from unfooled.swaps import BINS, Counts, Swapped, study
from unfooled.text import Text

TRAIN = data.load(
    [
        ("Good, good film", "pos"),
        ("a fine film", "pos"),
        ("a bad bad film of a sort", "neg"),
        ("so so", "neg"),
    ],
)
LABELS = ("neg", "pos")
VECTORS = Vectors(
    ("good", "fine", "bad", "film"),
    np.array([[1, 0], [1, 1], [-1, 0], [0, 2]], dtype=np.float32),
)


def fooled(label: int, source: str, *swaps: tuple[int, str]) -> Outcome:
    text = Text.parse(source)
    changes = tuple((p, text.words[p], new) for p, new in swaps)
    return Outcome("x", "success", text, label, changed(text, changes), changes, scores=(1.0, 0.0))


FOUND = [
    fooled(1, "a Good film", (1, "Bad"), (2, "sort")),
    fooled(1, "so fine", (1, "unheard")),
    Outcome("y", "failed", Text.parse("not counted"), 1, scores=(0.0, 1.0)),
]


def test_occurrences_and_classes_by_hand() -> None:
    # 6 words in pos, 9 in neg: good 2/6 against 0, a 1/6 against 2/9, film 1/6 + 1/6 against 1/9.
    counts = Counts(TRAIN)
    assert counts.totals == [9, 6]
    assert counts.by_class("GOOD") == [0, 2]
    assert [counts.is_typical(word, 1) for word in ("good", "a", "film")] == [True, False, True]
    assert [counts.is_typical("unheard", label) for label in (0, 1)] == [False, False]
    found = study(FOUND, labels=LABELS, train=TRAIN, vectors=None)
    assert [(s.label, s.old, s.new) for s in found.swaps] == [
        (1, "Good", "Bad"), (1, "film", "sort"), (1, "fine", "unheard"),
    ]  # fmt: skip
    assert found.old == (2, 1.0, 0.0)  # occurrences 2, 3, 1; all typical of pos
    assert found.new == (1, 0.0, 1 / 3)  # occurrences 2, 1, 0


def test_a_word_as_frequent_in_two_classes_is_typical_of_none() -> None:
    counts = Counts(data.load([("same here", "pos"), ("same there", "neg")]))
    assert not counts.is_typical("same", 0)
    assert not counts.is_typical("same", 1)


def test_a_phrase_occurs_at_most_as_often_as_its_rarest_word() -> None:
    assert Counts(TRAIN).by_class("bad film") == [1, 0]
    assert Counts(TRAIN).by_class("...") == [0, 0]


def test_classes_are_matched_by_name() -> None:
    turned = study(FOUND, labels=("POS", "NEG"), train=TRAIN, vectors=None)
    # Label 1 is now neg: bad and sort are typical of it, unheard is not.
    assert turned.new is not None
    assert turned.new.in_class == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="the victim of the run has"):
        study(FOUND, labels=("sports", "world"), train=TRAIN, vectors=None)


def test_both_sides_of_a_pair_are_counted() -> None:
    pairs = data.load([(("a man sleeps", "a man rests"), "yes"), (("a dog", "no dog"), "no")])
    assert Counts(pairs).by_class("man") == [0, 2]
    assert Counts(pairs).totals == [4, 6]


def test_cosines_by_hand() -> None:
    found = study(
        [fooled(1, "Good fine film", (0, "Bad"), (1, "good"), (2, "unheard"))],
        labels=LABELS, vectors=VECTORS,
    )  # fmt: skip
    assert found.cosines == (pytest.approx(-1.0), pytest.approx(0.5**0.5), None)
    figures = found.summary()
    assert figures["without_vector"] == 1
    assert figures["mean_cosine"] == pytest.approx((0.5**0.5 - 1) / 2)
    assert figures["original_words"] is None
    assert [i for i, n in enumerate(figures["cosine_histogram"]) if n] == [0, 17]  # 0.7 to 0.8


def test_nothing_swapped_has_no_figures() -> None:
    figures = study(FOUND[2:], labels=LABELS, train=TRAIN, vectors=VECTORS).summary()
    assert figures == {
        "swaps": 0,
        "original_words": dict.fromkeys(
            ("median_occurrences", "most_frequent_in_true_class", "unseen")
        ),
        "attack_words": dict.fromkeys(
            ("median_occurrences", "most_frequent_in_true_class", "unseen")
        ),
        "mean_cosine": None,
        "cosine_quartiles": None,
        "without_vector": 0,
        "cosine_histogram": [0] * BINS,
    }


@given(st.lists(st.floats(-1, 1) | st.none(), max_size=30))
def test_the_histogram_is_numpy_s(values: list[Any]) -> None:
    found = Swapped((), cosines=tuple(values))
    # Away from the borders, where the last digit decides.
    inside = [v for v in found.known if abs(v * BINS / 2 - round(v * BINS / 2)) > 1e-9]
    expected, _ = np.histogram(inside, bins=BINS, range=(-1, 1))
    assert Swapped((), cosines=tuple(inside)).histogram() == expected.tolist()
    assert sum(found.histogram()) == len(found.known)
    if len(found.known) > 1:
        quartiles = np.quantile(found.known, [0.25, 0.5, 0.75])
        assert found.summary()["cosine_quartiles"] == pytest.approx(quartiles)


WORDS = st.sampled_from(["ant", "bee", "cow", "dog", "eel"])


@given(
    st.lists(st.tuples(st.lists(WORDS, min_size=1), st.sampled_from(["x", "y", "z"])), min_size=1),
    st.lists(st.tuples(WORDS, st.integers(0, 2)), min_size=1),
)
def test_usage_is_that_of_a_plain_loop(texts: list[Any], asked: list[tuple[str, int]]) -> None:
    train = data.load([(" ".join(words), label) for words, label in texts], labels=["x", "y", "z"])
    classes = [[w for words, label in texts if label == c for w in words] for c in "xyz"]
    whole = Counter(w for words in classes for w in words)
    best = 0
    for word, label in asked:
        rates = [words.count(word) / len(words) if words else 0.0 for words in classes]
        best += max(rates) == rates[label] and rates.count(max(rates)) == 1
    found = Counts(train).usage(asked)
    assert found.median == median(whole[word] for word, _ in asked)
    assert found.in_class == best / len(asked)
    assert found.unseen == sum(whole[word] == 0 for word, _ in asked) / len(asked)
