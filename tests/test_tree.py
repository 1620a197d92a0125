"""The tree of MCTS: UCT by hand, visits, sets of positions once, the end."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from unfooled.tree import Tree, uct


def test_uct_is_the_formula_of_the_paper() -> None:
    assert uct(0.6, 2, parent=5, alpha=0.5) == pytest.approx(
        0.6 / 2 + 0.5 * math.sqrt(2 * math.log(5) / 2)
    )
    assert uct(0.25, 1, parent=1, alpha=0.5) == 0.25


def test_a_tiny_tree_by_hand() -> None:
    """Three positions, two levels, alpha 0.5; values are given as the simulations would."""
    tree = Tree(3, 2, alpha=0.5)
    assert tree.size == 3 + 3
    assert tree.select() is tree.root
    a, b, c = tree.expand(tree.root)
    assert [v.columns for v in (a, b, c)] == [(0,), (1,), (2,)]
    a.value, b.value, c.value = 0.1, 0.4, 0.3
    tree.backpropagate(tree.root, 0.4)
    assert (tree.root.visits, tree.root.value) == (1, 0.4)

    # ln 1 = 0: only the values count, b is best.
    assert tree.select() is b
    ba, bc = tree.expand(b)
    assert [v.columns for v in (ba, bc)] == [(0, 1), (1, 2)]
    ba.value, bc.value = 0.45, 0.2
    tree.backpropagate(b, 0.45)
    assert (b.visits, b.value) == (2, pytest.approx(0.85))
    assert (tree.root.visits, tree.root.value) == (2, pytest.approx(0.85))

    # The second level is the last, so a and c are left: 0.1 and 0.3, with the same bonus.
    assert tree.leaves == [a, c]
    assert tree.select() is c
    assert [v.columns for v in tree.expand(c)] == [(0, 2)]  # (1, 2) is known through b
    tree.backpropagate(c, 0.0)
    assert tree.explored == tree.size == 6
    assert tree.select() is a
    assert tree.expand(a) == []
    tree.backpropagate(a, 0.0)
    assert tree.select() is None
    assert (tree.root.visits, c.visits, a.visits, b.visits) == (4, 2, 2, 2)


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, (0, 1)), (0.5, (0, 1)), (5.0, (2,))])
def test_exploration_against_exploitation(alpha: float, expected: tuple[int, ...]) -> None:
    """Three visits of the root against two of a: by sqrt(2 ln 3) and sqrt(2 ln 2)."""
    tree = Tree(3, 3, alpha=alpha)
    a, b, c = tree.expand(tree.root)
    a.value, b.value, c.value = 0.5, 0.4, 0.3
    tree.backpropagate(tree.root, 0.5)
    ab, _ = tree.expand(a)
    ab.value = 0.6
    tree.backpropagate(a, 0.6)
    tree.expand(b)
    tree.backpropagate(b, 0.0)
    by_hand = {
        (2,): 0.3 + alpha * math.sqrt(2 * math.log(3)),
        (0, 1): 0.6 + alpha * math.sqrt(2 * math.log(2)),
    }
    assert max(by_hand, key=lambda columns: by_hand[columns]) == expected
    chosen = tree.select()
    assert chosen is not None
    assert chosen.columns == expected


def test_of_equal_leaves_the_oldest() -> None:
    tree = Tree(3, 2, alpha=0.5)
    for i, child in enumerate(tree.expand(tree.root)):
        child.value = 0.5 + 1e-9 * i  # float noise does not decide
    tree.backpropagate(tree.root, 0.5)
    chosen = tree.select()
    assert chosen is not None
    assert chosen.columns == (0,)


@pytest.mark.parametrize(("positions", "depth"), [(1, 1), (4, 1), (4, 2), (5, 5), (6, 3)])
def test_every_set_of_positions_once(positions: int, depth: int) -> None:
    tree, seen = Tree(positions, depth, alpha=0.5), []
    while (leaf := tree.select()) is not None:
        children = tree.expand(leaf)
        seen += [child.columns for child in children]
        tree.backpropagate(leaf, 0.0)
    every = [c for n in range(1, depth + 1) for c in combinations(range(positions), n)]
    assert sorted(seen) == sorted(every)
    assert tree.explored == tree.size == len(every)
