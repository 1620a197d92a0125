"""The training script of the masked-word head: its masks, and that what it stores is what it learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import save_file

from tiny_masked_lm import LINES, wordpiece, write_bert
from training.learner import Learner
from training.masks import KEPT, MASKED, REPLACED, Window, masked, shuffled, windows
from unfooled.lexicon import minilm_head
from unfooled.text import Text


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return wordpiece()


@pytest.fixture(scope="module")
def pool(tokenizer: Any) -> list[Window]:
    return windows([Text.parse(line) for line in LINES * 40], tokenizer, length=12)


def test_windows_hold_every_token_once(tokenizer: Any) -> None:
    text = Text.parse(" ".join(LINES))
    found = windows([text], tokenizer, length=12)
    assert all(len(w) <= 12 for w in found)
    inner = [number for w in found for number in w.ids[1:-1]]
    whole = tokenizer(str(text), add_special_tokens=False)["input_ids"]
    assert inner == whole[: len(inner)]
    assert len(whole) - len(inner) < 4  # an end too short to be a window is left out


def test_a_pair_keeps_its_sides(tokenizer: Any) -> None:
    (found,) = windows([Text.pair("two men are playing", "nobody is")], tokenizer, length=20)
    assert found.types.tolist() == [0] * 6 + [1] * 3


def test_batches_hold_every_window_once(pool: list[Window]) -> None:
    batches = list(shuffled(pool, 60, rng=np.random.default_rng(0)))
    assert all(max(map(len, b)) * len(b) <= 60 for b in batches)
    assert sorted(id(w) for b in batches for w in b) == sorted(map(id, pool))


def test_shares_of_masks(tokenizer: Any, pool: list[Window]) -> None:
    special, mask = np.array(tokenizer.all_special_ids), tokenizer.mask_token_id
    words = np.array([40])
    rng = np.random.default_rng(0)
    batch = masked(pool, special=special, mask=mask, words=words, rng=rng)
    before = masked(pool, special=special, mask=mask, words=None, rng=np.random.default_rng(0))
    ids, (rows, columns) = batch.inputs["input_ids"], batch.places
    total = sum(len(w) - 2 for w in pool)
    seen = ids[rows, columns]
    assert len(rows) / total == pytest.approx(MASKED + KEPT + REPLACED, abs=0.02)
    assert float((seen == mask).sum()) / total == pytest.approx(MASKED, abs=0.02)
    assert float((seen == batch.targets).sum()) / total == pytest.approx(KEPT, abs=0.01)
    assert float((seen == 40).sum()) / total == pytest.approx(REPLACED, abs=0.01)
    for row, column, target in zip(rows, columns, batch.targets, strict=True):
        assert pool[row].ids[column] == target
        assert target not in special
    assert bool((before.inputs["input_ids"][before.places] == mask).all())


def test_what_is_stored_answers_as_what_was_learned(tmp_path: Path, pool: list[Window]) -> None:
    folder = write_bert(tmp_path / "bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    size, mask = len(tokenizer), tokenizer.mask_token_id
    learner = Learner(folder, torch.zeros(size), mask=mask, rank=3, seed=0)
    optimiser = torch.optim.SGD([p for p in learner.parameters() if p.requires_grad], lr=0.1)
    special = np.array(tokenizer.all_special_ids)
    kept = torch.arange(size)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(12):
        batch = masked(pool[:40], special=special, mask=mask, words=np.arange(5, size), rng=rng)
        loss = learner.loss(batch, kept)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert np.mean(losses[-3:]) < losses[0]
    save_file(learner.stored(), tmp_path / "head.safetensors")
    encoder = transformers.AutoModel.from_pretrained(folder).eval()
    network = minilm_head.load(encoder, tmp_path / "head.safetensors", mask=mask)
    with torch.inference_mode():
        logits = network.logits(batch.inputs, batch.places)
        expected = learner.loss(batch, kept).item()
    # Half precision costs a little; an encoder left as it was would be far off.
    found = torch.nn.functional.cross_entropy(logits, batch.targets).item()
    assert found == pytest.approx(expected, abs=0.01)
    plain = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        before = plain(**batch.inputs).last_hidden_state
        after = encoder(**batch.inputs).last_hidden_state
    assert float((before - after).abs().max()) > 0.01
