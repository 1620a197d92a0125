"""The networks against slow, plain computations, and against their own padding."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from toy_models import tiny_config, tiny_model

from unfooled.errors import InputError
from unfooled.models import build
from unfooled.models.config import ARCHITECTURES, ModelConfig
from unfooled.models.encoding import pad
from unfooled.models.recurrent import lengths, reverse

NETWORKS = {
    (arch, pair): tiny_model(arch, pair=pair).network
    for arch in ARCHITECTURES
    for pair in (False, True)
}
SIDE = st.lists(st.integers(1, 11), min_size=1, max_size=9)


def numbers(tensor: Tensor) -> np.ndarray:
    return tensor.detach().numpy().astype(np.float64)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm_states(lstm: torch.nn.LSTM, words: np.ndarray) -> np.ndarray:
    """The states of an LSTM on one text, by its definition; torch's gate order is i, f, g, o."""
    of_input, of_state = numbers(lstm.weight_ih_l0), numbers(lstm.weight_hh_l0)
    bias = numbers(lstm.bias_ih_l0) + numbers(lstm.bias_hh_l0)
    state = cell = np.zeros(lstm.hidden_size)
    states = []
    for word in words:
        i, f, g, o = np.split(of_input @ word + of_state @ state + bias, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell)
        states.append(state)
    return np.array(states)


def centred(layer: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=-1, keepdims=True)) * numbers(layer.scale) + numbers(layer.shift)


def attended(network: torch.nn.Module, words: np.ndarray) -> np.ndarray:
    """The features of a transformer with one block and one head, word by word."""
    x = centred(network.start, words + numbers(network.positions)[: len(words)])
    (block,) = network.blocks
    read = x @ numbers(block.read.weight).T + numbers(block.read.bias)
    queries, keys, values = np.split(read, 3, axis=1)
    seen = []
    for query in queries:
        shares = np.exp([query @ key / np.sqrt(len(key)) for key in keys])
        seen.append(shares / shares.sum() @ values)
    x = x + np.array(seen) @ numbers(block.write.weight).T + numbers(block.write.bias)
    x = centred(block.attended, x)
    inner = np.maximum(x @ numbers(block.inner.weight).T + numbers(block.inner.bias), 0)
    fed = x + inner @ numbers(block.outer.weight).T + numbers(block.outer.bias)
    return centred(block.fed, fed).mean(axis=0)


def features(arch: str, ids: list[int]) -> np.ndarray:
    """What the encoder should say about one text, computed word by word without padding."""
    network = NETWORKS[arch, False]
    words = numbers(network.embedding.weight)[ids]
    framed = np.pad(words, ((1, 1), (0, 0)))
    if arch == "mlp":
        full = np.zeros((9, 5))  # padded to max_words, as the paper does
        full[: len(ids)] = words
        return np.maximum(
            numbers(network.affine.weight) @ full.ravel() + numbers(network.affine.bias), 0
        )
    if arch == "dan":
        return np.maximum(
            numbers(network.affine.weight) @ words.mean(axis=0) + numbers(network.affine.bias), 0
        )
    if arch == "cnn":
        weight, bias = numbers(network.filters.weight), numbers(network.filters.bias)
        windows = [framed[n : n + 3] for n in range(len(ids))]
        answers = [[(filter_.T * window).sum() for filter_ in weight] + bias for window in windows]
        return np.maximum(answers, 0).max(axis=0)
    if arch == "cnn-msr":
        weight, bias = numbers(network.filters.weight)[:, 0], numbers(network.filters.bias)
        answers = [
            [
                [(weight[k] * framed[n : n + 3, c : c + 3]).sum() + bias[k] for c in range(3)]
                for k in range(4)
            ]
            for n in range(len(ids))
        ]
        return np.maximum(answers, 0).max(axis=0).ravel()
    if arch == "lstm":
        return lstm_states(network.lstm, words)[-1]
    if arch == "transformer":
        return attended(network, words)
    back = lstm_states(network.back, words[::-1])
    return np.concatenate((lstm_states(network.ahead, words).max(axis=0), back.max(axis=0)))


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("ids", [[3], [5, 2], [4, 4, 11, 1, 7], [2, 3, 4, 5, 6, 7, 8, 9, 10]])
def test_encoding_agrees_with_the_definition(arch: str, ids: list[int]):
    network = NETWORKS[arch, False]
    batch = pad([(ids,), ([2] * 9,)])  # a longer neighbour, so that there is padding
    encoded = network.encode(network.embedding(batch.ids), batch.mask)
    np.testing.assert_allclose(numbers(encoded[0]), features(arch, ids), atol=1e-6)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_logits_are_affine_in_the_features(arch: str):
    network = NETWORKS[arch, False]
    expected = numbers(network.output.weight) @ features(arch, [4, 9, 1]) + numbers(
        network.output.bias
    )
    np.testing.assert_allclose(numbers(network(*pad([([4, 9, 1],)])))[0], expected, atol=1e-6)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_pair_is_classified_by_both_sides_their_difference_and_product(arch: str):
    network = NETWORKS[arch, True]
    batch = pad([([4, 9, 1], [6]), ([2], [3, 4])])
    u = network.encode(network.embedding(batch.ids), batch.mask)
    v = network.encode(network.embedding(batch.second_ids), batch.second_mask)
    seen = np.concatenate(
        [numbers(u), numbers(v), abs(numbers(u) - numbers(v)), numbers(u) * numbers(v)], axis=1
    )
    hidden, output = network.output[0], network.output[3]
    middle = np.maximum(seen @ numbers(hidden.weight).T + numbers(hidden.bias), 0)
    expected = middle @ numbers(output.weight).T + numbers(output.bias)
    np.testing.assert_allclose(numbers(network(*batch)), expected, atol=1e-6)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_row_depends_neither_on_padding_nor_on_its_neighbours(arch: str, data: st.DataObject):
    pair = data.draw(st.booleans())
    row = st.tuples(SIDE, SIDE) if pair else st.tuples(SIDE)
    rows = data.draw(st.lists(row, min_size=2, max_size=5))
    network = NETWORKS[arch, pair]
    alone = torch.cat([network(*pad([row])) for row in rows])
    torch.testing.assert_close(network(*pad(rows)), alone, atol=1e-6, rtol=0)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@settings(max_examples=15, deadline=None)
