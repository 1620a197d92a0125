"""The tokenizer as the victim uses it gives what transformers' own call gives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unfooled.errors import InputError
from unfooled.text import Source
from unfooled.victims.encoder import Encoder

TEXTS: list[Source] = ["the film", "", "A warm, funny story! 🙂 [MASK]", "never " * 40]
PAIRS: list[Source] = [("the film", "a story"), ("", ""), ("film " * 30, "never " * 20)]


@pytest.mark.parametrize("family", ["uncased", "cased", "bytes", "prefixed bytes", "metaspace"])
@pytest.mark.parametrize("limit", [None, 9, 64])
@pytest.mark.parametrize("side", ["left", "right"])
def test_encode_is_transformers_own_call(
    tokenizer: Any, family: str, limit: Any, side: str
) -> None:
    reads = tokenizer(family)
    before = reads.truncation_side
    reads.truncation_side = side
    made = Encoder(reads, limit=limit)
    for sources in (TEXTS, PAIRS):
        columns = [list(c) for c in zip(*sources, strict=True)] if sources is PAIRS else [sources]
        expected = reads(*columns, truncation=limit is not None, max_length=limit)
        found = made.encode(sources)
        assert [np.frombuffer(r, np.int64).tolist() for r in found.ids] == expected["input_ids"]
        if found.types:
            assert [list(t) for t in found.types] == expected["token_type_ids"]
        else:
            assert not any(map(any, expected.get("token_type_ids", [])))
    reads.truncation_side = before


def test_types_are_told_only_where_a_model_reads_them(tokenizer: Any) -> None:
    assert Encoder(tokenizer("uncased"), limit=64).encode(PAIRS).types
    assert not Encoder(tokenizer("uncased"), limit=64).encode(TEXTS).types
    assert not Encoder(tokenizer("bytes"), limit=64).encode(PAIRS).types


def test_the_unknown_word_is_the_tokenizers_or_the_next_best(tokenizer: Any) -> None:
    from transformers import PreTrainedTokenizerFast

    backend = tokenizer("bytes").backend_tokenizer

    def unknown(**tokens: str) -> str:
        reads = PreTrainedTokenizerFast(tokenizer_object=backend, **tokens)
        return Encoder(reads, limit=64).unknown

    assert unknown(unk_token="<unk>", mask_token="<mask>", pad_token="<pad>") == "<unk>"
    assert unknown(mask_token="<mask>", pad_token="<pad>") == "<mask>"
    assert unknown(pad_token="<pad>") == "<pad>"
    assert unknown() == "[UNK]"


def test_slow_tokenizers_are_refused() -> None:
    with pytest.raises(InputError, match=r"no fast tokenizer.*tokenizer\.json"):
        Encoder(SimpleNamespace(is_fast=False), limit=8)
