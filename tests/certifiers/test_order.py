"""Listing members with their columns in another order: the same members, the first columns first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unfooled.counting import Lister, unpermuted
from unfooled.space import Space
from victim_doubles import members


@given(st.lists(st.integers(1, 3), max_size=5), st.integers(0, 3), st.randoms())
def test_every_member_once_whatever_the_order(
    counts: list[int], swaps: int, random: object
) -> None:
    order = list(range(len(counts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    space = Space(
        " ".join(f"w{i}" for i in order) or "w",
        {i: [f"c{i}x{k}" for k in range(n)] for i, n in enumerate(counts)},
    )
    lister = Lister([counts[c] for c in order], swaps)
    rows = unpermuted(lister.choices(swaps, 0, lister.totals[swaps]), order)
    listed = [tuple(row) for row in rows.tolist()]
    exactly = [row for row in members(space) if sum(k > 0 for k in row) == swaps]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(exactly)
    first = [min((order.index(c) for c, k in enumerate(row) if k), default=0) for row in listed]
    assert first == sorted(first)


def test_rows_are_put_back() -> None:
    choices = np.array([[1, 2, 3], [0, 5, 0]], dtype=np.int16)
    assert unpermuted(choices, (1, 2, 0)).tolist() == [[3, 1, 2], [0, 0, 5]]
    assert unpermuted(choices, (0, 1, 2)).tolist() == choices.tolist()
