"""Networks with a masked-word head: the `minilm` asset, a Hugging Face folder, a hub name."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from unfooled import assets
from unfooled.errors import InputError, MissingExtra
from unfooled.fingerprints import path_fingerprint, value_fingerprint

try:
    import torch
    import transformers
    from safetensors import SafetensorError
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("a masked language model", "hf") from error

from unfooled.lexicon import minilm_head

DEFAULT = "minilm"

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]  # what a hub model may consist of
# Position embeddings that start after the padding index.
_SHIFTED = ("roberta", "camembert", "longformer")


class Network(Protocol):
    """Scores of the whole vocabulary at some places of a batch, and only there."""

    def logits(self, inputs: Mapping[str, Tensor], places: tuple[Tensor, Tensor]) -> Tensor:
        """(places, vocabulary) of the (row, column) places."""


class Opened(NamedTuple):
    """A network where it runs, its tokenizer and the most tokens it reads."""

    network: Network
    tokenizer: Any
    limit: int
    device: torch.device


class Pretrained(nn.Module):
    """A Hugging Face masked language model, whose decoder runs on the places asked for."""

    def __init__(self, network: Any, *, name: str) -> None:
        super().__init__()
        self.network: Any = network
        self._name = name

    def logits(self, inputs: Mapping[str, Tensor], places: tuple[Tensor, Tensor]) -> Tensor:
        decoder = self.network.get_output_embeddings()
        # The decoder is the last step and by far the widest one: (tokens, vocabulary).
        hook = decoder.register_forward_pre_hook(lambda _decoder, given: (given[0][places],))
        try:
            found: Tensor = self.network(**inputs).logits
        finally:
            hook.remove()
        if found.ndim != 2 or len(found) != len(places[0]):
            raise InputError(
                f"{self._name} gives scores of shape {tuple(found.shape)} for {len(places[0])} "
                "places: its decoder is not its last step, and it cannot be used here"
            )
        return found


def folder(name: str) -> Path:
    """Where a masked language model lies: the asset, a folder, or a hub model, fetched if needed."""
    if name == DEFAULT:
        return Path(assets.get(DEFAULT))
    path = Path(name.removeprefix("hf:")).expanduser()
    return path if path.exists() else _fetch(name.removeprefix("hf:"))


def files(name: str) -> dict[str, Path]:
    """All that decides what a model answers: its folder, and for the default its head."""
    return {"model": folder(name)} | ({"head": minilm_head.FILE} if name == DEFAULT else {})


def fingerprint(name: str) -> str:
    """The exact fingerprint of a model's files."""
    return value_fingerprint({part: path_fingerprint(path) for part, path in files(name).items()})


def open_network(name: str, *, device: str | None = None) -> Opened:
    """The model of that name, in evaluation mode."""
    path = folder(name)
    try:
        with _quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(path, trust_remote_code=False)
            network = _minilm(path, tokenizer) if name == DEFAULT else _pretrained(path, name)
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        if isinstance(error, InputError):
            raise
        sentence = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{name} is no Hugging Face masked language model: {sentence}") from error
    try:
        place = torch.device(device or "cpu")
        network.to(place)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the device {device!r} cannot be used: {reason}") from error
    config = (network.encoder if name == DEFAULT else network.network).config
    limit = _limit(config, tokenizer)
    return Opened(network.eval().requires_grad_(False), tokenizer, limit, place)


def _minilm(path: Path, tokenizer: Any) -> Any:
    encoder = transformers.AutoModel.from_pretrained(path, use_safetensors=True)
    return minilm_head.load(encoder, mask=tokenizer.mask_token_id)


def _pretrained(path: Path, name: str) -> Any:
    network, report = transformers.AutoModelForMaskedLM.from_pretrained(
        path, use_safetensors=True, trust_remote_code=False, output_loading_info=True
    )
    if report["missing_keys"]:
        raise InputError(
            f"{name} is not trained to predict masked words: it has no weights for "
            f"{', '.join(sorted(report['missing_keys'])):.120}"
        )
    return Pretrained(network, name=name)


def _limit(config: Any, tokenizer: Any) -> int:
    limits = [tokenizer.model_max_length]
    positions = getattr(config, "max_position_embeddings", None)
    if positions and positions > 0:
        shifted = any(kind in config.model_type.replace("-", "_") for kind in _SHIFTED)
        limits.append(positions - (config.pad_token_id + 1 if shifted else 0))
    return int(min(*limits, 100_000))


def _fetch(name: str) -> Path:
    from huggingface_hub import errors, snapshot_download

    try:
        with _quiet():
            return Path(snapshot_download(name, allow_patterns=_FILES))
    except errors.RepositoryNotFoundError as error:
        raise InputError(f"the hub has no masked language model {name!r}") from error
    except (errors.HFValidationError, ValueError) as error:
        raise InputError(
            f"{name!r} is no masked language model: expected {DEFAULT}, a folder, or the "
            "owner/name of a hub model"
        ) from error
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, OSError) as error:
        raise InputError(
            f"the masked language model {name!r} is neither a folder nor in the local cache, and "
            f"the Hugging Face hub cannot be reached: give a folder, or use {DEFAULT}"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without bars and without the report of what was loaded: errors say what matters."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity(logging.CRITICAL)
    log.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()  # type: ignore[no-untyped-call]
