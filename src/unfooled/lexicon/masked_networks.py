"""Networks with a masked-word head: the `minilm` asset, a Hugging Face folder, a hub name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from unfooled import assets
from unfooled.devices import usable
from unfooled.errors import InputError, MissingExtra
from unfooled.fingerprints import path_fingerprint, value_fingerprint

try:
    import torch
    import transformers
    from safetensors import SafetensorError
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("a masked language model", "hf") from error

from unfooled.hub import fetch, quiet, token_limits
from unfooled.lexicon import minilm_head

DEFAULT = "minilm"


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
    if path.exists():
        return path
    return fetch(name.removeprefix("hf:"), what="masked language model")


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
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(path, trust_remote_code=False)
            network = _minilm(path, tokenizer) if name == DEFAULT else _pretrained(path, name)
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        if isinstance(error, InputError):
            raise
        sentence = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{name} is no Hugging Face masked language model: {sentence}") from error
    place = usable(device)
    network.to(place)
    config = (network.encoder if name == DEFAULT else network.network).config
    limit = min(*token_limits(config, tokenizer), 100_000)
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
