"""Reference models: the papers' word networks and fine-tuned Hugging Face encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unfooled.errors import MissingExtra

if TYPE_CHECKING:
    from unfooled.models.config import ModelConfig
    from unfooled.models.encoder import EncoderModel, load_encoder, save_encoder
    from unfooled.models.folder import kind
    from unfooled.models.networks import Network, build
    from unfooled.models.scoring import accuracy, logits
    from unfooled.models.store import WordModel, load, save
    from unfooled.models.training import Training, train
    from unfooled.models.vocabulary import Vocabulary

_HOMES = {
    "EncoderModel": "encoder",
    "ModelConfig": "config",
    "Network": "networks",
    "Training": "training",
    "Vocabulary": "vocabulary",
    "WordModel": "store",
    "accuracy": "scoring",
    "build": "networks",
    "kind": "folder",
    "load": "store",
    "load_encoder": "encoder",
    "logits": "scoring",
    "save": "store",
    "save_encoder": "encoder",
    "train": "training",
}

__all__ = [
    "EncoderModel",
    "ModelConfig",
    "Network",
    "Training",
    "Vocabulary",
    "WordModel",
    "accuracy",
    "build",
    "kind",
    "load",
    "load_encoder",
    "logits",
    "save",
    "save_encoder",
    "train",
]


def __getattr__(name: str) -> Any:
    """Imports torch only when a model is asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name in ("torch", "safetensors"):
            raise MissingExtra("a word model", "torch") from error
        raise
    return getattr(module, name)
