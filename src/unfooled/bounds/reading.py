"""Reading: one text as a network reads it, with all that may be read instead, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unfooled.counting import Rows
from unfooled.models.networks import Network
from unfooled.sweeps.plan import Plan
from unfooled.sweeps.regions import Pick


@dataclass(frozen=True)
class Reading:
    """A network and the word vectors of one text and of its candidates.

    Candidates that the network cannot tell apart are one choice, those it cannot tell from the
    original are none, and words beyond the length it reads have no column: `plan` says which choice
    stands for which candidates. Everything is float64 and on the CPU; weights are those of the victim.
    """

    network: Network
    plan: Plan
    text: Tensor  # (words, d)
    choices: tuple[Tensor, ...]  # (choices, d), one for each column of the plan
    other: Tensor | None = None  # (1, features): the encoded fixed side of a pair,
    second: bool = False  # and whether the side that is read is the second

    def classify(self, features: Tensor) -> Tensor:
        """The logits (n, classes) of encoded texts (n, features)."""
        if self.other is None:
            return self.network.classify(features)
        fixed = self.other.expand(len(features), -1)
        return self.network.classify(*((fixed, features) if self.second else (features, fixed)))

    def vectors(self, picks: Sequence[Sequence[Pick]]) -> Tensor:
        """(n, words, d): the texts with these swaps, each a column of the plan and a choice."""
        found = self.text.repeat(len(picks), 1, 1)
        for row, swaps in enumerate(picks):
            for column, choice in swaps:
                found[row, self.plan.places[column]] = self.choices[column][choice]
        return found

    def logits(self, picks: Sequence[Sequence[Pick]]) -> Tensor:
        """(n, classes): the scores of the texts with these swaps, by a plain forward."""
        vectors = self.vectors(picks)
        mask = torch.ones(vectors.shape[:2], dtype=torch.bool)
        return self.classify(self.network.encode(vectors, mask))

    def row(self, picks: Sequence[Pick]) -> Rows:
        """The row of the space with these swaps."""
        return self.plan.row(picks)
