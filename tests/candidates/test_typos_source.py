"""Misspellings: how far they are, what they spare, and that only word and seed decide."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.candidates import explain, load
from unfooled.candidates.typos import _KINDS, Typos
from unfooled.errors import InputError
from unfooled.lexicon.edits import HOMOGLYPHS, beside, distance
from unfooled.text import Text

words = st.text(alphabet="abcdeflmo", min_size=1, max_size=9)


def typos(word: str, **options: object) -> tuple[str, ...]:
    return Typos(stopwords=None, **options)(Text.parse(word)).get(0, ())  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(words, st.sampled_from(sorted(_KINDS)), st.booleans())
def test_each_is_one_edit_away_and_a_swap_two(word: str, kind: str, inner: bool) -> None:
    found = typos(word, kinds=kind, k=1000, inner=inner)
    assert word not in found
    assert len(set(found)) == len(found)
    for typo in found:
        assert distance(word, typo) == (2 if kind == "swap" else 1)
    if len(word) == 1:
        assert found == ()


@settings(deadline=None, max_examples=60)
@given(words.filter(lambda word: len(word) > 1 and word != "ca"))  # `ca` is half of `can't`
def test_the_kinds_are_complete(word: str) -> None:
    """Each kind against another way to list it."""
    size = range(len(word))
    all_of = {kind: set(typos(word, kinds=kind, k=10_000)) for kind in _KINDS}
    free = {kind: set(typos(word, kinds=kind, k=10_000, inner=False)) for kind in _KINDS}
    assert all_of["space"] == {" ".join([word[:i], word[i:]]) for i in size if i}
    assert free["delete"] == {"".join(word[j] for j in size if j != i) for i in size}
    assert all_of["delete"] == {word[:i] + word[i + 1 :] for i in size[1:-1]}
    turned = {word[:i] + word[j] + word[i] + word[j + 1 :] for i, j in pairwise(size)}
    assert free["swap"] == turned - {word}
    assert {t[0] for t in all_of["swap"]} <= {word[0]}
    assert {t[-1] for t in all_of["swap"]} <= {word[-1]}
    for typo in all_of["keyboard"]:
        changed = [(a, b) for a, b in zip(word, typo, strict=True) if a != b]
        assert len(changed) == 1
        assert changed[0][1] in beside(changed[0][0])
    glyphs = [HOMOGLYPHS[letter] for letter in word if letter in HOMOGLYPHS]
    assert len(all_of["homoglyph"]) == len(glyphs)
    assert len(all_of["substitute"]) == 25 * len(word)
    assert all(len(t) == len(word) + 1 for t in all_of["insert"])


def test_the_first_and_last_letter_by_hand() -> None:
    assert set(typos("film", kinds="delete")) == {"flm", "fim"}
    assert set(typos("film", kinds="swap")) == {"flim"}
    assert set(typos("film", kinds="swap", inner=False)) == {"iflm", "flim", "fiml"}
    assert set(typos("film", kinds="delete", inner=False)) == {"ilm", "flm", "fim", "fil"}
    assert set(typos("film", kinds="space")) == {"f ilm", "fi lm", "fil m"}
    assert typos("it", kinds="delete/swap") == ()


def test_kinds_take_turns() -> None:
    found = typos("terrible", k=4, kinds="swap/substitute/delete/insert")
    assert [len(typo) - 8 for typo in found] == [0, 0, -1, 1]
    assert sorted(found[0]) == sorted("terrible")
    assert len(typos("terrible")) == 8
    assert typos("terrible", k=3) == typos("terrible")[:3]


def test_swaps_keep_the_case_of_the_word() -> None:
    for shown in ("Film", "FILM"):
        text = Text.parse(shown)
        for typo in Typos(stopwords=None, kinds="delete/swap/space")(text)[0]:
            made = text.swap({0: typo}).words[0]
            assert made.lower() == typo
            assert made[0] == "F"
    assert set(typos("iPhone", kinds="delete")) == {"ihone", "iPone", "iPhne", "iPhoe"}
    # Capital homoglyphs need not look alike.
    assert typos("ACE", kinds="homoglyph") == ()
    assert all(typo[0] == "a" for typo in typos("Ace", kinds="homoglyph"))


def test_reasons(tiny: dict[str, str]) -> None:
    rows = explain(Typos(stopwords=tiny["stopwords"]), "The x 42 film ... I")
    reasons = ["stop word", "a single letter", "a single letter", "", "punctuation"]
    assert [row.reason for row in rows] == [*reasons, "a single letter"]
    assert [row.reason for row in explain(Typos(kinds="swap", stopwords=None), "at")] == [
        "no letter to change"
    ]


def test_seeds_differ_and_the_place_does_not_matter() -> None:
    assert typos("terrible", seed=1) != typos("terrible", seed=2)
    source = Typos(stopwords=None)
    found = source(Text.parse("terrible film terrible"))
    assert found[0] == found[2] == typos("terrible")


def test_the_answer_is_the_same_whatever_the_hash_seed() -> None:
    code = (
        "from unfooled.candidates import load; from unfooled.text import Text; "
        "print(load('typos:stopwords=none,k=20')(Text.parse('a terrible film')))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1
    assert b"terr" in outputs.pop()


def test_specs() -> None:
    assert load("typos:k=4,kinds=swap/delete,inner=false") == Typos(
        k=4, kinds="swap/delete", inner=False
    )
    with pytest.raises(InputError, match="typos has no kind 'swaps'; did you mean 'swap'"):
        load("typos:kinds=swaps/delete")
    with pytest.raises(InputError, match="k is at least 1"):
        Typos(k=0)
