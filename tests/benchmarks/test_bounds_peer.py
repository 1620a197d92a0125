"""What the comparison of bounds does without its peers: cases, our side of them, counting."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.bounds_peer import ours, peer_side
from benchmarks.bounds_peer.cases import CLASSES, FAMILIES, Case, Floats, Layer, cases
from benchmarks.bounds_peer.compare import NEAR, Tally, above, best, figures, tally
from benchmarks.bounds_peer.install import surroundings
from benchmarks.peers.talk import Talk

PAIRS = [(a, b) for a in range(CLASSES) for b in range(CLASSES) if a != b]


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    """As the process of the peers sets it."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def leads(logits: Floats) -> Floats:
    return np.array([logits[a] - logits[b] for a, b in PAIRS])


def corners(case: Case) -> Iterator[Floats]:
    """All of them, one by one."""
    for sides in product((False, True), repeat=case.lower.size):
        yield np.where(np.reshape(sides, case.lower.shape), case.upper, case.lower)


def small(family: str, *, count: int = 3) -> list[Case]:
    return [case for case in cases(family, count=30, seed=3) if case.lower.size <= 6][:count]


# --- cases and our side ---------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_follow_from_the_seed_and_more_begin_alike(family: str) -> None:
    few, more = cases(family, count=3, seed=1), cases(family, count=5, seed=1)
    assert [c.message() for c in few] == [c.message() for c in more[:3]]
    assert few[0].message() != cases(family, count=1, seed=2)[0].message()
    for case in more:
        assert (case.lower <= case.upper).all()
        assert case.lower.size <= 10
        read = json.loads(json.dumps(case.message()))
        assert np.array_equal(np.array(read["upper"]), case.upper)
        assert np.array_equal(np.array(read["layers"][0][0]), case.layers[0].weight)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_sides_build_the_same_function(family: str) -> None:
    for case in cases(family, count=10, seed=5):
        net = peer_side.network(case.message(), case.words)
        texts = torch.from_numpy(np.stack([case.lower, case.middle, case.upper]))
        with torch.no_grad():
            logits = ours.forward(case)(texts).numpy()
            theirs = torch.cat([net(text[None]) for text in texts]).numpy()
        assert np.allclose(theirs, [leads(row) for row in logits], rtol=1e-12, atol=1e-12)
        assert np.allclose(ours.middle(case), theirs[1], rtol=1e-12, atol=1e-12)


def test_a_convolution_is_a_matrix() -> None:
    for case in cases("convolution", count=5, seed=2):
        net = peer_side.network(case.message(), case.words).requires_grad_(False)
        text = torch.from_numpy(case.upper)[None]
        flat = peer_side.flattened(net, text)
        assert torch.allclose(flat(text.flatten(1)), net(text), rtol=1e-12, atol=1e-12)


def test_the_region_is_the_box() -> None:
    """The least of what is linear in the words, over both."""
    rng = np.random.default_rng(4)
    for case in cases("mlp", count=10, seed=6):
        slopes = rng.normal(size=case.lower.shape)
        expected = np.minimum(slopes * case.lower, slopes * case.upper).sum()
        found = ours.region(case).minimum(torch.from_numpy(slopes)[None, None])
        assert float(found) == pytest.approx(expected, abs=1e-12)


