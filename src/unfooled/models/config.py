"""ModelConfig: everything that decides the shape of a word model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from unfooled.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Architecture:
    """The sizes an architecture has unless others are asked for."""

    units: int
    dimensions: int  # of the embedding when there are no pre-trained vectors
    max_words: int
    dropout: float
    pretrained: bool  # whether it starts from word vectors by default
    layers: int = 1  # affine layers with ReLU


ARCHITECTURES: Mapping[str, Architecture] = {
    "mlp": Architecture(64, 2, 200, 0.0, False),
    "dan": Architecture(64, 50, 256, 0.3, True, layers=2),
    "cnn": Architecture(150, 50, 256, 0.5, True),
    "cnn-msr": Architecture(150, 50, 256, 0.5, True),
    "lstm": Architecture(256, 50, 256, 0.5, True),
    "bilstm": Architecture(150, 50, 256, 0.5, True),
    "transformer": Architecture(100, 50, 256, 0.1, True),
}


@dataclass(frozen=True)
class ModelConfig:
    """The architecture and its sizes; two models with equal configs have weights of equal shape."""

    arch: str
    entries: int  # rows of the embedding: padding, unknown and the words
    classes: int
    dimensions: int = 50  # of a word vector
    units: int = 150  # affine units, filters, LSTM units per direction, or feed-forward units
    pair: bool = False  # whether it reads a premise and a hypothesis
    max_words: int = 256  # of each text; what follows is not read
    dropout: float = 0.0  # of features, while training
    layers: int = 1  # affine layers with ReLU of mlp and dan, blocks of a transformer
    heads: int = 1  # of its attention
    activation: str = "relu"  # of its feed-forward layers, or "gelu"

    def __post_init__(self) -> None:
        if self.arch not in ARCHITECTURES:
            raise InputError(
                f"unknown architecture {self.arch!r}; {did_you_mean(self.arch, ARCHITECTURES)}"
            )
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"{name} is a whole number of at least {least}, not {value!r}")
        if not isinstance(self.pair, bool):
            raise InputError(f"pair is true or false, not {self.pair!r}")
        if not (isinstance(self.dropout, (int, float)) and 0 <= self.dropout < 1):
            raise InputError(f"dropout is a number from 0 to below 1, not {self.dropout!r}")
        if self.layers > 1 and self.arch not in ("mlp", "dan"):
            raise InputError(f"layers is an option of mlp and dan, {self.arch} has no such layers")
        if self.arch == "cnn-msr" and self.dimensions < 3:
            raise InputError(
                f"cnn-msr slides 3x3 filters over the word vectors, so they need at least 3 "
                f"dimensions, not {self.dimensions}"
            )

        if self.arch == "transformer" and self.dimensions % self.heads:
            raise InputError(
                f"heads share the dimensions of a word vector equally: {self.heads} heads cannot "
                f"share {self.dimensions}"
            )
        if self.activation not in ACTIVATIONS:
            raise InputError(f"activation is {' or '.join(ACTIVATIONS)}, not {self.activation!r}")

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """The config that `as_dict` described; unknown and missing fields are refused.

        Fields that came later have their default in folders saved before.
        """
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise InputError(
                    f"unknown field {name!r} in the model config; {did_you_mean(name, known)}"
                )
        missing = known - _LATER - values.keys()
        if missing:
            raise InputError(f"the model config lacks {', '.join(sorted(missing))}")
        return cls(**values)


_LEAST = {
    "entries": 2,
    "classes": 2,
    "dimensions": 1,
    "units": 1,
    "max_words": 1,
    "layers": 1,
    "heads": 1,
}
_LATER = {"layers", "heads", "activation"}
ACTIVATIONS = ("relu", "gelu")
