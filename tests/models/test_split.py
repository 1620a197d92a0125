"""Held-out examples: chosen by the text alone."""

from __future__ import annotations

import random

import pytest
from toy_models import sentences, toy_set

from unfooled.data import Dataset
from unfooled.errors import InputError
from unfooled.models.split import hold_out, split
from unfooled.text import Example, Text


def numbered(count: int) -> tuple[Example, ...]:
    return tuple(Example(Text.parse(f"text number {n}"), n % 2, str(n)) for n in range(count))


def test_a_tenth_is_held_out_and_nothing_is_lost():
    examples = numbered(500)
    parts = hold_out(examples)
    assert len(parts.dev) == 50
    assert {e.id for e in parts.train} | {e.id for e in parts.dev} == {e.id for e in examples}
    assert not {e.id for e in parts.train} & {e.id for e in parts.dev}


def test_the_order_does_not_change_the_choice():
    examples = list(numbered(200))
    chosen = {e.id for e in hold_out(tuple(examples)).dev}
    random.Random(1).shuffle(examples)
    assert {e.id for e in hold_out(tuple(examples)).dev} == chosen


def test_equal_texts_stay_together():
    parts = hold_out(numbered(60) * 3)
    assert not {e.text for e in parts.train} & {e.text for e in parts.dev}
    assert len(parts.dev) == 18


def test_two_texts_are_enough_and_one_is_not():
    parts = hold_out(numbered(2))
    assert (len(parts.train), len(parts.dev)) == (1, 1)
    with pytest.raises(InputError, match="switch early stopping off"):
        hold_out(numbered(1) * 5)


def test_a_given_dev_split_is_used_and_none_is_made_without_early_stopping():
    data, dev = toy_set(numbered(20)), toy_set(numbered(4))
    assert split(data, dev, early_stopping=True) == (data.examples, dev.examples)
    assert split(data, dev, early_stopping=False) == (data.examples, dev.examples)
    assert split(data, None, early_stopping=False) == (data.examples, ())
    assert len(split(data, None, early_stopping=True).dev) == 2


def test_other_labels_in_the_dev_data_are_refused():
    with pytest.raises(InputError, match="same order"):
        split(
            toy_set(numbered(4)),
            toy_set(numbered(4), ("positive", "negative")),
            early_stopping=True,
        )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (toy_set(()), "has no examples"),
        (toy_set(numbered(3), ("only",)), "needs two or more"),
        (toy_set((*numbered(2), Example(Text.parse("x"), 2, "x"))), "example x: label 2"),
        (toy_set((*numbered(2), Example(Text.pair("x", "y"), 1, "p"))), r"mixes .* \(example p\)"),
    ],
)
def test_unusable_data_is_named(data: Dataset, message: str):
    with pytest.raises(InputError, match=message):
        split(data, None, early_stopping=False)


def test_the_toy_data_is_balanced():
    labels = [example.label for example in sentences(40, seed=1).examples]
    assert sum(labels) == 20
