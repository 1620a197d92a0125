"""A transformer as steps that can be bounded (Shi et al. 2020), the softmax by differences of scores."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unfooled.bounds.entries import Windows
from unfooled.bounds.graph import Bend, Graph, Linear, Product, Rearrange, Rescale, Sum
from unfooled.bounds.recurrent import part
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import EXP, GELU, RECIPROCAL, RELU
from unfooled.models.networks import Network
from unfooled.models.transformer import Block, Centring, Transformer


def transformer(network: Network, graph: Graph, region: Region) -> int:
    """The node of the mean over words after the last block."""
    assert isinstance(network, Transformer)
    words = region.base.shape[1]
    weight, shift = centring(network.start)
    bias = network.positions.detach()[:words] @ weight.T + shift
    x = graph.add(Windows(weight.T.unsqueeze(0), bias))
    first = True
    for block in network.blocks:
        assert isinstance(block, Block)
        read, add = block.read.weight.detach(), block.read.bias.detach()
        if first:  # candidates are pushed through as far as things are affine
            there = Windows((read @ weight).T.unsqueeze(0), bias @ read.T + add)
            parts = graph.add(there)
        else:
            parts = graph.add(Linear(read, add), x)
        x, first = _block(block, graph, region, x=x, parts=parts), False
    share = region.mask.to(torch.float64) / region.mask.sum(dim=1, keepdim=True)
    return graph.add(total(-2, words), graph.add(Rescale(share.unsqueeze(2)), x))


def centring(layer: Centring) -> tuple[Tensor, Tensor]:
    """Its weight (out, in) and shift."""
    scale, width = layer.scale.detach(), len(layer.scale)
    mean = torch.full((width, width), 1 / width, dtype=scale.dtype)
    return scale.unsqueeze(1) * (torch.eye(width, dtype=scale.dtype) - mean), layer.shift.detach()


def _block(block: Block, graph: Graph, region: Region, *, x: int, parts: int) -> int:
    seen = _attention(block, graph, region, parts)
    write = Linear(block.write.weight.detach(), block.write.bias.detach())
    x = graph.add(Sum(), x, graph.add(write, seen))
    x = graph.add(Linear(*centring(block.attended)), x)
    inner = Linear(block.inner.weight.detach(), block.inner.bias.detach())
    outer = Linear(block.outer.weight.detach(), block.outer.bias.detach())
    curve = GELU if isinstance(block.bend, torch.nn.GELU) else RELU
    fed = graph.add(outer, graph.add(Bend(curve), graph.add(inner, x)))
    return graph.add(Linear(*centring(block.fed)), graph.add(Sum(), x, fed))


def _attention(block: Block, graph: Graph, region: Region, parts: int) -> int:
    """What each word (batch, words, width) sees."""
    words, heads = region.base.shape[1], block.heads
    width = block.write.in_features
    member = torch.zeros(width, heads, dtype=torch.float64)  # which head a number belongs to
    member[torch.arange(width), torch.arange(width) // (width // heads)] = 1.0
    queries, keys, values = (
        graph.add(part(i * width, (i + 1) * width, 3 * width), parts) for i in range(3)
    )
    pairs = graph.add(
        Product(), graph.add(copied(-2, words), queries), graph.add(copied(-3, words), keys)
    )
    scores = graph.add(Linear(member.T / math.sqrt(width // heads)), pairs)  # (words, words, heads)
    shares = graph.add(Linear(member), _softmax(graph, region, scores))  # (words, words, width)
    weighed = graph.add(Product(), shares, graph.add(copied(-3, words), values))
    return graph.add(total(-2, words), weighed)


def _softmax(graph: Graph, region: Region, scores: int) -> int:
    """The shares (words, words, heads): one over the sum of exp(other score - this score).

    What all scores have in common cancels, and as the sum starts at 1 no share leaves [0, 1].
    """
    words, mask = region.base.shape[1], region.mask.to(torch.float64)
    other = graph.add(copied(-3, words), scores)  # (words, this, other, heads)
    minus = Rescale(-torch.ones(1, 1, 1, 1, 1, dtype=torch.float64))
    this = graph.add(minus, graph.add(copied(-2, words), scores))
    apart = graph.add(Sum(), other, this)
    counted = mask[:, None, None, :, None] * (1 - torch.eye(words, dtype=torch.float64))[..., None]
    rest = graph.add(total(-2, words), graph.add(Rescale(counted), graph.add(Bend(EXP), apart)))
    one = torch.ones(1, 1, 1, 1, dtype=torch.float64)
    shares = graph.add(Bend(RECIPROCAL), graph.add(Rescale(one, one), rest))
    return graph.add(Rescale(mask[:, None, :, None]), shares)


def copied(dim: int, times: int) -> Rearrange:
    """The input repeated along a new dimension."""

    def forward(x: Tensor) -> Tensor:
        wide = x.unsqueeze(dim)
        shape = list(wide.shape)
        shape[dim] = times
        return wide.expand(shape)

    return Rearrange(forward, lambda w: w.sum(dim=dim))


def total(dim: int, size: int) -> Rearrange:
    """The sum over a dimension."""
    return Rearrange(lambda x: x.sum(dim=dim), copied(dim, size).forward)
