"""Sweeps of recurrent networks: members that begin alike are read once, as a prefix tree.

One frontier of states walks through the text from swap to swap; between two places where a swap is
possible all its texts read the same words. With r swaps that takes about a (r + 1)-th of the steps.
The steps are those of the network's own LSTM: its fused kernel beat precomputed input projections
with a separate product (2.6 against 4.8 us a step with 256 units).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from unfooled.models.recurrent import LSTM, BiLSTM
from unfooled.sweeps.regions import Pick, Region, Regions
from unfooled.sweeps.sweep import Leaves, Walker

_ROWS, _ROWS_FAR = 512, 1 << 16  # states that take a step together: on a CPU, on another device
_MOST_FAR = 1 << 17  # texts of a region there
_BRANCHING = 2  # from so many children each, parents had better share what they add to the gates
_LARGEST = 1 << 62


class State(NamedTuple):
    """States after the same number of words: hidden, cell, and the maximum of the hidden so far."""

    hidden: Tensor
    cell: Tensor
    top: Tensor

    def of(self, index: Tensor) -> State:
        return State(self.hidden[index], self.cell[index], self.top[index])


def stepped(lstm: nn.LSTM, state: State, words: Tensor, rest: Tensor) -> State:
    """The states after a word of each state's own and the rest, word by word."""
    for word in (words, *rest):
        hidden, cell = torch.lstm_cell(word.expand(len(words), -1), state[:2], *lstm.all_weights[0])
        state = State(hidden, cell, torch.maximum(state.top, hidden))
    return state


def fused(lstm: nn.LSTM, state: State, words: Tensor, rest: Tensor) -> State:
    """The same by the kernel for whole sequences."""
    rows = len(words)
    more = _padded(rows) - rows
    vectors = torch.cat((words[:, None], rest.expand(rows, -1, -1)), dim=1)
    held = [pad(part, (0, 0, 0, more))[None] for part in state[:2]]
    steps, (hidden, cell) = lstm(pad(vectors, (0, 0, 0, 0, 0, more)), held)
    top = torch.maximum(state.top, steps[:rows].amax(dim=1))
    return State(hidden[0, :rows], cell[0, :rows], top)


class Trie:
    """One LSTM that reads one text: the states of all texts of a region, by their swaps.

    A text is known by its key, the numbers of its swaps as digits, the first place of the text
    first. `backwards`: the text and its places are given in reverse, so digits come last first.
    """

    def __init__(
        self,
        lstm: nn.LSTM,
        text: Tensor,
        *,
        places: Sequence[int],
        choices: Sequence[Tensor],
        backwards: bool,
    ) -> None:
        self._lstm, self._backwards, self._choices = lstm, backwards, choices
        self._rows = _ROWS if text.device.type == "cpu" else _ROWS_FAR
        self._text = text.flip(0) if backwards else text
        self._places = [len(text) - 1 - p for p in places] if backwards else list(places)
        blank = text.new_zeros((1, lstm.hidden_size))
        state = State(blank, blank, blank - torch.inf)
        self._before: dict[int, State] = {}  # the state before each place of a column
        stops = sorted({0, *self._places})
        for start, stop in zip(stops, [*stops[1:], len(text)], strict=True):
            self._before[start] = state
            state = self._read(state, self._text[start : start + 1], start=start, stop=stop)
        self.whole = state
        inputs, self._recurrent, *biases = lstm.all_weights[0]
        self._shares = [
            linear(torch.cat((self._text[p : p + 1], found)), inputs, biases[0] + biases[1])
            for p, found in zip(self._places, choices, strict=True)
        ]  # what the original and every choice of each column add to the gates

    def _read(self, state: State, words: Tensor, *, start: int, stop: int) -> State:
        """The states after words start to stop; the first of them is each state's own.

        On a GPU step by step: its kernel for whole sequences took six times as long with so many rows.
        """
        rest = self._text[start + 1 : stop]
        if words.device.type != "cpu":
            return stepped(self._lstm, state, words, rest)
        parts = []
        for begin in range(0, len(words), self._rows):
            few = slice(begin, begin + self._rows)
            parts.append(fused(self._lstm, State(*(part[few] for part in state)), words[few], rest))
        return State(*(torch.cat(found) for found in zip(*parts, strict=True)))

    def _branched(self, state: State, parents: Tensor, shares: Tensor) -> State:
        """The states after one more word; what the earlier words add to the gates is shared.

        Of tanh(x) = 2 sigmoid(2x) - 1 the right side is several times faster in torch, and exact to
        the last digits.
        """
        product = state.hidden @ self._recurrent.t()
        parts = []
        for begin in range(0, len(parents), self._rows):
            rows = parents[begin : begin + self._rows]
            gates = product[rows].add_(shares[begin : begin + self._rows])
            enter, keep, new, out = gates.chunk(4, dim=1)
            cell = keep.sigmoid_().mul_(state.cell[rows])
            cell = torch.addcmul(cell, enter.sigmoid_(), _tanh(new))
            hidden = out.sigmoid_().mul(_tanh(cell))
            parts.append(State(hidden, cell, torch.maximum(state.top[rows], hidden)))
        return State(*(torch.cat(found) for found in zip(*parts, strict=True)))

    def leaves(self, regions: Regions, region: Region) -> tuple[State, Tensor]:
        """The last states of every text of a region, and their keys."""
        forced = {span.column: span for span in region.forced}
        free = range(region.first, region.last) if region.free else ()
        columns = sorted([*forced, *free], key=self._places.__getitem__)
        branches = Branches.root(self._text.device)
        if not columns:
            return self.whole, branches.key
        state = self._before[self._places[columns[0]]]
        ends = [*(self._places[c] for c in columns[1:]), len(self._text)]
        coming = len(columns) - len(forced)
        for column, end in zip(columns, ends, strict=True):
            start, stop = forced[column][1:] if column in forced else (0, regions.counts[column])
            if column not in forced:
                coming -= 1
            need = None if column in forced else (region.free, coming)
            branches = branches.grown(stop - start, need=need)
            single = regions.starts[column] + start
            branches = branches.named(single, base=regions.starts[-1] + 1, last=self._backwards)
            place = self._places[column]
            options = torch.cat((self._text[place : place + 1], self._choices[column][start:stop]))
            parents, chosen = branches.parent, branches.choice
            words = options[chosen]
            if len(parents) >= _BRANCHING * len(state.hidden):
                shares = self._shares[column]
                picked = torch.where(chosen > 0, chosen + start, 0)
                state = self._branched(state, parents, shares[picked])
                if place + 1 < end:
                    words = self._text[place + 1].expand(len(parents), -1)
                    state = self._read(state, words, start=place + 1, stop=end)
            else:
                state = self._read(state.of(parents), words, start=place, stop=end)
        return state, branches.key


