"""The graph of a word network: what each architecture computes, as steps that can be bounded."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from unfooled.bounds.attention import transformer
from unfooled.bounds.entries import Flat, Windows
from unfooled.bounds.graph import Bend, Graph, Highest, Join, Linear, Rescale, Stack, Sum
from unfooled.bounds.recurrent import unrolled
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import ABSOLUTE, RELU
from unfooled.errors import Unsupported
from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.models.mlp import DAN, MLP, Affine
from unfooled.models.networks import Network
from unfooled.models.recurrent import LSTM, BiLSTM
from unfooled.models.transformer import Transformer


def graph_of(
    network: Network, region: Region, *, other: Tensor | None = None, second: bool = False
) -> Graph:
    """The graph from the words of the texts of a region to their logits.

    For pairs `other` (batch, features) is the encoded side that stays, `second`: it is the first.
    """
    build = _BUILDERS.get(type(network))
    if build is None:
        raise Unsupported(
            f"there are no bounds for {network.config.arch}; exhaustive works with every victim"
        )
    graph = Graph()
    features = build(network, graph, region)
    if other is None:
        assert isinstance(network.output, nn.Linear)
        graph.add(_linear(network.output), features)
    else:
        assert isinstance(network.output, nn.Sequential)
        _pair(network.output, graph, features, other=other, second=second)
    return graph


def _linear(layer: nn.Linear) -> Linear:
    return Linear(layer.weight.detach(), layer.bias.detach())


def _mlp(network: Network, graph: Graph, region: Region) -> int:
    assert isinstance(network, MLP)
    layer, size = network.affine, network.config.dimensions
    weight = layer.weight.detach().T.reshape(-1, size, layer.out_features)
    return _after(network, graph, Flat(weight, layer.bias.detach()))


def _dan(network: Network, graph: Graph, region: Region) -> int:
    assert isinstance(network, DAN)
    layer, words = network.affine, region.mask.sum(dim=1, keepdim=True)
    weight, share = layer.weight.detach().T.unsqueeze(0), 1 / words.to(torch.float64)
    return _after(network, graph, Flat(weight, layer.bias.detach(), share))


def _after(network: Affine, graph: Graph, first: Flat) -> int:
    """The first affine layer, ReLU, and the affine layers with ReLU that follow it."""
    features = graph.add(Bend(RELU), graph.add(first))
    for layer in network.hidden:
        assert isinstance(layer, nn.Linear)
        features = graph.add(Bend(RELU), graph.add(_linear(layer), features))
    return features


def _strongest(graph: Graph, windows: Windows, region: Region) -> int:
    """The maximum over words, then ReLU: the same as the other way round, with fewer lines."""
    highest = graph.add(Highest(allowed(region)), graph.add(windows))
    return graph.add(Bend(RELU), highest)


def _cnn(network: Network, graph: Graph, region: Region) -> int:
    assert isinstance(network, CNN)
    weight, bias = network.filters.weight.detach(), network.filters.bias
    assert bias is not None
    return _strongest(graph, Windows(weight.permute(2, 1, 0), bias.detach()), region)


def _cnn_msr(network: Network, graph: Graph, region: Region) -> int:
    """The filters at each column of the matrix are filters over all of it that are mostly zero."""
    assert isinstance(network, CNNMSR)
    square, bias = network.filters.weight.detach()[:, 0], network.filters.bias  # (filters, 3, 3)
    assert bias is not None
    filters, width, height = square.shape
    columns = network.config.dimensions - height + 1
    weight = square.new_zeros(width, network.config.dimensions, filters, columns)
    for j in range(height):
        for c in range(columns):
            weight[:, c + j, :, c] = square[:, :, j].T
    wide = bias.detach().repeat_interleave(columns)
    return _strongest(graph, Windows(weight.flatten(2), wide), region)


def _lstm(network: Network, graph: Graph, region: Region) -> int:
    assert isinstance(network, LSTM)
    states = unrolled(network.lstm, graph, region, reverse=False)
    lengths = region.mask.sum(dim=1)
    ends = []
    for word in sorted(set(lengths.tolist())):
        here = (lengths == word).to(torch.float64).unsqueeze(1)
        ends.append(graph.add(Rescale(here), states[word - 1]))
    return ends[0] if len(ends) == 1 else graph.add(Sum(), *ends)


def _bilstm(network: Network, graph: Graph, region: Region) -> int:
    assert isinstance(network, BiLSTM)
    strongest = []
    for lstm, reverse in ((network.ahead, False), (network.back, True)):
        states = unrolled(lstm, graph, region, reverse=reverse)
        over_time = graph.add(Stack(), *states)
        strongest.append(graph.add(Highest(allowed(region)), over_time))
    return graph.add(Join((network.config.units,) * 2), *strongest)


def allowed(region: Region) -> Tensor:
    """(batch, words, 1): 1 on words, 0 on padding."""
    return region.mask.to(torch.float64).unsqueeze(2)


def _pair(
    output: nn.Sequential, graph: Graph, features: int, *, other: Tensor, second: bool
) -> None:
    """The classifier of u, v, |u - v| and u * v, of which one is fixed: linear but for the distance."""
    hidden, last = output[0], output[3]
    assert isinstance(hidden, nn.Linear)
    assert isinstance(last, nn.Linear)
    first, then, apart, times = hidden.weight.detach().chunk(4, dim=1)
    ours, theirs = (then, first) if second else (first, then)
    constant = other @ theirs.T + hidden.bias.detach()
    one = torch.ones(1, 1, dtype=torch.float64)
    distance = graph.add(Bend(ABSOLUTE), graph.add(Rescale(one, -other), features))
    parts = [
        graph.add(Linear(ours), features),
        graph.add(Linear(apart), distance),
        graph.add(Linear(times), graph.add(Rescale(other), features)),
    ]
    before = graph.add(Rescale(one, constant), graph.add(Sum(), *parts))
    graph.add(_linear(last), graph.add(Bend(RELU), before))


_BUILDERS: dict[type[Network], Callable[[Network, Graph, Region], int]] = {
    MLP: _mlp,
    DAN: _dan,
    CNN: _cnn,
    CNNMSR: _cnn_msr,
    LSTM: _lstm,
    BiLSTM: _bilstm,
    Transformer: transformer,
}
