"""A small word-level transformer whose normalisation is linear, so that it can be bounded."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from unfooled.errors import InputError
from unfooled.models.config import ModelConfig
from unfooled.models.networks import Network

_SPREAD = 0.1  # of fresh position vectors, about that of word vectors after centring


class Centring(nn.Module):
    """x minus its mean, scaled and shifted: layer normalisation without the variance.

    Shi et al. (2020) leave the variance out because bounds through it explode; accuracy stays.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(dim=-1, keepdim=True)) * self.scale + self.shift


class Block(nn.Module):
    """Self-attention and a feed-forward layer, each added to its input and centred."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.dimensions
        self.heads = config.heads
        self.read = nn.Linear(width, 3 * width)  # queries, keys, values
        self.write = nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, config.units), nn.Linear(config.units, width)
        self.bend = nn.GELU() if config.activation == "gelu" else nn.ReLU()
        self.attended, self.fed = Centring(width), Centring(width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(n, words, width) for (n, words, width) and its mask; padding is not attended to."""
        n, words, width = x.shape
        parts = self.read(x).reshape(n, words, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # (n, heads, words, width / heads)
        scores = queries @ keys.transpose(2, 3) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        seen = (scores.softmax(dim=-1) @ values).transpose(1, 2).reshape(n, words, width)
        x = self.attended(x + self.dropout(self.write(seen)))
        found: Tensor = self.fed(x + self.dropout(self.outer(self.bend(self.inner(x)))))
        return found


class Transformer(Network):
    """Word and position vectors, blocks of self-attention, the mean over words, linear.

    The network that Shi et al. (2020) verify, with words for pieces and the mean for a class token.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, features=config.dimensions)
        self.positions = nn.Parameter(_SPREAD * torch.randn(config.max_words, config.dimensions))
        self.start = Centring(config.dimensions)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The mean of what stands at the words after the last block."""
        words = vectors.shape[1]
        if words > self.config.max_words:
            raise InputError(
                f"this transformer reads {self.config.max_words} words, the batch has {words}: "
                "cut the texts first"
            )
        x = self.start(vectors + self.positions[:words])
        for block in self.blocks:
            x = block(x, mask)
        kept = mask.unsqueeze(2).to(x.dtype)
        mean: Tensor = (x * kept).sum(dim=1) / kept.sum(dim=1)
        return mean