def _padded(rows: int) -> int:
    """A size that comes up again: a fused kernel is made anew, in a millisecond, for every size."""
    return max(8, 1 << (rows - 1).bit_length()) if rows <= 64 else -(-rows // 64) * 64


def _tanh(values: Tensor) -> Tensor:
    return (2 * values).sigmoid_().mul_(2).sub_(1)


class Branches(NamedTuple):
    """The nodes of a prefix tree at one place, and how they came from those before: (nodes,) each.

    They lie where the network is: a GPU reads texts faster than a CPU could list them.
    """

    parent: Tensor
    choice: Tensor  # 0: the original word
    key: Tensor
    swaps: Tensor  # so far
    used: Tensor  # free swaps so far

    @classmethod
    def root(cls, device: torch.device) -> Branches:
        return cls(*torch.zeros((5, 1), dtype=torch.int64, device=device))

    def grown(self, width: int, *, need: tuple[int, int] | None) -> Branches:
        """Each node with every choice that can still lead to a member.

        `need`: (free swaps of a member, free columns that come later); None: a swap is forced.
        """
        nodes = torch.arange(len(self.key), device=self.key.device)
        stay, swap = nodes[:0], nodes
        if need is not None:
            swaps, coming = need
            stay, swap = nodes[swaps - self.used <= coming], nodes[self.used < swaps]
        choices = torch.arange(1, width + 1, device=nodes.device)
        parent = torch.cat((stay, swap.repeat_interleave(width)))
        choice = torch.cat((torch.zeros_like(stay), choices.repeat(len(swap))))
        used = self.used[parent]
        if need is not None:
            used += choice > 0
        return Branches(parent, choice, self.key[parent], self.swaps[parent], used)

    def named(self, single: int, *, base: int, last: bool) -> Branches:
        """The nodes with the swaps made here in their keys; `single` is the number of choice 1."""
        made = self.choice > 0
        digit = torch.where(made, self.choice + single, 0)
        if last:
            key = self.key + digit * torch.pow(base, self.swaps)
        else:
            key = torch.where(made, self.key * base + digit, self.key)
        return self._replace(key=key, swaps=self.swaps + made)


class RecurrentWalker(Walker):
    """The prefix tree of an LSTM, or those of both directions of a BiLSTM."""

    least = 1024  # smaller trees share little
    most_free = 64  # as many as there are: the larger a tree, the more its texts share

    def __init__(
        self,
        network: LSTM | BiLSTM,
        text: Tensor,
        *,
        places: Sequence[int],
        choices: Sequence[Tensor],
    ) -> None:
        """`text` (words, d) and `choices` (candidates, d) at `places` are word vectors."""
        lstms = [network.lstm] if isinstance(network, LSTM) else [network.ahead, network.back]
        self._pooled = isinstance(network, BiLSTM)
        self._tries = [
            Trie(lstm, text, places=places, choices=choices, backwards=bool(number))
            for number, lstm in enumerate(lstms)
        ]
        self._singles = sum(map(len, choices))
        if text.device.type != "cpu":
            self.most = _MOST_FAR

    def reaches(self, swaps: int) -> bool:
        """Whether the keys of so many swaps fit into an integer."""
        return bool((self._singles + 1) ** swaps < _LARGEST)

    def leaves(self, regions: Regions, region: Region) -> Leaves:
        found, key = [], torch.empty(0)
        for trie in self._tries:
            state, keys = trie.leaves(regions, region)
            key, order = keys.sort()  # both directions in the same order
            found.append((state.top if self._pooled else state.hidden)[order])
        return Leaves(torch.cat(found, dim=1), lambda number: _picks(int(key[number]), regions))


def _picks(key: int, regions: Regions) -> list[Pick]:
    picks = []
    while key:
        key, digit = divmod(key, regions.starts[-1] + 1)
        picks.append(regions.pick(digit - 1))
    return picks[::-1]
