"""The head that is shipped: its size, its arithmetic, and what it finds."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from unfooled import data
from unfooled.companions import Request
from unfooled.errors import InputError
from unfooled.lexicon import masked_lm, minilm_head
from unfooled.lexicon.minilm_head import ACCURACY, FILE, Head


def test_the_file_is_small_and_whole() -> None:
    assert FILE.stat().st_size <= 10_000_000
    weights = load_file(FILE)
    assert all(w.dtype == torch.float16 and bool(w.isfinite().all()) for w in weights.values())
    assert sum(name.endswith(".up") for name in weights) == 36  # six matrices in each of six layers


def test_the_figures_beside_it_are_better_than_a_frozen_encoders() -> None:
    figures = json.loads(ACCURACY.read_text(encoding="utf-8"))
    assert set(figures["test"]) == {"mr", "imdb", "snli"}
    for found in figures["test"].values():
        assert found["top_1"] > 0.115
        assert found["top_5"] > 0.213


def test_the_head_by_hand() -> None:
    head = Head(width=2, layers=1, vocabulary=3)
    with torch.no_grad():
        head.mix.copy_(torch.tensor([0.0, np.log(3.0)]))  # a quarter and three quarters
        head.transform.weight.copy_(torch.eye(2))
        head.transform.bias.zero_()
        head.out.weight.copy_(2 * torch.eye(2))
        head.bias.copy_(torch.tensor([0.0, 10.0, 20.0]))
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    states = [torch.tensor([[40.0, 0.0]]), torch.tensor([[40.0, 0.0]])]
    # Mixed (40, 0), through gelu (40, 0), normed (1, -1), doubled (2, -2).
    assert head(states, table).tolist() == [pytest.approx([2.0, 8.0, 20.0], abs=1e-4)]


def test_a_file_of_something_else_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from transformers import AutoModel

    from tiny_masked_lm import write_bert

    encoder = AutoModel.from_pretrained(write_bert(tmp_path / "bert"))
    save_file({"mask": torch.zeros(16)}, tmp_path / "head.safetensors")
    with pytest.raises(InputError, match="is not a head of the minilm asset"):
        minilm_head.load(encoder, tmp_path / "head.safetensors", mask=4)


@pytest.mark.assets("minilm", "mr")
def test_masked_words_of_unseen_sentences_are_found() -> None:
    model = masked_lm.load("minilm")
    rng = np.random.default_rng(0)
    requests, words = [], []
    for example in data.load("mr", split="test", limit=150, seed=0):
        plain = [i for i, word in enumerate(example.text.words) if word.isalpha()]
        for position in rng.choice(plain, min(2, len(plain)), replace=False):
            # The word itself is never proposed, so another one stands in its place.
            text = example.text.swap({int(position): "zzzz"})
            requests.append(Request(text, int(position), 1))
            words.append(example.text.words[position].lower())
    found = [answer[0].word for answer in model.propose(requests)]
    right = np.mean([one == other for one, other in zip(found, words, strict=True)])
    assert right > 0.2
