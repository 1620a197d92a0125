"""Units are cut once, in context, and refused where their neighbours matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unfooled.victims import units as module
from unfooled.victims.frames import pack
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


_letters = st.sampled_from("aefilmnou XY19'.,!-()▁Ġ’éñﬁ🙂❤\ufe0f\u200b\u0301\u3000好")
_words = st.sampled_from(["film", "Movie", "n't", "x y", ""]) | st.text(_letters, max_size=5)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    family=st.sampled_from(["uncased", "cased", "bytes", "prefixed bytes", "metaspace"]),
    words=st.lists(_words, max_size=12),
    gap=st.sampled_from([" ", "  ", "\t", "\n"]),
)
def test_words_learnt_together_are_what_each_is_alone(
    tokenizer: Any, family: str, words: list[str], gap: str
) -> None:
    backend, table = tokenizer(family).backend_tokenizer, made(tokenizer, family)
    known = table.learn(words, gap=gap)
    anchor = backend.encode("a", add_special_tokens=False).ids
    for word in words:
        assert made(tokenizer, family).learn([word], gap=gap)[word] == known[word]
        if known[word] is not None:
            alone = backend.encode("a" + gap + word, add_special_tokens=False).ids
            assert pack(alone) == pack(anchor) + known[word]


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
