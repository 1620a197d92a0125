"""`python -m training.minilm_head`: trains the masked-word head of the `minilm` asset.

Recipe. Text: the train splits of the assets in `SHARES`, cut into windows of 96 tokens, with so
large a share of each; no dev or test text is read. In every window 15 % of the tokens are masked,
2.5 % kept and 2.5 % replaced by a random one, and all of these are predicted: the kept and the
replaced ones because BERT-Attack reads predictions where nothing is masked. Learned are additions
of rank 64 to every matrix of the six layers, the biases and norms of the encoder, the vector of
the mask, and the head: a mix of the seven states, a transform and a bias. The decoder is the
asset's table of word vectors as it is. The loss is cross-entropy over the entries that the texts
use. AdamW at a constant rate, after a warm-up and before a linear decay over the last quarter; no
dropout; matrices are multiplied in bfloat16. Everything is drawn from one seed.

The head is stored in half precision, about 6 MB, and then measured by `training.accuracy`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.random import Generator
from safetensors.torch import save_file
from torch import Tensor, nn

from training import accuracy
from training.learner import Learner
from training.masks import Window, masked, shuffled, windows
from unfooled import assets, data
from unfooled.lexicon import minilm_head

SHARES = {"imdb": 0.47, "snli": 0.20, "bbc": 0.14, "mr": 0.10, "newsgroups": 0.09}
CORPUS, LENGTH = 3_200_000, 96  # tokens of text, and of a window
STEPS, TOKENS = 600, 1536  # batches, and tokens of a batch
RATE, WARM, DECAY = 1e-3, 100, 0.25  # rate of learning, steps to reach it, share that ends it
RANK, SEED = 64, 0

_RARE = 2  # an entry seen less often than this is not predicted
_BLOCK = 500  # texts tokenised at once


def main() -> None:
    """Trains the head, writes it into the package and measures it there."""
    parser = argparse.ArgumentParser(description="Trains the masked-word head of minilm.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    save_file(train(options.steps), minilm_head.FILE)
    accuracy.write(recipe={"steps": options.steps, "rank": RANK, "seed": SEED})


def train(steps: int) -> dict[str, Tensor]:
    """What is learned in so many steps, in half precision."""
    rng = np.random.default_rng(SEED)
    folder = Path(assets.get("minilm"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    special, mask = np.array(tokenizer.all_special_ids), tokenizer.mask_token_id
    pool = corpus(tokenizer, rng=rng)
    counts = np.bincount(np.concatenate([w.ids for w in pool]), minlength=len(tokenizer))
    counts[special] = 0
    kept = np.flatnonzero(counts >= _RARE)
    prior = torch.from_numpy(np.log((counts + 0.1) / counts.sum())).float()
    learner = Learner(folder, prior, mask=mask, rank=RANK, seed=SEED)
    batches = (
        masked(batch, special=special, mask=mask, words=kept, rng=rng)
        for batch in endless(pool, rng=rng)
    )
    fit(learner, batches, torch.from_numpy(kept), steps=steps)
    return learner.stored()


def fit(learner: Learner, batches: Iterator[Any], kept: Tensor, *, steps: int) -> None:
    """Takes so many steps; prints the mean loss of every 50."""
    parameters = [p for p in learner.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM, (steps - step) / (DECAY * steps))
    )
    began, losses = time.time(), []
    for step in range(steps):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = learner.loss(next(batches), kept)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            seconds = time.time() - began
            print(f"step {step + 1}: loss {np.mean(losses[-50:]):.3f}, {seconds:.0f} s", flush=True)


def corpus(tokenizer: Any, *, rng: Generator) -> list[Window]:
    """Windows of the train splits by their shares; an asset that is too small is read again."""
    pool: list[Window] = []
    for name, share in SHARES.items():
        examples = data.load(name, split="train").examples
        left = int(share * CORPUS)
        while left > 0:
            order = rng.permutation(len(examples))
            for block in np.array_split(order, 1 + len(examples) // _BLOCK):
                texts = [examples[i].text for i in block]
                found = windows(texts, tokenizer, length=LENGTH)
                pool += found
                left -= sum(map(len, found))
                if left <= 0:
                    break
    return pool


def endless(pool: list[Window], *, rng: Generator) -> Iterator[list[Window]]:
    """Batches of the windows, over and over, each time in another order."""
    while True:
        yield from shuffled(pool, TOKENS, rng=rng)


if __name__ == "__main__":
    main()
