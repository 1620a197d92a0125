"""The walker of every network that a sweep knows."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.models.mlp import Affine
from unfooled.models.networks import Network
from unfooled.models.recurrent import LSTM, BiLSTM
from unfooled.sweeps.cnn import CNNWalker
from unfooled.sweeps.mlp import MLPWalker
from unfooled.sweeps.recurrent import RecurrentWalker
from unfooled.sweeps.sweep import Walker


def walker_of(
    network: Network, text: Tensor, *, places: Sequence[int], choices: Sequence[Tensor]
) -> Walker | None:
    """A walker over texts with `choices` at `places`; None: a network that no sweep knows."""
    match network:
        case Affine():
            return MLPWalker(network, text, places=places, choices=choices)
        case CNN() | CNNMSR():
            return CNNWalker(network, text, places=places, choices=choices)
        case LSTM() | BiLSTM():
            return RecurrentWalker(network, text, places=places, choices=choices)
    return None
