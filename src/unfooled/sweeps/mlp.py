"""Sweeps of MLP and DAN: a swap adds a vector to the first layer, so a member costs a sum and a ReLU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unfooled.models.mlp import Affine
from unfooled.sweeps.regions import Region, Regions
from unfooled.sweeps.sweep import Leaves, Walker


class MLPWalker(Walker):
    """The first layer of the text, and what every swap adds to it."""

    def __init__(
        self, network: Affine, text: Tensor, *, places: Sequence[int], choices: Sequence[Tensor]
    ) -> None:
        """`text` (words, d) and `choices` (candidates, d) at `places` are word vectors."""
        words, self._network = len(text), network
        shares = [network.share(place, words) @ vector for place, vector in enumerate(text)]
        self._base = torch.stack(shares).sum(dim=0) + network.affine.bias
        added = [
            (vectors - text[place]) @ network.share(place, words).t()
            for place, vectors in zip(places, choices, strict=True)
        ]
        self._added = torch.cat(added) if added else text.new_empty((0, len(self._base)))
        # A region stays in the processor's cache, or keeps another device busy.
        floats = 1 << (18 if text.device.type == "cpu" else 26)
        self.most = max(64, floats // len(self._base))

    def leaves(self, regions: Regions, region: Region) -> Leaves:
        sums = self._base[None]
        stretches = [
            (regions.starts[c] + start, regions.starts[c] + stop)
            for c, start, stop in region.forced
        ]
        if region.free:
            stretches.append((regions.starts[region.first], regions.starts[region.last]))
        for start, stop in stretches:
            sums = (sums[:, None] + self._added[start:stop]).flatten(0, 1)
        if self._network.hidden:
            hidden = self._network.after(sums)
        else:
            hidden = (
                sums.relu_() if stretches else sums.relu()
            )  # what was just made need not be kept
        return Leaves(hidden, lambda number: regions.picks(region, number))
