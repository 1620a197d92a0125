"""Gradients per swap, against a linear model by hand and against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.text import Text
from unfooled.victims import Differentiable, Part
from unfooled.victims.huggingface import HuggingFaceVictim
from unfooled.victims.pretrained import Classifier
from unfooled.victims.word_slopes import read_spelled


class Linear(torch.nn.Module):
    """Logits are sums of weights times the token vectors, padding left out."""

    def __init__(self, vocabulary: int, *, dimensions: int = 4) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.table = torch.nn.Embedding(vocabulary, dimensions)
        self.table.weight.data = torch.randn(vocabulary, dimensions, generator=generator)
        self.weights = torch.randn(dimensions, 2, generator=generator)
        self.config = type("Config", (), {"pad_token_id": 0})()

    def get_input_embeddings(self) -> Any:
        return self.table

    def forward(
        self, input_ids: Any, attention_mask: Any = None, token_type_ids: Any = None
    ) -> Any:
        real = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        total = (self.table(input_ids) * real[..., None]).sum(dim=1)
        return type("Out", (), {"logits": total @ self.weights})()


@pytest.fixture(params=["uncased", "bytes", "metaspace"])
def linear(request: pytest.FixtureRequest, tokenizer: Any) -> HuggingFaceVictim:
    reads = tokenizer(request.param, 64)
    network = Linear(len(reads)).requires_grad_(False)
    return HuggingFaceVictim(Classifier(network, reads, ("a", "b"), 64), name="linear")


WORDS = ("film", "story", "people", "dull", "warm", "the", "park", "and", "never", "money", "long")


@pytest.mark.parametrize(("text", "position"), [("a {} yes", 1), ("so (good {}, no", 3)])
def test_gradients_are_exact_for_a_linear_model(
    linear: HuggingFaceVictim, text: str, position: int
) -> None:
    """Swaps between words of equally many pieces change the logits by exactly the prediction."""
    assert isinstance(linear, Differentiable)
    by_size: dict[tuple[int, int], list[str]] = {}
    for word in WORDS:
        space = Space(text.format("zzz"), {position: (word,)})
        spelled = read_spelled(space, np.array([[1]], np.int16), encoder=linear.encoder)
        size = len(spelled.places[0][0]), len(spelled.encoded.ids[0])  # a space may be a piece too
        by_size.setdefault(size, []).append(word)
    original, *others = max(by_size.values(), key=len)
    space = Space(text.format(original), {position: others})
    assert space.counts[0] >= 2
    part = Part(linear.prepare(space), np.array([[0], [1]], dtype=np.int16))
    (found,) = linear.gradients([part], [1])
    scores = linear.scores(space.sources(np.arange(space.counts[0] + 1)[:, None]))[:, 1]
    assert found[0, 0] == pytest.approx(scores - scores[0], abs=1e-4)
    assert found[1, 0] == pytest.approx(scores - scores[1], abs=1e-4)


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_gradients_are_slopes(folder: Callable[[str], Path], kind: str) -> None:
    """Moving the vectors of a word a little changes the logit as the gradient says."""
    made = HuggingFaceVictim.load(folder(kind))
    space = Space("the film is warm , really !", {1: ("movie", "people"), 3: ("dull",)})
    rows = np.array([[0, 0], [2, 1]], dtype=np.int16)
    (found,) = made.gradients([Part(made.prepare(space), rows)], [0])
    assert found.shape == (2, 2, 3)
    made.network.double()
    table = made.network.get_input_embeddings()
    spelled = read_spelled(space, rows, encoder=made.encoder)
    for number, row in enumerate(rows):
        line = np.frombuffer(spelled.encoded.ids[number], np.int64)
        inputs = {"input_ids": torch.tensor(line)[None]}
        for column in range(2):
            for choice in range(space.counts[column] + 1):
                swapped = row.copy()
                swapped[column] = choice
                other = read_spelled(space, swapped[None], encoder=made.encoder)
                places, theirs = spelled.places[number][column], other.places[0][column]
                ids = np.frombuffer(other.encoded.ids[0], np.int64)[theirs]
                target = table.weight[torch.tensor(ids)].mean(dim=0)
                step = target - table(inputs["input_ids"])[0, places].mean(dim=0)
                slope = _difference(made, inputs, places, step)
                assert found[number, column, choice] == pytest.approx(slope, abs=1e-3)
    assert found[0, 1, 2] == 0  # there is no second candidate


def _difference(
    made: Any, inputs: Any, places: list[int], step: Any, *, small: float = 1e-5
) -> float:
    ends = []
    for sign in (1, -1):

        def move(_module: Any, _inputs: Any, out: Any, sign: int = sign) -> Any:
            out = out.clone()
            out[0, places] += sign * small * step
            return out

        hook = made.network.get_input_embeddings().register_forward_hook(move)
        with torch.inference_mode():
            ends.append(float(made.network(**inputs).logits[0, 0]))
        hook.remove()
    return (ends[0] - ends[1]) / (2 * small)


def test_batches_of_several_spaces_and_pairs(linear: HuggingFaceVictim) -> None:
    spaces = [
        Space("the film", {1: ("story", "people")}),
        Space(Text.pair("a long premise here", "the film is dull"), {1: ("story",), 3: ("warm",)}),
        Space(Text.pair("the film", "is dull", editable="both"), {1: ("story",), 3: ("warm",)}),
        Space(Text.pair("the film", "is dull", editable="first"), {1: ("story",)}),
    ]
    parts = [Part(linear.prepare(s), s.rows(s.origin)) for s in spaces]
    together = linear.gradients(parts, [0, 1, 0, 1])
    for part, of, found in zip(parts, [0, 1, 0, 1], together, strict=True):
        (alone,) = linear.gradients([part], [of])
        assert found == pytest.approx(alone, abs=1e-5)
        assert found.shape == (
            1,
            len(part.prepared.space.counts),
            max(part.prepared.space.counts) + 1,
        )
        assert np.abs(found).max() > 0.01


def test_probes_and_words_cut_off(linear: HuggingFaceVictim) -> None:
    linear.encoder.limit = 6
    space = Space("the film is a film is dull", {1: ("story",), 6: ("warm",)})
    rows = np.array([[0, 0], [UNKNOWN, 0], [DELETED, 0]], dtype=np.int16)
    (found,) = linear.gradients([Part(linear.prepare(space), rows)], [0])
    assert (found[:, 1] == 0).all()  # nobody reads the last word
    assert (found[2, 0] == 0).all()  # a word that is gone has no slope
    assert (found[1, 0] != 0).all()  # both words differ from the unknown one
    assert found[0, 0, 0] == pytest.approx(0, abs=1e-6)


def test_padding_on_the_left_is_skipped(linear: HuggingFaceVictim) -> None:
    spaces = [Space("the film", {1: ("story",)}), Space("the film is not so dull", {1: ("story",)})]
    parts = [Part(linear.prepare(s), s.rows(s.origin)) for s in spaces]
    right = linear.gradients(parts, [0, 0])
    linear.encoder.pad_left = True
    for one, two in zip(right, linear.gradients(parts, [0, 0]), strict=True):
        assert one == pytest.approx(two, abs=1e-5)
