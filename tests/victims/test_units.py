"""Units are cut once, in context, and refused where their neighbours matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unfooled.victims import units as module
from unfooled.victims.units import Units, tokens


def made(tokenizer: Any, family: str) -> Units:
    reads = tokenizer(family)
    return Units(reads.backend_tokenizer, specials=reads.all_special_tokens)


@pytest.mark.parametrize("family", ["uncased", "bytes", "prefixed bytes", "metaspace"])
def test_units_have_the_ids_they_have_in_a_text(tokenizer: Any, family: str) -> None:
    backend = tokenizer(family).backend_tokenizer
    table = made(tokenizer, family)
    first = table.learn(["The"], gap="", first=True)["The"]
    inner = [(" ", "film,"), ("\t", "is"), ("  ", "warm!")]
    found = [table.learn([word], gap=gap)[word] or b"" for gap, word in inner]
    joined = b"".join([first or b"", *found])
    text = "The film,\tis  warm!"
    backend.no_truncation()
    expected = backend.encode(text, add_special_tokens=False).ids
    assert np.frombuffer(joined, dtype=np.int64).tolist() == expected


@pytest.mark.parametrize(
    "unit",
    [
        " [MASK]",
        " a[SEP]b",
        " film ",
        " \u0301x",
        " \u200bfilm",
        " film\u200b",
        " \xa0x",
        " \ud800",
        "x\udfffy",
    ],
)
def test_units_that_lean_on_others_are_refused(tokenizer: Any, unit: str) -> None:
    gap, word = unit[: len(unit) - len(unit.lstrip(" "))], unit.lstrip(" ")
    assert made(tokenizer, "uncased").learn([word], gap=gap)[word] is None


@pytest.mark.parametrize("unit", [" ❤️", " cafe\u0301", " a\u200bb", " 好", " x y", "\n"])
def test_odd_characters_inside_are_no_obstacle(tokenizer: Any, unit: str) -> None:
    assert made(tokenizer, "uncased").learn([unit[1:]], gap=unit[0])[unit[1:]] is not None


def test_only_tokenizers_that_split_at_spaces_are_usable(tokenizer: Any) -> None:
    assert made(tokenizer, "metaspace").usable
    assert not made(tokenizer, "unsplit").usable
    reads = tokenizer("uncased")
    assert not Units(reads.backend_tokenizer, specials=["two words"]).usable


def test_each_unit_is_cut_once_and_memory_is_bounded(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(tokenizer, "uncased")
    monkeypatch.setattr(module, "_MOST", 3)
    for word in ("one", "two", "three", "four", "five", "six"):
        known = table.learn([word, "film"], gap=" ")
        assert known[word] is not None
        assert known["film"] is not None
        assert len(known) <= 6


def test_what_follows_a_special_token_is_checked(tokenizer: Any) -> None:
    assert made(tokenizer, "uncased").probes_hold("[UNK]", [" ", "\t", "\n\n"])
    bytes_ = made(tokenizer, "prefixed bytes")
    assert bytes_.probes_hold("<unk>", [" "])
    assert not bytes_.probes_hold("<unk>", [" ", "\t"])  # a space is put before the tab


def test_tokens_counts_ids() -> None:
    assert (tokens(None), tokens(b""), tokens(bytes(24))) == (0, 0, 3)
