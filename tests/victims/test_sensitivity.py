"""The sensitivity of a Hugging Face classifier is the L1 norm of its gradient at each word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from unfooled.space import Space
from unfooled.victims.base import Sensitive
from unfooled.victims.huggingface import HuggingFaceVictim
from unfooled.victims.word_slopes import read_spelled


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_it_is_the_norm_of_the_gradient(folder: Callable[[str], Path], kind: str) -> None:
    made = HuggingFaceVictim.load(folder(kind))
    assert isinstance(made, Sensitive)
    space = Space("the film is warm , really !", {1: ("movie", "people"), 3: ("dull",)})
    found = made.sensitivity(made.prepare(space), 1)
    spelled = read_spelled(space, space.rows(space.origin), encoder=made.encoder)
    ids = torch.tensor(np.frombuffer(spelled.encoded.ids[0], np.int64).copy())[None]
    vectors = made.network.get_input_embeddings()(ids).detach().requires_grad_()
    logit = made.network(inputs_embeds=vectors).logits[0, 1]
    (slopes,) = torch.autograd.grad(logit, vectors)
    wanted = [float(slopes[0, places].abs().sum()) for places in spelled.places[0]]
    assert found == pytest.approx(wanted, rel=1e-4)
    assert (found > 0).all()
