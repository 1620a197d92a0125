"""Readings of random small networks on random small spaces, and their exact margins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product

import torch
from torch import Tensor

from sweep_toys import space, victim
from unfooled.ascent import optimised
from unfooled.bounds.margins import Bounds, Method, margins
from unfooled.bounds.reading import Reading
from unfooled.bounds.region import Region
from unfooled.sweeps.regions import Pick

MOST = 3  # swaps


@dataclass(frozen=True)
class Case:
    """One text that a network reads, with a label."""

    reading: Reading
    label: int

    @cached_property
    def leads(self) -> list[Tensor]:
        """For 0, 1, ... swaps (texts, classes): logit[label] - logit[k] of all with so many."""
        found = members(self.reading)
        logits = self.reading.logits(found)
        leads = logits[:, self.label, None] - logits
        swaps = torch.tensor([len(picks) for picks in found])
        return [leads[swaps == k] for k in range(MOST + 1)]

    def least(self, swaps: int) -> Tensor:
        """(classes,): the exact least within so many swaps, infinite for the label itself."""
        found = torch.cat(self.leads[: swaps + 1]).amin(dim=0)
        found[self.label] = torch.inf
        return found


def members(reading: Reading) -> list[list[Pick]]:
    """All texts within `MOST` swaps."""
    counts = [len(c) for c in reading.choices]
    return [
        [Pick(c, j) for c, j in zip(columns, chosen, strict=True)]
        for k in range(MOST + 1)
        for columns in combinations(range(len(counts)), k)
        for chosen in product(*(range(counts[c]) for c in columns))
    ]


def cases(arch: str, *, seed: int, pair: bool = False, count: int = 30) -> list[Case]:
    """Texts of one to nine words for one network; one in five has a label that it does not give.

    Weights are large in some networks and small in others, so that bounds are loose and tight.
    """
    model = victim(arch, seed=seed, pair=pair)
    for weight in model.network.parameters():
        weight.mul_((1.0, 0.5, 0.25)[seed % 3])
    found = []
    for number in range(count):
        words = 1 + (5 * number) % 9
        numbered = 1000 * seed + number
        text = space(seed=numbered, words=words, columns=min(words, 4), candidates=3, pair=pair)
        reading = model.layers(model.prepare(text))
        assert reading is not None
        best = int(reading.logits([[]])[0].argmax())
        found.append(Case(reading, (best + (number % 5 == 4)) % 3))
    return found


def bound(found: list[Case], budgets: list[int], method: Method, steps: int = 6) -> Bounds:
    """The bounds of all cases in one batch."""
    readings = [case.reading for case in found]
    others = [r.other for r in readings if r.other is not None]
    return margins(
        readings[0].network,
        Region.of(readings, budgets),
        labels=[case.label for case in found],
        method=method,
        other=torch.cat(others) if others else None,
        second=readings[0].second,
        ascend=partial(optimised, steps=steps),
    )
