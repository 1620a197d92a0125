"""The benchmark of TextFooler with a sentence encoder, with small networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks import similarity
from benchmarks.engine import bert, examples, word_model
from benchmarks.similarity import Replay, ratio, sentence_encoder


class Sum(torch.nn.Module):
    """Adds up ids, and remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[list[int]]] = []

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        self.seen.append([row[m].tolist() for row, m in zip(ids, mask, strict=True)])
        return (ids * mask).sum(1)


def test_a_replay_runs_the_same_rows_again_without_padding() -> None:
    network = Sum()
    replay = Replay(network)
    ids = torch.tensor([[1, 2, 3], [4, 5, 0]])
    assert network(ids, torch.tensor([[True] * 3, [True, True, False]])).tolist() == [6, 9]
    network(torch.tensor([[7]]), torch.tensor([[True]]))
    network(torch.tensor([[8], [9]]), torch.ones(2, 1, dtype=torch.bool))
    network.seen.clear()
    assert replay.raw() > 0
    # All batches as one, then the single row.
    assert network.seen == [[[1, 2, 3], [4, 5], [8], [9]], [[7]]]
    network.seen.clear()
    assert replay.raw() == 0  # what was run is forgotten
    assert network.seen == []


@pytest.mark.parametrize("kind", ["words", "bert"])
def test_the_ratio_counts_both_networks(kind: str) -> None:
    small = {"layers": 1, "width": 32}
    rng = np.random.default_rng(0)
    victim, known = bert(rng, **small) if kind == "bert" else word_model(rng, arch="cnn")
    if kind == "bert":  # so small a network hardly moves its scores, and nothing would be compared
        victim.network.classifier.weight.mul_(100)
    encoder = sentence_encoder(np.random.default_rng(0), **small)
    spaces = examples(known, length=16, count=8, rng=np.random.default_rng(1))
    value, share = ratio(victim, encoder, spaces)
    assert value > 0.5
    assert 0 < share < 1


def test_all_figures_are_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(similarity, "ratio", lambda *given: (1.2345, 0.5))
    keys = ["textfooler_encoder_words", "textfooler_encoder"]
    assert similarity.measure(texts=2) == dict.fromkeys(keys, 1.234)
    assert "50 %" in capsys.readouterr().out
