"""`python -m training.minilm_head`: trains the masked-word head of the `minilm` asset.

Recipe. Text: the train splits of the assets in `SHARES`, cut into windows of 96 tokens, so many
tokens of each; no dev or test text is read. In every window 15 % of the tokens are masked, 2.5 %
are kept and 2.5 % are replaced by a random one, and all of these are predicted: the kept and the
replaced ones because BERT-Attack reads predictions where nothing is masked. Learned are additions
of rank 64 to every matrix of the six layers, the biases and norms of the encoder, the vector of
the mask, and the head: a mix of the seven states, a transform and a bias. The decoder is the
asset's table of word vectors as it is. The loss is cross-entropy over the entries that the texts
use. AdamW, warm-up over the first 5 % of the steps, then linear decay to zero; no dropout;
matrices are multiplied in bfloat16. Everything is drawn from one seed.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.random import Generator
from torch import Tensor, nn
from torch.nn.utils import parametrize

from training.masks import Ids, Masked, Window, masked, shuffled, windows
from unfooled import assets, data
from unfooled.lexicon import minilm_head
from unfooled.lexicon.minilm_head import Head

SHARES = {"imdb": 0.47, "snli": 0.20, "bbc": 0.14, "mr": 0.10, "newsgroups": 0.09}
RANK, LENGTH, SEED = 64, 96, 0
CORPUS, TOKENS, STEPS = 3_200_000, 1536, 2000  # tokens of text, tokens of a batch, batches
RATE, WARM, DECAY = 1e-3, 100, 0.25
_RARE = 2  # an entry seen less often than this is not predicted


class LowRank(nn.Module):
    """A matrix with the product of two thin ones added."""

    def __init__(self, matrix: Tensor, generator: torch.Generator) -> None:
        super().__init__()
        rows, columns = matrix.shape
        self.up = nn.Parameter(torch.zeros(rows, RANK))
        down = torch.randn(RANK, columns, generator=generator) / math.sqrt(columns)
        self.down = nn.Parameter(down)

    def forward(self, matrix: Tensor) -> Tensor:
        return matrix + self.up @ self.down


class Learner(nn.Module):
    """The encoder with what is learned about it, and the head."""

    def __init__(self, folder: Path, prior: Tensor, *, seed: int) -> None:
        super().__init__()
        self.encoder: Any = transformers.AutoModel.from_pretrained(
            str(folder), attn_implementation="eager"
        ).eval()
        self.encoder.requires_grad_(False)
        generator = torch.Generator().manual_seed(seed)
        self.low_rank = nn.ModuleDict()
        for name, module in self.encoder.encoder.named_modules():
            if isinstance(module, nn.Linear):
                added = LowRank(module.weight, generator)
                self.low_rank[name.replace(".", "/")] = added
                parametrize.register_parametrization(module, "weight", added)
        self.small = {
            name: parameter
            for name, parameter in self.encoder.named_parameters()
            if name.endswith(".bias") or "LayerNorm" in name
        }
        for parameter in self.small.values():
            parameter.requires_grad_(True)
        config = self.encoder.config
        self.head = _start(Head(
            width=config.hidden_size,
            layers=config.num_hidden_layers,
            vocabulary=config.vocab_size,
        ), prior, generator=generator)
        self.mask = nn.Parameter(torch.zeros(config.hidden_size))  # added to the asset's vector

    @property
    def table(self) -> Tensor:
        weight: Tensor = self.encoder.get_input_embeddings().weight
        return weight

    def loss(self, batch: Masked, kept: Tensor, *, mask: int) -> Tensor:
        """Cross-entropy over the kept entries at the places to predict."""
        ids = batch.inputs["input_ids"]
        vectors = self.table[ids] + (ids == mask).unsqueeze(-1) * self.mask
        rest = {name: v for name, v in batch.inputs.items() if name != "input_ids"}
        states = self.encoder(inputs_embeds=vectors, output_hidden_states=True, **rest)
        query = self.head.query([s[batch.places] for s in states.hidden_states])
        logits = (query @ self.table[kept].T).float() + self.head.bias[kept]
        place = torch.full((len(self.table),), -100)
        place[kept] = torch.arange(len(kept))
        return nn.functional.cross_entropy(logits, place[batch.targets])

    def stored(self) -> dict[str, Tensor]:
        """What the package ships, in half precision."""
        found = {f"encoder.{name}": value for name, value in self.small.items()}
        for name, module in self.low_rank.items():
            found |= {f"low_rank.{name.replace('/', '.')}.{k}": v for k, v in module.named_parameters()}
        found |= {f"head.{name}": value for name, value in self.head.named_parameters()}
        found["mask"] = self.table[_MASK_ID] + self.mask
        return {name: v.detach().to(torch.float16).contiguous() for name, v in found.items()}


def main() -> None:
    """Trains, writes the head into the package."""
    parser = argparse.ArgumentParser(description="Trains the masked-word head of minilm.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=minilm_head.FILE)
    options = parser.parse_args()
    train(options.steps, out=options.out)


def train(steps: int, *, out: Path) -> None:
    from safetensors.torch import save_file

    torch.set_num_threads(1)
    rng = np.random.default_rng(SEED)
    folder = Path(assets.get("minilm"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    pool = corpus(tokenizer, CORPUS, rng=rng)
    counts = np.bincount(np.concatenate([w.ids for w in pool]), minlength=len(tokenizer))
    special = np.array(tokenizer.all_special_ids)
    counts[special] = 0
    kept = np.flatnonzero(counts >= _RARE)
    prior = torch.from_numpy(np.log((counts + 0.1) / counts.sum())).float()
    learner = Learner(folder, prior, seed=SEED)
    batches = endless(pool, rng=rng)
    print(f"{len(pool)} windows, {counts.sum()} tokens, {len(kept)} entries, "
          f"{sum(v.numel() for v in learner.stored().values())} numbers", flush=True)
    parameters = [p for p in learner.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.98), weight_decay=0.0)
    def rate(step: int) -> float:
        n = steps
        if Path("/tmp/mh/steps").exists():
            n = int(Path("/tmp/mh/steps").read_text())
        return max(0.0, min(1.0, (step + 1) / WARM, (n - step) / (DECAY * n)))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    began, mean = time.time(), 0.0
    numbers = torch.from_numpy(kept)
    for step in range(steps):
        batch = masked(next(batches), special=special, mask=tokenizer.mask_token_id, words=kept, rng=rng)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = learner.loss(batch, numbers, mask=tokenizer.mask_token_id)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        mean += loss.item() / 50
        if step % 50 == 49:
            print(f"step {step + 1}: loss {mean:.3f}, {time.time() - began:.0f} s", flush=True)
            mean = 0.0
        if schedule.get_last_lr()[0] == 0.0:
            break
        if step % 200 == 199:
            save_file(learner.stored(), out)
    save_file(learner.stored(), out)


def corpus(tokenizer: Any, tokens: int, *, rng: Generator) -> list[Window]:
    """Windows of the train splits, each asset with its share of so many tokens; small ones twice."""
    pool: list[Window] = []
    for name, share in SHARES.items():
        examples = data.load(name, split="train").examples
        left, found = int(share * tokens), []
        while left > 0:
            for block in np.array_split(rng.permutation(len(examples)), 1 + len(examples) // 500):
                for window in windows([examples[i].text for i in block], tokenizer, length=LENGTH):
                    found.append(window)
                    left -= len(window)
                if left <= 0:
                    break
        pool += found
        print(name, len(found), flush=True)
    return pool


def endless(pool: list[Window], *, rng: Generator) -> Iterator[list[Window]]:
    while True:
        yield from shuffled(pool, TOKENS, rng=rng)


def _start(head: Head, prior: Tensor, *, generator: torch.Generator) -> Head:
    """The head before training: words as frequent as in the texts, whatever is around them."""
    with torch.no_grad():
        head.bias.copy_(prior)
        head.mix[-1] = 1.0
        for linear in (head.transform, head.out):
            linear.weight.copy_(torch.randn(linear.weight.shape, generator=generator) * 0.03)
        head.transform.bias.zero_()
    return head


_MASK_ID = 103

if __name__ == "__main__":
    main()
