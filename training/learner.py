"""The `minilm` encoder with the parts of it that the masked-word head learns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.nn.utils import parametrize

from training.masks import Masked
from unfooled.lexicon.minilm_head import Head


class LowRank(nn.Module):
    """A matrix with the product of two thin ones added."""

    def __init__(self, matrix: Tensor, *, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        rows, columns = matrix.shape
        self.up = nn.Parameter(torch.zeros(rows, rank))
        down = torch.randn(rank, columns, generator=generator) / math.sqrt(columns)
        self.down = nn.Parameter(down)

    def forward(self, matrix: Tensor) -> Tensor:
        return matrix + self.up @ self.down


class Learner(nn.Module):
    """The encoder with what is learned about it, and the head; `prior` (vocabulary,) is its bias."""

    def __init__(self, folder: Path, prior: Tensor, *, mask: int, rank: int, seed: int) -> None:
        super().__init__()
        # The fused attention of CPUs is slower backwards than the plain one.
        self.encoder: Any = transformers.AutoModel.from_pretrained(
            str(folder), attn_implementation="eager"
        ).eval()
        self.encoder.requires_grad_(False)
        self._mask_id = mask
        generator = torch.Generator().manual_seed(seed)
        self.low_rank: dict[str, LowRank] = {}
        for name, module in self.encoder.encoder.named_modules():
            if isinstance(module, nn.Linear):
                added = LowRank(module.weight, rank=rank, generator=generator)
                self.low_rank[name] = added
                parametrize.register_parametrization(module, "weight", added)
        self.small = {
            name: parameter.requires_grad_(True)
            for name, parameter in self.encoder.named_parameters()
            if (name.endswith(".bias") or "LayerNorm" in name) and not name.startswith("pooler")
        }
        config = self.encoder.config
        self.head = Head(
            width=config.hidden_size, layers=config.num_hidden_layers, vocabulary=config.vocab_size
        )
        _start(self.head, prior, generator=generator)
        self.mask = nn.Parameter(torch.zeros(config.hidden_size))  # added to the asset's vector

    @property
    def table(self) -> Tensor:
        """(vocabulary, width): the asset's word vectors."""
        weight: Tensor = self.encoder.get_input_embeddings().weight
        return weight

    def loss(self, batch: Masked, kept: Tensor) -> Tensor:
        """Cross-entropy over the kept entries at the places to predict."""
        ids = batch.inputs["input_ids"]
        vectors = self.table[ids] + (ids == self._mask_id).unsqueeze(-1) * self.mask
        rest = {name: v for name, v in batch.inputs.items() if name != "input_ids"}
        states = self.encoder(inputs_embeds=vectors, output_hidden_states=True, **rest)
        query = self.head.query([state[batch.places] for state in states.hidden_states])
        logits = (query @ self.table[kept].T).float() + self.head.bias[kept]
        place = torch.full((len(self.table),), -100)  # what cross-entropy leaves out
        place[kept] = torch.arange(len(kept))
        return nn.functional.cross_entropy(logits, place[batch.targets])

    def stored(self) -> dict[str, Tensor]:
        """What the package ships, in half precision, under the names that it reads."""
        found: dict[str, Tensor] = {f"encoder.{name}": v for name, v in self.small.items()}
        for name, added in self.low_rank.items():
            found |= {f"low_rank.{name}.up": added.up, f"low_rank.{name}.down": added.down}
        found |= {f"head.{name}": value for name, value in self.head.named_parameters()}
        found["mask"] = self.table[self._mask_id] + self.mask
        return {name: v.detach().to(torch.float16).contiguous() for name, v in found.items()}


def _start(head: Head, prior: Tensor, *, generator: torch.Generator) -> None:
    """Before training words are as frequent as in the texts, whatever is around them."""
    with torch.no_grad():
        head.bias.copy_(prior)
        head.mix[-1] = 1.0
        for linear in (head.transform, head.out):
            linear.weight.copy_(torch.randn(linear.weight.shape, generator=generator) * 0.03)
        head.transform.bias.zero_()
