"""First layers: candidates are pushed through them before anything is boxed (Jia et al. 2019).

What a swap adds to a pre-activation is known exactly for each candidate, so its range over a region is the
value of the base text plus the `budget` lowest (or highest) of these changes: a top-r sum, not a hull.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from unfooled.bounds.graph import Back, Entry
from unfooled.bounds.region import Region
from unfooled.bounds.relaxations import Box


@dataclass(frozen=True)
class Windows(Entry):
    """An affine map of `width` neighbouring words for each word: (batch, words, out).

    Beyond the text there are zeros. Width 1 reads each word alone.
    """

    weight: Tensor  # (width, d, out)
    bias: Tensor  # (out,) or (words, out)

    @property
    def _before(self) -> int:
        return len(self.weight) // 2

    def value(self, vectors: Tensor) -> Tensor:
        """The output for texts (batch, words, d)."""
        words, width = vectors.shape[1], len(self.weight)
        wide = pad(vectors, (0, 0, self._before, width - 1 - self._before))
        found: Tensor = self.bias + sum(
            wide[:, o : o + words] @ self.weight[o] for o in range(width)
        )
        return found

    def box(self, region: Region) -> Box:
        middle = self.value(region.base)
        lows, highs = [], []
        for offset, tap in enumerate(self.weight):
            changes = region.points @ tap  # (batch, columns, choices, out)
            to = region.places.expand(len(region), -1) + self._before - offset
            lows.append(_placed(region.least(changes), to, words=middle.shape[1]))
            highs.append(_placed(region.most(changes), to, words=middle.shape[1]))
        fall = region.total(torch.stack(lows, dim=1))
        rise = -region.total(-torch.stack(highs, dim=1))
        return Box(middle + fall, middle + rise)

    def back(self, weights: Tensor) -> Back:
        words, width = weights.shape[2], len(self.weight)
        wide = pad(weights, (0, 0, width - 1 - self._before, self._before))
        found = sum(
            wide[:, :, width - 1 - o : width - 1 - o + words] @ self.weight[o].T
            for o in range(width)
        )
        return Back([torch.as_tensor(found)], (weights * self.bias).flatten(2).sum(dim=2))


@dataclass(frozen=True)
class Flat(Entry):
    """An affine map of all words together: (batch, out)."""

    weight: Tensor  # (words, d, out), or (1, d, out): the same for every word
    bias: Tensor  # (out,)
    scale: Tensor | None = None  # (batch, 1): of the sum over words, before the bias

    def box(self, region: Region) -> Box:
        words = region.base.shape[1]
        if len(self.weight) == 1:
            changes = region.points @ self.weight[0]
            value = region.base.sum(dim=1) @ self.weight[0]
        else:
            changes = region.points @ self.weight[region.places]  # (batch, columns, choices, out)
            value = torch.einsum("nwd,wdo->no", region.base, self.weight[:words])
        fall, rise = region.total(region.least(changes)), -region.total(-region.most(changes))
        scale = 1.0 if self.scale is None else self.scale
        return Box(scale * (value + fall) + self.bias, scale * (value + rise) + self.bias)

    def back(self, weights: Tensor) -> Back:
        constant = weights @ self.bias
        if self.scale is not None:
            weights = weights * self.scale.unsqueeze(1)
        return Back([torch.einsum("nko,wdo->nkwd", weights, self.weight)], constant)


def _placed(changes: Tensor, places: Tensor, *, words: int) -> Tensor:
    """(batch, words, out): changes (batch, columns, out) at the words they belong to; none outside."""
    inside = (places >= 0) & (places < words)
    kept = changes * inside.unsqueeze(2)
    index = places.clamp(0, words - 1).unsqueeze(2).expand_as(kept)
    return kept.new_zeros(len(kept), words, kept.shape[2]).scatter_add(1, index, kept)
