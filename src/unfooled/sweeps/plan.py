"""Plan: what may be swapped in one text, as far as its victim can tell words apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unfooled.counting import Rows, ways
from unfooled.sweeps.regions import Pick


@dataclass(frozen=True)
class Plan:
    """What may be swapped. All but `counts` run over its columns, those to be tried first first.

    Columns whose candidates all look like the original word to the victim are not in it.
    """

    counts: tuple[int, ...]  # candidates of each column of the space
    columns: tuple[int, ...]  # of the space
    places: tuple[int, ...]  # of the words, in the text that the network reads
    choices: tuple[NDArray[np.int64], ...]  # one for each word that differs to the victim
    weights: tuple[tuple[int, ...], ...]  # for how many candidates each of these stands

    def row(self, picks: Sequence[Pick]) -> Rows:
        """The row of these swaps."""
        row = np.zeros(len(self.counts), dtype=np.int16)
        for column, choice in picks:
            row[self.columns[column]] = self.choices[column][choice]
        return row

    def blind(self, swaps: int) -> int:
        """Members with so many swaps that look to the victim like one with fewer."""
        seen = [sum(w) for w in self.weights]
        return ways(self.counts, swaps)[swaps] - ways(seen, swaps)[swaps]