def test_intervals_are_those_of_interval_arithmetic() -> None:
    """Number by number, with the differences of logits in the last layer."""
    for case in cases("mlp", count=5, seed=7):
        *hidden, last = case.layers
        apart = Layer(
            np.array([last.weight[a] - last.weight[b] for a, b in PAIRS]),
            np.array([last.bias[a] - last.bias[b] for a, b in PAIRS]),
        )
        low, high = case.lower.ravel(), case.upper.ravel()
        for layer in [*hidden, apart]:
            ends = layer.weight * low, layer.weight * high
            low = np.minimum(*ends).sum(axis=1) + layer.bias
            high = np.maximum(*ends).sum(axis=1) + layer.bias
            bound = low
            low, high = low.clip(0), high.clip(0)
        found = ours.bounds(case, skip=("crown-ibp", "crown", "optimised"))["intervals"]
        assert np.allclose(found, bound, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_are_below_every_corner_and_what_was_found(family: str) -> None:
    for case in small(family):
        value = ours.forward(case)
        with torch.no_grad():
            logits = [value(torch.from_numpy(text)[None])[0].numpy() for text in corners(case)]
        lowest = np.min([leads(row) for row in logits], axis=0)
        found = ours.least(case, np.random.default_rng(0))
        assert (found <= lowest + 1e-12).all()
        for bound in ours.bounds(case, skip=("optimised",)).values():
            assert above(bound, found) == 0


def test_going_downhill_finds_what_no_corner_shows() -> None:
    """|x| as two ReLUs: the lead of class 0 is least, 0, in the middle of the box; corners have 1 and 2."""
    first = Layer(np.array([[1.0], [-1.0]]), np.zeros(2))
    last = Layer(np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]), np.zeros(3))
    case = Case("mlp", (first, last), np.array([[-1.0]]), np.array([[2.0]]))
    found = ours.least(case, np.random.default_rng(0))
    assert 0 <= found[0] < 0.05
    assert found[PAIRS.index((1, 0))] == -2
    assert above(np.array([0.1, 0, -2, 0, -2, 0]), found) == 1


# --- counting -------------------------------------------------------------------------------------


@pytest.fixture
def counted() -> Tally:
    """Three cases, one refused; of four bounds two equal, one is tighter here and one there."""
    return tally(
        ("mlp", "crown-ibp", "peer"),
        ours=[np.array([1.0, 2.0]), np.array([0.0, 0.0]), np.array([100.0, -3.0])],
        theirs=[np.array([1.0, 1.5]), None, np.array([100.0 + 50 * NEAR, -1.0])],
        least=[np.array([1.0, 1.9]), np.zeros(2), np.array([101.0, -2.0])],
    )


def test_tally(counted: Tally) -> None:
    assert (counted.cases, counted.refused, counted.bounds) == (2, 1, 4)
    assert (counted.equal, counted.ours, counted.theirs) == (2, 1, 1)
    assert (counted.ahead, counted.behind, counted.typical) == (0.5, 2.0, 1.25)
    assert (counted.above_ours, counted.above_theirs) == (1, 1)  # 2.0 over 1.9, -1.0 over -2.0
    assert counted.must_equal


def test_what_is_no_number_is_no_bound() -> None:
    found = tally(
        ("cnn", "crown-ibp", "peer"),
        ours=[np.array([1.0, 1.0])],
        theirs=[np.array([np.nan, 1.0])],
        least=[np.array([2.0, 2.0])],
    )
    assert (found.equal, found.above_ours, found.above_theirs) == (1, 0, 1)
    assert not found.must_equal


def test_nothing_compared_is_no_error() -> None:
    found = tally(
        ("cnn", "optimised", "peer"), ours=[np.ones(2)], theirs=[None], least=[np.ones(2)]
    )
    assert (found.bounds, found.refused, found.ahead, found.behind) == (0, 1, 0.0, 0.0)


def test_the_better_of_lines_and_intervals_is_taken() -> None:
    bounds = {"intervals": [0.0, -1.0], "crown": [-1.0, 2.0]}
    assert best(bounds, "crown") == pytest.approx(np.array([0.0, 2.0]))
    assert best(bounds, "optimised") is None


def test_figures_are_sums_for_each_peer(counted: Tally) -> None:
    found = figures([counted, counted])
    assert (found["peer_bounds"], found["peer_equal"], found["peer_same_rule"]) == (8, 4, 8)
    assert (found["peer_violations_ours"], found["peer_violations_theirs"]) == (2, 2)
    assert (found["peer_same_rule_equal"], found["peer_largest"], found["peer_refused"]) == (
        4,
        2,
        2,
    )


# --- the process ----------------------------------------------------------------------------------


def test_a_talk_asks_and_hears(tmp_path: Path) -> None:
    script = tmp_path / "side.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['do'] == 'end':\n"
        "        break\n"
        "    print(json.dumps(asked['x'] + 1), flush=True)\n"
    )
    with Talk(Path(sys.executable), script, os.environ) as peer:
        assert peer.ask(do="add", x=0.1) == 1.1
        assert peer.ask(do="add", x=2) == 3
        with pytest.raises(SystemExit, match="ended at 'end'"):
            peer.ask(do="end")


def test_the_peers_see_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    assert "PYTHONPATH" not in surroundings()
