"""Networks that are affine in the word vectors up to their first ReLU."""

from __future__ import annotations

from abc import abstractmethod

import torch.nn.functional as F
from torch import Tensor, nn

from unfooled.errors import InputError
from unfooled.models.config import ModelConfig
from unfooled.models.networks import Network


class Affine(Network):
    """An affine layer over all words, ReLU, and `layers` - 1 further affine layers with ReLU.

    What a word adds to the first layer depends on its place and the length of the text alone, so
    swaps add up there: that is what makes these networks cheap to sweep and to solve exactly.
    """

    def __init__(self, config: ModelConfig, *, inputs: int) -> None:
        super().__init__(config, features=config.units)
        self.affine = nn.Linear(inputs, config.units)
        self.hidden = nn.ModuleList(
            nn.Linear(config.units, config.units) for _ in range(config.layers - 1)
        )

    @abstractmethod
    def share(self, place: int, words: int) -> Tensor:
        """(units, d): what the vector of the word at a place adds to the first layer, by its weights."""

    def after(self, first: Tensor) -> Tensor:
        """The features of first pre-activations (n, units)."""
        now = first.relu()
        for layer in self.hidden:
            now = layer(now).relu()
        return now


class MLP(Affine):
    """The small network that integer programming verifies exactly (ILP paper, table 6).

    Flatten 200 word vectors of size 2, affine to 64, ReLU, affine to the classes.

    Differs from the paper: the vector of the padding token is fixed at zero (the paper does not
    say whether it is trained), so that short texts need no padding to 200 words: they use the
    first columns of the affine layer. For pairs, each side is encoded by the affine layers. With
    `layers` there are several affine layers with ReLU.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, inputs=config.max_words * config.dimensions)

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The 64 hidden features of texts of up to `max_words` words."""
        if vectors.shape[1] > self.config.max_words:
            raise InputError(
                f"this mlp reads {self.config.max_words} words, the batch has {vectors.shape[1]}: "
                "cut the texts first"
            )
        flat = (vectors * mask.unsqueeze(2)).flatten(1)  # (n, words * dimensions)
        return self.after(F.linear(flat, self.affine.weight[:, : flat.shape[1]], self.affine.bias))

    def share(self, place: int, words: int) -> Tensor:
        d = self.config.dimensions
        return self.affine.weight[:, place * d : (place + 1) * d]


class DAN(Affine):
    """The mean of the word vectors, affine layers with ReLU, linear (Iyyer et al. 2015).

    Differs from the paper: no word dropout; two layers of 64 units unless others are asked for.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, inputs=config.dimensions)

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The features of the mean over the words of each text."""
        total = (vectors * mask.unsqueeze(2)).sum(dim=1)  # (n, dimensions)
        first: Tensor = self.affine(total / mask.sum(dim=1, keepdim=True))
        return self.after(first)

    def share(self, place: int, words: int) -> Tensor:
        return self.affine.weight / words
