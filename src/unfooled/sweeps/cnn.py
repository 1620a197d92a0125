"""Sweeps of convolutional networks: a swap changes three windows, the rest of the maximum is known.

Swaps more than two words apart change different windows, so the strongest answers of a member are
the maximum of what each swap brings and of what is left of the text without the windows they change.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.sweeps.regions import Region, Regions, Span
from unfooled.sweeps.sweep import Leaves, Walker

_FLOATS = 1 << 19  # of the features of one region: what the processor's cache holds


class CNNWalker(Walker):
    """The windows of the text, and what every choice contributes to the windows around it."""

    def __init__(
        self,
        network: CNN | CNNMSR,
        text: Tensor,
        *,
        places: Sequence[int],
        choices: Sequence[Tensor],
    ) -> None:
        """`text` (words, d) and `choices` (candidates, d) at `places` are word vectors."""
        self._network, self._places, self._length = network, places, len(text)
        self._base = self._shares(text)  # (words, 3, features)
        self._found = [self._shares(vectors) for vectors in choices]  # (candidates, 3, features)
        self._bias = self._repeated(network.filters.bias)
        none = text.new_full((1, len(self._bias)), -torch.inf)
        self._windows = (
            torch.cat([self._window(t, {}, axes=0)[None] for t in range(self._length)])
            if self._length
            else none
        )
        self._none = none
        alone = [
            self._joint((Span(c, 0, len(found)),)) for c, found in enumerate(choices)
        ]  # what each swap brings when no other is near
        self._alone = torch.cat(alone) if alone else none[:0]
        self.most = max(16, _FLOATS // len(self._bias))

    def _repeated(self, bias: Tensor | None) -> Tensor:
        assert bias is not None
        return bias.repeat_interleave(self._base.shape[2] // len(bias))

    def _shares(self, vectors: Tensor) -> Tensor:
        """(n, 3, features): what a word adds to the window after it, around it and before it."""
        weight = self._network.filters.weight
        if isinstance(self._network, CNN):
            return torch.einsum("fdo,nd->nof", weight, vectors)
        rows = weight[:, 0].transpose(0, 1)  # (3, filters, 3)
        shares = [F.conv1d(vectors[:, None], row[:, None]).flatten(1) for row in rows]
        return torch.stack(shares, dim=1)

    def _window(self, at: int, swapped: dict[int, tuple[int, Span]], *, axes: int) -> Tensor:
        """The answers of a window, with an axis for each span and the features last.

        `swapped` maps a place to the axis and the span of the column that is swapped there.
        """
        total = self._bias
        for offset in range(3):
            place = at + offset - 1
            if place in swapped:
                axis, (column, start, stop) = swapped[place]
                shape = [1] * axes + [-1]
                shape[axis] = stop - start
                total = total + self._found[column][start:stop, offset].reshape(shape)
            elif 0 <= place < self._length:
                total = total + self._base[place, offset]
        return total

    def _joint(self, spans: Sequence[Span]) -> Tensor:
        """(texts, features): the strongest answers of the windows that swaps of these spans change."""
        axes = len(spans)
        shape = [span.width for span in spans]
        best = self._none.reshape([1] * axes + [-1])
        swapped = {self._places[span.column]: (i, span) for i, span in enumerate(spans)}
        for at in self._touched(spans):
            near = {p: swapped[p] for p in range(at - 1, at + 2) if p in swapped}
            best = torch.maximum(best, self._window(at, near, axes=axes))
        return best.expand(*shape, -1).reshape(-1, best.shape[-1])

    def _touched(self, spans: Sequence[Span]) -> list[int]:
        """The windows that swaps of these spans change."""
        places = [self._places[span.column] for span in spans]
        windows = {p + o for p in places for o in (-1, 0, 1)}
        return sorted(w for w in windows if 0 <= w < self._length)

    def _members(self, spans: Sequence[Span]) -> Tensor:
        """(texts, features): all choices of these spans, the rest of the text as it is."""
        left = self._windows.clone()
        left[self._touched(spans)] = -torch.inf
        return torch.maximum(self._joint(spans), left.amax(dim=0))

    def leaves(self, regions: Regions, region: Region) -> Leaves:
        spans = region.forced
        features = self._members(spans) if region.free == 0 else self._with_one(regions, region)
        return Leaves(features.relu_(), lambda number: regions.picks(region, number))

    def _with_one(self, regions: Regions, region: Region) -> Tensor:
        """All choices of the forced spans, each with every single swap of the free columns."""
        spans, columns = region.forced, range(region.first, region.last)
        left = self._windows.clone()
        left[self._touched(spans)] = -torch.inf
        before = torch.cat((self._none, left.cummax(dim=0).values))  # of the windows before each
        after = torch.cat((left.flip(0).cummax(dim=0).values.flip(0), self._none))
        places = torch.tensor([self._places[c] for c in columns], device=left.device)
        rest = torch.maximum(
            before[(places - 1).clamp(min=0)], after[(places + 2).clamp(max=self._length)]
        )  # (columns, features): of the windows that neither the spans nor the column changes
        widths = torch.tensor([regions.counts[c] for c in columns], device=left.device)
        begin, end = regions.starts[region.first], regions.starts[region.last]
        single = torch.maximum(rest.repeat_interleave(widths, dim=0), self._alone[begin:end])
        joint = self._joint(spans)
        out = torch.maximum(joint[:, None], single)  # (texts, swaps, features)
        for column in columns:
            if self._near(column, spans):  # shares windows with a span: computed with it
                first, last = (regions.starts[c] - begin for c in (column, column + 1))
                together = self._members((*spans, Span(column, 0, last - first)))
                out[:, first:last] = together.reshape(len(joint), last - first, -1)
        return out.flatten(0, 1)

    def _near(self, column: int, spans: Sequence[Span]) -> bool:
        here = self._places[column]
        return any(abs(here - self._places[span.column]) <= 2 for span in spans)
