"""Blocks of one shape: every text once, in a shape that follows from its own length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep_toys import BOUNDED, KNOWN, STRANGE, victim
from unfooled.victims.blocks import blocks
from unfooled.victims.huggingface import HuggingFaceVictim

Folder = Callable[[str], Path]


@given(st.lists(st.integers(0, 200), max_size=300), st.integers(1, 200) | st.none())
def test_every_text_is_in_one_block_of_its_own_shape(lengths: list[int], limit: int | None) -> None:
    found = list(blocks(lengths, limit=limit))
    assert sorted(n for block in found for n in block.texts) == list(range(len(lengths)))
    for texts, rows, width in found:
        assert rows[: len(texts)] == texts
        assert set(rows) == set(texts)
        for number in texts:
            (alone,) = blocks([lengths[number]], limit=limit)
            assert (width, len(rows)) == (alone.width, len(alone.rows))
            assert width >= min(lengths[number], limit or width)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_texts_in_blocks_score_as_if_alone(folder: Folder, kind: str) -> None:
    made = HuggingFaceVictim.load(folder(kind))
    single = ["the film", "", "film " * 40, "film " * 200, "a warm , funny story", *["x"] * 20]
    pairs = [("the film", "a story"), ("film " * 90, "never " * 80), ("a", "")]
    for sources in (single, pairs):
        expected = np.concatenate([made.scores([source]) for source in sources])
        assert made.in_blocks(sources) == pytest.approx(expected, abs=1e-5)
        assert made.alone(sources) == pytest.approx(expected, abs=0)  # on a CPU one by one


def text_of(words: int, rng: np.random.Generator) -> str:
    return " ".join(rng.choice([*KNOWN, *STRANGE], words))


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("arch", BOUNDED)
def test_so_do_those_of_word_models(arch: str, pair: bool) -> None:
    """Empty ones, of the widths of one, two and three blocks, cut ones, more than a block has rows."""
    rng, made = np.random.default_rng(3), victim(arch, pair=pair, max_words=70)
    lengths = [0, 1, 31, 32, 33, 64, 65, 70, 90, *range(4, 24)]
    single = [text_of(n, rng) for n in lengths]
    sources = list(zip(single, single[::-1], strict=True)) if pair else single
    expected = np.concatenate([made.scores([source]) for source in sources])
    scale = max(1.0, float(np.abs(expected).max()))
    assert made.in_blocks(sources) == pytest.approx(expected, abs=1e-5 * scale)
    assert made.alone(sources) == pytest.approx(expected, abs=0)  # on a CPU one by one
    assert made.in_blocks([]).shape == (0, 3)
