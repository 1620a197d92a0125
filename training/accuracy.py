"""`python -m training.accuracy`: how often the shipped head finds a masked word of unseen text.

15 % of the tokens of test texts are masked at once, as in training; a prediction is right when the
token that stood there is the likeliest of all 30,522, or among the five likeliest. `words` counts
only tokens that are whole words of letters. The figures are written beside the head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from training.masks import Window, masked, shuffled, windows
from unfooled import data
from unfooled.lexicon import minilm_head
from unfooled.lexicon.masked_networks import DEFAULT, Opened, open_network
from unfooled.lexicon.word_pieces import WordPieces

TEXTS = {"mr": 800, "imdb": 150, "snli": 1000}
LENGTH, TOKENS, SEED = 128, 4096, 1


def write(*, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Measures the head on every test split and writes the figures; returns them."""
    opened = open_network(DEFAULT)
    tests = {}
    for name, limit in TEXTS.items():
        examples = data.load(name, split="test", limit=limit, seed=SEED).examples
        pool = windows([e.text for e in examples], opened.tokenizer, length=LENGTH)
        tests[name] = measured(opened, pool)
        print(name, tests[name], flush=True)
    figures = {"recipe": dict(recipe), "mask_share": 0.15, "test": tests}
    text = json.dumps(figures, indent=2)
    minilm_head.ACCURACY.write_text(text + "\n", encoding="utf-8", newline="\n")
    return figures


def measured(opened: Opened, pool: Sequence[Window]) -> dict[str, float]:
    """Top-1 and top-5 accuracy over all masked tokens of the windows, and over whole words."""
    rng = np.random.default_rng(SEED)
    special, mask = np.array(opened.tokenizer.all_special_ids), opened.tokenizer.mask_token_id
    whole = np.array(list(WordPieces(opened.tokenizer).words))
    ranks, words = [], []
    for part in shuffled(pool, TOKENS, rng=rng):
        batch = masked(part, special=special, mask=mask, words=None, rng=rng)
        with torch.inference_mode():
            logits = opened.network.logits(batch.inputs, batch.places)
        own = logits.gather(1, batch.targets[:, None])
        ranks.append((logits > own).sum(1).numpy())
        words.append(np.isin(batch.targets.numpy(), whole))
    rank, word = np.concatenate(ranks), np.concatenate(words)
    return {
        "masks": len(rank),
        "top_1": _share(rank < 1),
        "top_5": _share(rank < 5),
        "words": int(word.sum()),
        "words_top_1": _share(rank[word] < 1),
        "words_top_5": _share(rank[word] < 5),
    }


def _share(right: Any) -> float:
    return round(float(np.mean(right)), 4)


if __name__ == "__main__":
    before = json.loads(minilm_head.ACCURACY.read_text(encoding="utf-8"))
    write(recipe=before["recipe"])
