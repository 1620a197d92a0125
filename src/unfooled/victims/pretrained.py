"""Hugging Face sequence classifiers from a folder or the hub: safetensors only, no foreign code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from unfooled.errors import InputError, MissingExtra
from unfooled.hub import quiet, token_limits
from unfooled.models.folder import MARKER, read_json

try:
    import torch
    import transformers
    from safetensors import SafetensorError
except ImportError as error:
    raise MissingExtra("a Hugging Face model", "hf") from error

_SENTENCES = "sentence_bert_config.json"


class Classifier(NamedTuple):
    """A model with its tokenizer, the names of its classes and the most tokens it reads."""

    network: Any
    tokenizer: Any
    labels: tuple[str, ...]
    limit: int | None


class Body(NamedTuple):
    """A model without a head, its tokenizer and the most tokens it reads."""

    network: Any
    tokenizer: Any
    limit: int | None


def open_folder(folder: Path, *, dtype: str = "float32") -> Classifier:
    """The classifier in a local Hugging Face folder, on the CPU and in evaluation mode."""
    network, report, tokenizer = _opened(
        folder,
        transformers.AutoModelForSequenceClassification,
        what="Hugging Face classifier",
        dtype=dtype,
    )
    if report["missing_keys"]:
        raise InputError(
            f"{folder} is not a trained classifier: it has no weights for "
            f"{', '.join(sorted(report['missing_keys'])):.120}; fine-tune it first (unfooled train)"
        )
    config = network.config
    if config.num_labels < 2:
        raise InputError(f"{folder} has one output, a regression: a classifier has two or more")
    _give_padding(network, tokenizer)
    labels = tuple(str(config.id2label[index]) for index in range(config.num_labels))
    return Classifier(
        network.eval().requires_grad_(False), tokenizer, labels, _limit(folder, network, tokenizer)
    )


def open_encoder(folder: Path) -> Body:
    """The model in a local Hugging Face folder without a head, on the CPU and in evaluation mode."""
    network, report, tokenizer = _opened(
        folder, transformers.AutoModel, what="Hugging Face encoder", dtype="float32"
    )
    missing = [key for key in report["missing_keys"] if not key.startswith("pooler.")]
    if missing:
        raise InputError(
            f"{folder} is not a trained encoder: it has no weights for {', '.join(missing):.120}"
        )
    _give_padding(network, tokenizer)
    limit = _limit(folder, network, tokenizer)
    if (folder / _SENTENCES).is_file():  # sentence-transformers cuts earlier than the model must
        own = read_json(folder / _SENTENCES).get("max_seq_length")
        limit = min([int(n) for n in (limit, own) if n is not None], default=None)
    return Body(network.eval().requires_grad_(False), tokenizer, limit)


def _opened(folder: Path, auto: Any, *, what: str, dtype: str) -> tuple[Any, Any, Any]:
    """The network, the report of loading it, and the tokenizer."""
    _refuse_pickles(folder)
    try:
        with quiet():
            network, report = auto.from_pretrained(
                folder,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=_dtype(dtype),
                output_loading_info=True,
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        sentence = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{folder} is no {what}: {sentence}") from error
    return network, report, tokenizer


def _dtype(name: str) -> torch.dtype:
    known = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
    if name not in known:
        raise InputError(f"dtype is one of {', '.join(known)}, not {name!r}")
    return known[name]


def _refuse_pickles(folder: Path) -> None:
    if any(folder.glob("*.safetensors")):
        return
    pickles = [
        f.name for f in sorted(folder.iterdir()) if f.suffix in (".bin", ".pt", ".pth", ".ckpt")
    ]
    what = (
        f"only {pickles[0]}, a pickle, which can run code when loaded" if pickles else "no weights"
    )
    raise InputError(
        f"{folder} has {what}: save it again as safetensors (model.save_pretrained(folder) where "
        "you trust it)"
    )


def _give_padding(network: Any, tokenizer: Any) -> None:
    """Sets the padding id where the model has none: decoders find the last token by it."""
    if network.config.pad_token_id is None:
        pad = tokenizer.pad_token_id
        network.config.pad_token_id = tokenizer.eos_token_id if pad is None else pad


def _limit(folder: Path, network: Any, tokenizer: Any) -> int | None:
    """The most tokens that model, tokenizer and training allow; None: no limit is known."""
    limits = token_limits(network.config, tokenizer)
    if (folder / MARKER).is_file():
        limits.append(int(read_json(folder / MARKER).get("max_length", limits[0])))
    least = min(limits)
    return int(least) if least < 1_000_000 else None
