"""The piecewise-linear function behind a reading, for the networks that are one."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, conv2d

from unfooled.bounds.reading import Reading
from unfooled.exact.piecewise import Affine, Effect, Floats, Piecewise
from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.models.mlp import Affine as AffineNetwork
from unfooled.refusals import smooth


def opened(reading: Reading) -> Piecewise:
    """The function that the network computes on this text; networks that bend smoothly are refused."""
    network = reading.network
    with torch.inference_mode():
        if isinstance(network, AffineNetwork):
            return _affine_in_words(reading, network)
        if isinstance(network, (CNN, CNNMSR)):
            return _convolutional(reading, network)
    raise smooth(network.config.arch)


def _affine_in_words(reading: Reading, network: AffineNetwork) -> Piecewise:
    """The first layer adds up what each word has for it, so a swap adds the difference."""
    words = len(reading.text)
    shares = [network.share(place, words) @ vector for place, vector in enumerate(reading.text)]
    base = torch.stack(shares).sum(dim=0) + network.affine.bias
    effects = [
        Effect(0, _array((vectors - reading.text[place]) @ network.share(place, words).T))
        for place, vectors in zip(reading.plan.places, reading.choices, strict=True)
    ]
    hidden = [_affine(layer) for layer in network.hidden if isinstance(layer, nn.Linear)]
    return Piecewise(_array(base), tuple(effects), (*hidden, *_head(reading)))


def _convolutional(reading: Reading, network: CNN | CNNMSR) -> Piecewise:
    """One block of features for each window; a word lies in its own window and in those beside it."""
    words = len(reading.text)
    answers = _answers(network, reading.text[None], around=1)[0]
    features = answers.shape[1]
    bias = network.filters.bias
    assert bias is not None
    base = answers + bias.repeat_interleave(features // len(bias))
    effects = []
    for place, vectors in zip(reading.plan.places, reading.choices, strict=True):
        change = _answers(network, (vectors - reading.text[place])[:, None], around=2)
        first, last = max(place - 1, 0), min(place + 2, words)  # of the windows that exist
        kept = change[:, first - place + 1 : last - place + 1]
        effects.append(Effect(first * features, _array(kept.flatten(1))))
    return Piecewise(_array(base.flatten()), tuple(effects), _head(reading), windows=words)


def _answers(network: CNN | CNNMSR, vectors: Tensor, *, around: int) -> Tensor:
    """(n, windows, features): what the filters answer, without bias, with zero vectors around."""
    weight = network.filters.weight
    if isinstance(network, CNN):
        return conv1d(vectors.transpose(1, 2), weight, padding=around).transpose(1, 2)
    found = conv2d(vectors[:, None], weight, padding=(around, 0))  # (n, filters, windows, columns)
    return found.transpose(1, 2).flatten(2)


def _head(reading: Reading) -> tuple[Affine, ...]:
    """What follows the encoded text."""
    output = reading.network.output
    if isinstance(output, nn.Linear):
        return (_affine(output),)
    assert isinstance(output, nn.Sequential)
    assert reading.other is not None
    joint, last = (part for part in output if isinstance(part, nn.Linear))
    return (
        *_compared(_affine(joint), _array(reading.other[0]), second=reading.second),
        _affine(last),
    )


def _compared(joint: Affine, fixed: Floats, *, second: bool) -> tuple[Affine, Affine]:
    """The classifier of pairs on u alone: it sees u, v, |u - v| and u * v, and v stays.

    u comes from a ReLU, so ReLU(u) = u, and |u - v| = u - v + 2 ReLU(v - u): one more ReLU layer.
    """
    sides = np.split(joint.weight, 4, axis=1)
    (other, own) = (sides[0], sides[1]) if second else (sides[1], sides[0])
    apart, product = sides[2:]
    eye = np.eye(len(fixed))
    split = Affine(np.concatenate((eye, -eye)), np.concatenate((np.zeros_like(fixed), fixed)))
    weight = np.concatenate((own + apart + product * fixed, 2 * apart), axis=1)
    return split, Affine(weight, joint.bias + (other - apart) @ fixed)


def _affine(layer: nn.Linear) -> Affine:
    return Affine(_array(layer.weight), _array(layer.bias))


def _array(values: Tensor) -> Floats:
    found: Floats = values.detach().numpy().astype(np.float64)
    return found