@given(ids=SIDE, noise=st.floats(-50, 50))
def test_what_stands_on_the_padding_is_never_read(arch: str, ids: list[int], noise: float):
    network = NETWORKS[arch, False]
    batch = pad([(ids,), ([2] * 9,)])
    vectors = network.embedding(batch.ids)
    clean = network.encode(vectors, batch.mask)
    dirty = network.encode(vectors.masked_fill(~batch.mask.unsqueeze(2), noise), batch.mask)
    torch.testing.assert_close(dirty, clean, atol=1e-6, rtol=0)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_gradients_reach_the_words_and_not_the_padding(arch: str):
    network = NETWORKS[arch, False]
    batch = pad([([4, 9, 1],), ([2] * 9,)])
    vectors = network.embedding(batch.ids).detach().requires_grad_()
    network.classify(network.encode(vectors, batch.mask)).square().sum().backward()
    assert vectors.grad is not None
    assert vectors.grad[0, :3].abs().sum() > 0
    assert not vectors.grad[0, 3:].any()


def test_the_mlp_has_the_parameters_of_the_papers_table():
    network = build(ModelConfig("mlp", 20_000, 2, dimensions=2, units=64, max_words=200))
    sizes = [
        sum(part.numel() for part in layer.parameters())
        for layer in (network.embedding, network.affine, network.output)
    ]
    assert sizes == [40_000, 25_664, 130]


def test_the_default_sizes_are_those_of_the_papers():
    sizes = {arch: (default.units, default.max_words) for arch, default in ARCHITECTURES.items()}
    assert sizes == {
        "mlp": (64, 200),
        "dan": (64, 256),
        "cnn": (150, 256),
        "cnn-msr": (150, 256),
        "lstm": (256, 256),
        "bilstm": (150, 256),
        "transformer": (100, 256),
    }


@pytest.mark.parametrize(
    ("arch", "wide"),
    [("mlp", 4), ("dan", 4), ("cnn", 4), ("cnn-msr", 12), ("lstm", 4), ("bilstm", 8)],
)
def test_the_number_of_features(arch: str, wide: int):
    network = NETWORKS[arch, False]
    batch = pad([([4, 9, 1],)])
    assert network.encode(network.embedding(batch.ids), batch.mask).shape == (1, wide)


def test_the_mlp_refuses_more_words_than_it_has_weights_for():
    with pytest.raises(InputError, match="reads 9 words, the batch has 10"):
        NETWORKS["mlp", False](*pad([([2] * 10,)]))


def test_one_text_too_few_or_too_many_is_refused():
    one = torch.zeros(1, 4)
    with pytest.raises(ValueError, match="two encoded texts"):
        NETWORKS["lstm", True].classify(one)
    with pytest.raises(ValueError, match="single texts"):
        NETWORKS["lstm", False].classify(one, one)


@pytest.mark.parametrize(
    "mask", [[[True, False, True]], [[False, False, False]], [[False, True, True]]]
)
def test_a_recurrent_network_refuses_gaps_and_empty_rows(mask: list[list[bool]]):
    with pytest.raises(InputError, match="followed by padding"):
        lengths(torch.tensor(mask))


def test_reverse_turns_the_words_and_leaves_the_padding():
    rows = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7], [8, 0, 0, 0]]).unsqueeze(2).float()
    turned = reverse(rows, torch.tensor([3, 4, 1])).squeeze(2).tolist()
    assert turned == [[3, 2, 1, 0], [7, 6, 5, 4], [8, 0, 0, 0]]


def test_dropout_works_only_while_training():
    network = tiny_model("cnn").network
    batch = pad([([2, 3, 4, 5],)] * 64)
    assert network(*batch).unique(dim=0).shape[0] == 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        assert network.train()(*batch).unique(dim=0).shape[0] > 1


def test_padding_has_the_zero_vector():
    for arch in ARCHITECTURES:
        assert not build(tiny_config(arch)).embedding.weight[0].any()
