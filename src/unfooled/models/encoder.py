"""Hugging Face encoders fine-tuned as sequence classifiers, saved as ordinary folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unfooled.errors import InputError, MissingExtra, did_you_mean
from unfooled.hub import quiet
from unfooled.models import folder as folders
from unfooled.models.config import ARCHITECTURES
from unfooled.models.encoding import bucketed
from unfooled.models.fit import Fitted, Schedule, Task, fit, forked
from unfooled.models.scoring import by_length, measured
from unfooled.models.split import Split
from unfooled.text import Text

try:
    import transformers
except ImportError as error:
    raise MissingExtra("a Hugging Face model", "hf") from error

SCHEDULE = Schedule(epochs=3, batch=32, lr=5e-5, warmup=0.1, decay=True, weight_decay=0.01)
_DEFAULT = "hf"
_MAX_LENGTH = 128
_LEAST_LENGTH = 4  # a pair has three special tokens


@dataclass(frozen=True)
class EncoderModel:
    """A sequence classifier and its tokenizer; `max_length` tokens are read."""

    network: nn.Module
    tokenizer: Any
    labels: tuple[str, ...]
    max_length: int


def train_encoder(
    parts: Split,
    arch: str,
    *,
    labels: tuple[str, ...],
    schedule: Schedule,
    max_length: int | None,
    device: torch.device,
) -> tuple[EncoderModel, Fitted]:
    """An encoder fine-tuned on the split, and its epochs. Same-length batches save most padding."""
    source = encoder_source(arch)
    if max_length is not None and max_length < _LEAST_LENGTH:
        raise InputError(f"an encoder reads at least {_LEAST_LENGTH} tokens, not {max_length}")
    with forked(schedule.seed):  # the classification head is new and random
        model = _start(source, labels, max_length=max_length or _MAX_LENGTH)
        model.network.to(device)
        fitted = fit(_task(model, parts, batch=schedule.batch), schedule)
    model.network.cpu().eval().requires_grad_(False)
    return model, fitted


def encoder_source(arch: str) -> str:
    """The folder or hub name that `hf`, `hf:NAME` or a path stands for."""
    if arch == _DEFAULT:
        from unfooled import assets

        return str(assets.get("minilm"))
    if arch.startswith("hf:") and len(arch) > 3:
        return arch[3:]
    if folders.kind(arch) == "hf":
        return arch
    known = (*ARCHITECTURES, _DEFAULT)
    raise InputError(
        f"unknown architecture {arch!r}; {did_you_mean(arch, known)} "
        "(another Hugging Face encoder: hf:NAME, or its folder)"
    )


def save_encoder(
    model: EncoderModel, folder: Path | str, *, training: Mapping[str, Any] | None = None
) -> Path:
    """Writes an ordinary Hugging Face folder with our marker beside it; returns the folder."""
    folder = Path(folder)
    with folders.replaced(folder) as new, quiet():
        model.network.save_pretrained(new)  # type: ignore[operator]
        model.tokenizer.save_pretrained(new)
        marker = {
            "unfooled": folders.FORMAT,
            "kind": "hf",
            "labels": list(model.labels),
            "max_length": model.max_length,
            "training": dict(training or {}),
        }
        folders.write_json(new / folders.MARKER, marker)
    return folder


def load_encoder(folder: Path | str) -> EncoderModel:
    """The sequence classifier in a local Hugging Face folder, ours or any other."""
    folder = Path(folder)
    if folders.kind(folder) != "hf":
        raise InputError(f"{folder} is not a Hugging Face folder: no config.json of one")
    folders.refuse_pickle(folder)
    with quiet(), forked(0):
        network = _pretrained(transformers.AutoModelForSequenceClassification, str(folder))
        tokenizer = _pretrained(transformers.AutoTokenizer, str(folder), weights=False)
    config = network.config
    labels = tuple(config.id2label[index] for index in range(config.num_labels))
    marker = folder / folders.MARKER
    most = _longest(network, tokenizer)
    if marker.is_file():
        most = min(most, int(folders.read_json(marker).get("max_length", most)))
    return EncoderModel(network.eval().requires_grad_(False), tokenizer, labels, most)


def encoder_logits(model: EncoderModel, texts: Sequence[Text]) -> Tensor:
    """The logits (n, classes) of texts."""
    rows = _tokens(model, texts)
    return by_length(
        [len(row) for row in rows["input_ids"]],
        len(model.labels),
        score=lambda part: _scores(model, rows, part=part),
    )


def _start(source: str, labels: tuple[str, ...], *, max_length: int) -> EncoderModel:
    with quiet():
        tokenizer = _pretrained(transformers.AutoTokenizer, source, weights=False)
        network = _pretrained(
            transformers.AutoModelForSequenceClassification,
            source,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
        )
    return EncoderModel(network, tokenizer, labels, min(max_length, _longest(network, tokenizer)))


def _pretrained(kind: Any, source: str, *, weights: bool = True, **options: Any) -> Any:
    if weights:
        options["use_safetensors"] = True  # a pickled checkpoint is refused, never unpickled
    try:
        return kind.from_pretrained(source, **options)
    except (OSError, ValueError) as error:
        sentence = str(error).strip().splitlines()[0]
        raise InputError(f"cannot load the Hugging Face model {source!r}: {sentence}") from error


def _longest(network: Any, tokenizer: Any) -> int:
    positions = getattr(network.config, "max_position_embeddings", None)
    return int(min(tokenizer.model_max_length, positions or tokenizer.model_max_length))


def _tokens(model: EncoderModel, texts: Sequence[Text]) -> dict[str, list[list[int]]]:
    sources = [text.source for text in texts]
    first = [source if isinstance(source, str) else source[0] for source in sources]
    second = [source[1] for source in sources if not isinstance(source, str)]
    if second and len(second) != len(first):
        raise InputError("single texts and pairs cannot be mixed")
    return dict(
        model.tokenizer(first, second or None, truncation=True, max_length=model.max_length)
    )


def _scores(model: EncoderModel, rows: Mapping[str, list[list[int]]], *, part: list[int]) -> Tensor:
    chosen = {name: [column[index] for index in part] for name, column in rows.items()}
    batch = model.tokenizer.pad(chosen, return_tensors="pt")
    device = next(model.network.parameters()).device
    scores: Tensor = model.network(
        **{name: value.to(device) for name, value in batch.items()}
    ).logits
    return scores


def _task(model: EncoderModel, parts: Split, *, batch: int) -> Task:
    rows = _tokens(model, [example.text for example in parts.train])
    lengths = [len(row) for row in rows["input_ids"]]
    labels = torch.tensor([example.label for example in parts.train])
    dev_texts = [example.text for example in parts.dev]
    dev_labels = torch.tensor([example.label for example in parts.dev])

    def loss(part: list[int]) -> Tensor:
        scores = _scores(model, rows, part=part)
        return nn.functional.cross_entropy(scores, labels[part].to(scores.device))

    return Task(
        title="fine-tuning",
        module=model.network,
        rows=len(lengths),
        batches=lambda generator: bucketed(lengths, batch, generator=generator),
        loss=loss,
        measure=(lambda: measured(encoder_logits(model, dev_texts), dev_labels))
        if dev_texts
        else None,
    )
