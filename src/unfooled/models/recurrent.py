"""LSTM networks that take texts of mixed lengths by masking, not by packing."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unfooled.errors import InputError
from unfooled.models.config import ModelConfig
from unfooled.models.networks import Network


class LSTM(Network):
    """One LSTM of 256 units read from left to right; its state after the last word (MSR paper)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, features=config.units)
        self.lstm = nn.LSTM(config.dimensions, config.units, batch_first=True)

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The state after the last word; padding comes later and cannot change it."""
        states, _ = self.lstm(vectors)  # (n, words, units)
        last = lengths(mask) - 1
        state: Tensor = states[torch.arange(len(states), device=states.device), last]
        return state


class BiLSTM(Network):
    """LSTMs of 150 units in both directions, the maximum over time of each unit.

    The sentence encoder of Conneau et al. (2017), in the size of the PDP paper. The backward
    direction is an LSTM of its own that reads each row's words in reverse, its last word first, so
    padding always comes after the words and is never read before them.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config, features=2 * config.units)
        self.ahead = nn.LSTM(config.dimensions, config.units, batch_first=True)
        self.back = nn.LSTM(config.dimensions, config.units, batch_first=True)

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """The strongest state of each unit, forward units first."""
        ahead, _ = self.ahead(vectors)
        back, _ = self.back(reverse(vectors, lengths(mask)))
        # The maximum over time does not ask where a state stood: no need to turn it round again.
        padding = ~mask.unsqueeze(2)
        states = torch.cat((ahead, back), dim=2).masked_fill(padding, -torch.inf)
        return states.amax(dim=1)


def lengths(mask: Tensor) -> Tensor:
    """The number of words of each row; words must come first and padding after them.

    That is looked at on the CPU alone: elsewhere the look would wait for all that is under way.
    """
    words = mask.sum(dim=1)
    if mask.device.type != "cpu":
        return words
    if not torch.equal(mask, torch.arange(mask.shape[1]) < words.unsqueeze(1)) or not words.all():
        raise InputError(
            "a recurrent network reads rows of at least one word followed by padding: a mask had "
            "no word, or padding before a word"
        )
    return words


def reverse(vectors: Tensor, words: Tensor) -> Tensor:
    """Each row with its first `words` positions in reverse order and its padding in place."""
    places = torch.arange(vectors.shape[1], device=vectors.device)
    turned = words.unsqueeze(1) - 1 - places  # negative on padding
    order = torch.where(turned >= 0, turned, places)
    rows = torch.arange(len(vectors), device=vectors.device).unsqueeze(1)
    return vectors[rows, order]
