"""Convolutional networks: over words alone, and the MSR paper's over words and dimensions."""

from __future__ import annotations

from torch import Tensor, nn

from unfooled.models.config import ModelConfig
from unfooled.models.networks import Network

_WIDTH = 3


class CNN(Network):
    """150 filters over three words each, ReLU, the maximum over time, linear (Kim 2014).

    A zero vector stands before the first and after the last word, so that there is one window
    per word and a text of one word needs no special case.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, features=config.units)
        self.filters = nn.Conv1d(config.dimensions, config.units, _WIDTH, padding=_WIDTH // 2)

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The strongest answer of each filter."""
        words = (vectors * mask.unsqueeze(2)).transpose(1, 2)  # (n, dimensions, words)
        answers = self.filters(words).relu()  # (n, filters, words)
        # After ReLU nothing is below zero, so a zero never wins against a real window.
        strongest: Tensor = (answers * mask.unsqueeze(1)).amax(dim=2)
        return strongest


class CNNMSR(Network):
    """150 filters of 3 x 3 over the matrix of word vectors, ReLU, maximum over time, linear.

    The network of the MSR paper (La Malfa et al. 2020) "with 3 layers, where the first consists
    of bidimensional convolution with 150 filters, each of size 3 x 3" and a softmax output.
    The paper leaves open what lies between, the padding and the length of the input. Here a zero
    vector stands before and after the text (one window of three words per word), dimensions are
    not padded, and the second layer keeps the maximum over time of each filter at each of the
    dimensions - 2 columns, so texts of any length fit.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, features=config.units * (config.dimensions - _WIDTH + 1))
        self.filters = nn.Conv2d(1, config.units, _WIDTH, padding=(_WIDTH // 2, 0))

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The strongest answer of each filter at each column, (n, filters * columns)."""
        image = (vectors * mask.unsqueeze(2)).unsqueeze(1)  # (n, 1, words, dimensions)
        answers = self.filters(image).relu()  # (n, filters, words, columns)
        strongest: Tensor = (answers * mask[:, None, :, None]).amax(dim=2)
        return strongest.flatten(1)
