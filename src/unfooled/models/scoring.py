"""Logits and accuracy of a trained model on texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unfooled.errors import InputError
from unfooled.models.encoding import Row, encode, pad
from unfooled.models.fit import Measured
from unfooled.models.networks import Network
from unfooled.models.store import WordModel
from unfooled.text import Text

if TYPE_CHECKING:
    from unfooled.data import Dataset
    from unfooled.models.encoder import EncoderModel

_BATCH = 128


def logits(model: WordModel | EncoderModel, texts: Sequence[Text]) -> Tensor:
    """The logits (n, classes) of texts, in the order given; the network must be in eval mode."""
    if not isinstance(model, WordModel):
        from unfooled.models.encoder import encoder_logits

        return encoder_logits(model, texts)
    config = model.config
    rows = [
        encode(text, model.vocabulary, max_words=config.max_words, pair=config.pair)
        for text in texts
    ]
    return word_logits(model.network, rows)


def accuracy(model: WordModel | EncoderModel, dataset: Dataset) -> float:
    """The share of examples whose highest logit is their label."""
    if tuple(dataset.labels) != model.labels:
        raise InputError(
            f"the model has the labels {list(model.labels)}, the data {list(dataset.labels)}: "
            "they must be the same, in the same order"
        )
    if not dataset.examples:
        raise InputError("accuracy needs at least one example")
    labels = torch.tensor([example.label for example in dataset.examples])
    return measured(logits(model, [example.text for example in dataset.examples]), labels).accuracy


def measured(scores: Tensor, labels: Tensor) -> Measured:
    """Mean cross-entropy and accuracy of logits."""
    loss = torch.nn.functional.cross_entropy(scores, labels)
    return Measured(loss.item(), (scores.argmax(dim=1) == labels).double().mean().item())


def word_logits(network: Network, rows: Sequence[Row]) -> Tensor:
    """The logits of encoded texts."""
    device = network.embedding.weight.device
    lengths = [max(map(len, row)) for row in rows]
    return by_length(
        lengths,
        network.config.classes,
        score=lambda part: network(*pad([rows[index] for index in part]).to(device)),
    )


def by_length(
    lengths: Sequence[int], classes: int, *, score: Callable[[list[int]], Tensor]
) -> Tensor:
    """The logits of all rows, scored in batches of similar length and put back in order."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    scores = torch.empty(len(order), classes)
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            scores[part] = score(part).float().cpu()
    return scores
