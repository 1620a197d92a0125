"""Sweeps of convolutional networks: a swap changes three windows, the rest of the maximum is known.

Swaps more than two words apart change different windows, so the strongest answers of a member are
the maximum of what each swap brings and of what is left of the text without the windows they change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from unfooled.models.convolutional import CNN, CNNMSR
from unfooled.sweeps.regions import Pick, Region, Regions, Span
from unfooled.sweeps.sweep import Leaves, Walker

_REACH = 2  # swaps no further apart than this share windows
_FLOATS = 1 << 19  # of the features of one region: what the processor's cache holds,
_FLOATS_FAR = 1 << 27  # and what keeps another device busy


def shares(network: CNN | CNNMSR, vectors: Tensor) -> Tensor:
    """(n, 3, features): what a word adds to the window after it, around it and before it."""
    weight = network.filters.weight
    if isinstance(network, CNN):
        return torch.einsum("fdo,nd->nof", weight, vectors)
    rows = weight[:, 0].transpose(0, 1)  # (3, filters, 3)
    found = [conv1d(vectors[:, None], row[:, None]).flatten(1) for row in rows]
    return torch.stack(found, dim=1)


def constants(network: CNN | CNNMSR, features: int) -> Tensor:
    """(features,): what every window starts with."""
    bias = network.filters.bias
    assert bias is not None
    return bias.repeat_interleave(features // len(bias))


def windows(bias: Tensor, base: Tensor) -> Tensor:
    """(words, features): the answers of the windows of a text whose words add `base`."""
    found = bias + base[:, 1]
    found[1:] += base[:-1, 0]
    found[:-1] += base[1:, 2]
    return found


class CNNWalker(Walker):
    """The windows of the text, and what every choice contributes to the windows around it."""

    most_free = 64  # a region is computed product by product, and judged at once

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
        self._base = shares(network, text)  # (words, 3, features)
        every = shares(network, torch.cat((text[:0], *choices)))
        self._found = torch.split(every, [len(c) for c in choices]) if choices else ()
        self._bias = constants(network, self._base.shape[2])
        self._none = text.new_full((1, len(self._bias)), -torch.inf)
        self._windows = windows(self._bias, self._base)  # (words, features)
        self._pairs: dict[tuple[Span, ...], Tensor] = {}  # of columns that share windows
        self._starts = [0, *accumulate(map(len, choices))]  # of each column's choices in `_alone`
        spread = [p for p, found in zip(places, choices, strict=True) for _ in found]
        at = torch.tensor(spread, dtype=torch.long, device=text.device)
        self._alone = self._single(every, at)
        self._first = (at - 1).clamp(min=0)  # the first window that each choice changes,
        self._next = (at + 2).clamp(max=len(text))  # and the first after them
        floats = _FLOATS if text.device.type == "cpu" else _FLOATS_FAR
        self.most = max(16, floats // len(self._bias))

    def _single(self, shares: Tensor, at: Tensor) -> Tensor:
        """(swaps, features): the strongest answer of the windows that each swap changes, alone.

        `shares` (swaps, 3, features) is what the new words add, `at` their places.
        """
        around = pad(self._base, (0, 0, 0, 0, 2, 2))  # words outside add nothing
        here = self._bias + around[at + 1, 0] + around[at + 3, 2] + shares[:, 1]
        before = self._bias + around[at, 0] + around[at + 1, 1] + shares[:, 2]
        after = self._bias + around[at + 3, 1] + around[at + 4, 2] + shares[:, 0]
        before[at == 0] = -torch.inf  # there is no window before the first word,
        after[at == self._length - 1] = -torch.inf  # and none after the last
        return torch.maximum(here, torch.maximum(before, after))

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
        best = self._none.reshape([1] * len(spans) + [-1])
        for group in self._groups(spans):
            part = self._together(tuple(spans[i] for i in group))
            shape = [spans[i].width if i in group else 1 for i in range(len(spans))]
            best = torch.maximum(best, part.reshape(*shape, -1))
        return best.reshape(-1, best.shape[-1])

    def _groups(self, spans: Sequence[Span]) -> list[list[int]]:
        """The spans by number, those that share windows (also through others) together, in order."""
        by_place = sorted(range(len(spans)), key=lambda i: self._places[spans[i].column])
        groups: list[list[int]] = []
        for i in by_place:
            place = self._places[spans[i].column]
            if groups and place - self._places[spans[groups[-1][-1]].column] <= _REACH:
                groups[-1].append(i)
            else:
                groups.append([i])
        return [sorted(group) for group in groups]

    def _together(self, spans: tuple[Span, ...]) -> Tensor:
        """The same for spans that share windows; pairs come up again and again."""
        if len(spans) == 1:
            ((column, start, stop),) = spans
            first = self._starts[column]
            return self._alone[first + start : first + stop]
        if len(spans) > 2:
            return self._computed(spans)
        if spans not in self._pairs:
            self._pairs[spans] = self._computed(spans)
        return self._pairs[spans]

    def _computed(self, spans: tuple[Span, ...]) -> Tensor:
        axes = len(spans)
        shape = [span.width for span in spans]
        best = self._none.reshape([1] * axes + [-1])
        swapped = {self._places[span.column]: (i, span) for i, span in enumerate(spans)}
        for at in self._touched(spans):
            best = torch.maximum(best, self._window(at, swapped, axes=axes))
        return best.expand(*shape, -1).reshape(-1, best.shape[-1])

    def _touched(self, spans: Sequence[Span]) -> list[int]:
        """The windows that swaps of these spans change."""
        places = [self._places[span.column] for span in spans]
        windows = {p + o for p in places for o in (-1, 0, 1)}
        return sorted(w for w in windows if 0 <= w < self._length)

    def _left(self, spans: Sequence[Span]) -> Tensor:
        """The windows of the text, those that swaps of these spans change taken out."""
        left = self._windows.clone()
        for span in spans:
            place = self._places[span.column]
            left[max(place - 1, 0) : place + 2] = -torch.inf
        return left

    def leaves(self, regions: Regions, region: Region) -> Leaves:
        parts = regions.products(region)
        ends = list(accumulate(regions.texts(part) for part in parts))
        features = self._none.new_empty((ends[-1], self._none.shape[1]))
        for part, end in zip(parts, ends, strict=True):
            out = features[end - regions.texts(part) : end]
            if part.free:
                self._with_one(regions, part, out=out)
            else:
                rest = self._left(part.forced).amax(dim=0)
                torch.maximum(self._joint(part.forced), rest, out=out)

        def picks(number: int) -> list[Pick]:
            which = bisect_right(ends, number)
            return regions.picks(parts[which], number - (ends[which - 1] if which else 0))

        return Leaves(features.relu_(), picks)

    def _with_one(self, regions: Regions, region: Region, *, out: Tensor) -> None:
        """All choices of the forced spans, each with every single swap of the free columns."""
        spans, columns = region.forced, range(region.first, region.last)
        left = self._left(spans)
        before = torch.cat((self._none, left.cummax(dim=0).values))  # of the windows before each
        after = torch.cat((left.flip(0).cummax(dim=0).values.flip(0), self._none))
        begin, end = regions.starts[region.first], regions.starts[region.last]
        rest = torch.maximum(before[self._first[begin:end]], after[self._next[begin:end]])
        single = torch.maximum(rest, self._alone[begin:end])  # (swaps, features)
        joint = self._joint(spans)
        out = out.view(len(joint), len(single), -1)  # (texts, swaps, features)
        torch.maximum(joint[:, None], single, out=out)
        for column in columns:
            if self._near(column, spans):  # shares windows with a span: computed with it
                first, last = (regions.starts[c] - begin for c in (column, column + 1))
                together = self._joint((*spans, Span(column, 0, last - first)))
                together = together.reshape(len(joint), last - first, -1)
                torch.maximum(together, rest[first], out=out[:, first:last])

    def _near(self, column: int, spans: Sequence[Span]) -> bool:
        here = self._places[column]
        return any(abs(here - self._places[span.column]) <= _REACH for span in spans)
