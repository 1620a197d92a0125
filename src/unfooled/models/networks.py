"""What every word network is: word vectors, an encoder for one text, a classifier on top."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from unfooled.models.config import ModelConfig
from unfooled.models.vocabulary import Vocabulary

_PAIR_UNITS = 512  # the width of the classifier of Conneau et al. (2017)


class Network(nn.Module, ABC):
    """`network(ids, mask)` = `classify(encode(embedding(ids), mask))`, for pairs with both sides.

    The mask is true on the words of a text and false on the padding after them. What stands at
    padded positions never influences the output, so the logits of a row depend neither on the
    padding nor on the rows beside it. Every row has at least one word.
    """

    def __init__(self, config: ModelConfig, *, features: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(
            config.entries, config.dimensions, padding_idx=Vocabulary.padding
        )
        self.dropout = nn.Dropout(config.dropout)
        self.output = _classifier(features, config)

    @abstractmethod
    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The features of each text: (n, words, dimensions), (n, words) to (n, features)."""

    def classify(self, first: Tensor, second: Tensor | None = None) -> Tensor:
        """The logits (n, classes) of encoded texts, or of encoded premises and hypotheses.

        For pairs the classifier sees u, v, |u - v| and u * v (Conneau et al. 2017).
        """
        if self.config.pair:
            if second is None:
                raise ValueError("a pair network classifies two encoded texts, one was given")
            first = torch.cat((first, second, (first - second).abs(), first * second), dim=1)
        elif second is not None:
            raise ValueError("a network for single texts was given a second one")
        logits: Tensor = self.output(self.dropout(first))
        return logits

    def forward(
        self,
        ids: Tensor,
        mask: Tensor,
        second_ids: Tensor | None = None,
        second_mask: Tensor | None = None,
    ) -> Tensor:
        """The logits (n, classes) for ids (n, words) and their masks."""
        first = self.encode(self.embedding(ids), mask)
        if second_ids is None or second_mask is None:
            return self.classify(first)
        second = self.encode(self.embedding(second_ids), second_mask)
        return self.classify(first, second)


def build(config: ModelConfig) -> Network:
    """A network with fresh weights, drawn from torch's current random state."""
    from unfooled.models.convolutional import CNN, CNNMSR
    from unfooled.models.mlp import DAN, MLP
    from unfooled.models.recurrent import LSTM, BiLSTM
    from unfooled.models.transformer import Transformer

    kinds: dict[str, type[MLP | DAN | CNN | CNNMSR | LSTM | BiLSTM | Transformer]] = {
        "mlp": MLP,
        "dan": DAN,
        "cnn": CNN,
        "cnn-msr": CNNMSR,
        "lstm": LSTM,
        "bilstm": BiLSTM,
        "transformer": Transformer,
    }
    return kinds[config.arch](config)


def _classifier(features: int, config: ModelConfig) -> nn.Module:
    if not config.pair:
        return nn.Linear(features, config.classes)
    return nn.Sequential(
        nn.Linear(4 * features, _PAIR_UNITS),
        nn.ReLU(),
        nn.Dropout(config.dropout),
        nn.Linear(_PAIR_UNITS, config.classes),
    )
