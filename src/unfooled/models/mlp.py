"""The small network that integer programming verifies exactly (ILP paper, table 6)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from unfooled.errors import InputError
from unfooled.models.config import ModelConfig
from unfooled.models.networks import Network


class MLP(Network):
    """Flatten 200 word vectors of size 2, affine to 64, ReLU, affine to the classes.

    Differs from the paper: the vector of the padding token is fixed at zero (the paper does not
    say whether it is trained), so that short texts need no padding to 200 words: they use the
    first columns of the affine layer. For pairs, each side is encoded by the first affine layer.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, features=config.units)
        self.affine = nn.Linear(config.max_words * config.dimensions, config.units)

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The 64 hidden features of texts of up to `max_words` words."""
        if vectors.shape[1] > self.config.max_words:
            raise InputError(
                f"this mlp reads {self.config.max_words} words, the batch has {vectors.shape[1]}: "
                "cut the texts first"
            )
        flat = (vectors * mask.unsqueeze(2)).flatten(1)  # (n, words * dimensions)
        return F.linear(flat, self.affine.weight[:, : flat.shape[1]], self.affine.bias).relu()
