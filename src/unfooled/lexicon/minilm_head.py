"""The masked-word head of the `minilm` asset: small changes to its encoder, and a decoder on top.

The asset is a sentence encoder without a head. What makes it a masked language model is shipped
beside this file: low-rank additions to the encoder's matrices, its biases and norms, the vector of
the mask, and a transform whose result is compared with the asset's own word vectors.
`training/minilm_head.py` made it and says how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unfooled.errors import InputError

FILE = Path(__file__).with_name("minilm_head.safetensors")
ACCURACY = Path(__file__).with_name("minilm_head.json")

_LOW_RANK, _ENCODER, _HEAD, _MASK = "low_rank.", "encoder.", "head.", "mask"


class Head(nn.Module):
    """Scores for every entry of the vocabulary, from the states of all layers of an encoder."""

    def __init__(self, *, width: int, layers: int, vocabulary: int) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.zeros(layers + 1))  # the embedding is a layer too
        self.transform = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def query(self, states: Sequence[Tensor]) -> Tensor:
        """(..., width): what is compared with the word vectors."""
        mixed: Tensor = torch.stack(tuple(states), -1) @ self.mix.softmax(0)
        found: Tensor = self.out(self.norm(nn.functional.gelu(self.transform(mixed))))
        return found

    def forward(self, states: Sequence[Tensor], table: Tensor) -> Tensor:
        """(..., vocabulary) logits; `table` (vocabulary, width) are the asset's word vectors."""
        return self.query(states) @ table.T + self.bias


class MiniLM(nn.Module):
    """The asset's encoder with what the head changes about it, and the head."""

    def __init__(self, encoder: Any, weights: Mapping[str, Tensor], *, mask: int) -> None:
        super().__init__()
        config = encoder.config
        self.encoder: Any = encoder
        self.head = Head(
            width=config.hidden_size,
            layers=config.num_hidden_layers,
            vocabulary=config.vocab_size,
        )
        weights = {name: value.float() for name, value in weights.items()}
        with torch.no_grad():
            _change(encoder, weights)
            encoder.get_input_embeddings().weight[mask] = weights[_MASK]
        self.head.load_state_dict(_below(weights, _HEAD))

    def logits(self, inputs: Mapping[str, Tensor], places: tuple[Tensor, Tensor]) -> Tensor:
        """(places, vocabulary) of the (row, column) places of a batch."""
        states = self.encoder(**inputs, output_hidden_states=True).hidden_states
        table: Tensor = self.encoder.get_input_embeddings().weight
        found: Tensor = self.head([state[places] for state in states], table)
        return found


def load(encoder: Any, file: Path = FILE, *, mask: int) -> MiniLM:
    """The encoder of the asset as a masked language model; `mask` is the id of its mask token."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return MiniLM(encoder, load_file(file), mask=mask)
    except (OSError, SafetensorError, KeyError, AttributeError, RuntimeError) as error:
        sentence = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{file} is not a head of the minilm asset: {sentence}") from error


def _change(encoder: Any, weights: Mapping[str, Tensor]) -> None:
    """Adds the low-rank products to the matrices and puts the biases and norms in place."""
    for name, up in _below(weights, _LOW_RANK).items():
        if name.endswith(".up"):
            matrix = name.removesuffix(".up")
            down = weights[f"{_LOW_RANK}{matrix}.down"]
            encoder.encoder.get_submodule(matrix).weight += up @ down
    for name, value in _below(weights, _ENCODER).items():
        encoder.get_parameter(name).copy_(value)


def _below(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): v for n, v in weights.items() if n.startswith(prefix)}
