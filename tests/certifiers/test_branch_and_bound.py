"""Branch and bound says what brute force says, and its cells partition the region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sweep_toys import ARCHITECTURES, naive
from sweep_toys import space as toy_space
from sweep_toys import victim as toy_victim
from unfooled.certifiers import branch_and_bound
from unfooled.certifiers.branch_and_bound import BranchAndBound
from unfooled.certifiers.exhaustive import Exhaustive
from unfooled.counting import ways
from unfooled.errors import InputError, Unsupported
from unfooled.evidence import NOISE
from unfooled.program import Scores, Sweep, Swept
from unfooled.proof import Proof
from unfooled.space import Space
from victim_doubles import Double, constant, job, solve

RNG = np.random.default_rng(0)


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees are always grown, and never given up."""
    monkeypatch.setattr(branch_and_bound, "_AT_ONCE", -1)
    monkeypatch.setattr(branch_and_bound, "_SOON", -1.0)
    monkeypatch.setattr(branch_and_bound, "_PATIENCE", np.inf)
    monkeypatch.setattr(branch_and_bound, "seconds_of", lambda *_, **__: -1.0)


def prove(victim: Any, space: Space, *, label: int, budget: int | None = None, **given: Any) -> Any:
    method = given.pop("method", BranchAndBound)
    program = method(**given).prove(space, label, np.random.default_rng(1))
    (found,) = solve(victim, [job(space, program, max_queries=budget)]).values()
    assert found.error is None
    return found


def least_by_swaps(victim: Any, space: Space, label: int, radius: int) -> list[float]:
    found = [naive(victim, space, k).margins(label) for k in range(radius + 1)]
    return [float(f.min()) if len(f) else np.inf for f in found]


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("pair", [False, True])
def test_decides_what_brute_force_decides(arch: str, pair: bool) -> None:
    verdicts, kinds = Counter[str](), Counter[str]()
    for seed in range(80 if arch in ("mlp", "cnn") else 24 if arch == "cnn-msr" else 8):
        victim = toy_victim(arch, seed=seed, pair=pair, classes=2 + seed % 2)
        space = toy_space(seed=seed, words=9, columns=5, candidates=4, pair=pair)
        radius = 1 + seed % 4
        scores = victim.scores([space.original.source])
        label = int(scores[0].argmax())
        least = least_by_swaps(victim, space, label, radius)
        if any(abs(m) < 20 * NOISE for m in least):
            continue
        proof: Proof = prove(victim, space, label=label, radius=radius).value
        fails = [k for k, m in enumerate(least) if m < 0]
        assert proof.verdict == ("falsified" if fails else "certified")
        assert proof.radius == (min(fails) - 1 if fails else radius)
        assert proof.size == space.size(radius)
        if proof.witness is not None:
            assert np.count_nonzero(proof.witness) == min(fails)
            shown = victim.scores([space.text(proof.witness).source])[0]
            assert int(shown.argmax()) != label
        verdicts[proof.verdict] += 1
        kinds[proof.argument["kind"]] += 1
        if proof.radius > 0:
            assert proof.argument["kind"] == "tree"
            assert_partition(victim, space, proof)
    assert min(verdicts["certified"], verdicts["falsified"]) >= 1
    assert kinds["tree"] >= 2


def assert_partition(victim: Any, space: Space, proof: Proof) -> None:
    """Every member, as the victim sees it, lies in exactly one cell or is a leaf."""
    argument, reading = proof.argument, victim.layers(victim.prepare(space))
    plan, order = reading.plan, argument["order"]
    numbers = {}
    for rank, column in enumerate(order):
        for choice in plan.choices[plan.columns.index(column)]:
            numbers[column, int(choice)] = len(numbers), rank
    canon = victim.prepare(space).canon
    leaves, inside = set(), 0
    for row in np.concatenate(list(space.enumerate(proof.radius))):
        seen = row if canon is None else canon[np.arange(len(row)), row]
        swaps = sorted(numbers[c, int(k)] for c, k in enumerate(seen) if (c, int(k)) in numbers)
        hits = 0
        for depth, level in enumerate(argument["cells"]):
            for fixed, start in zip(level["fixed"], level["start"], strict=True):
                made, rest = swaps[:depth], swaps[depth:]
                hits += [n for n, _ in made] == fixed and all(rank >= start for _, rank in rest)
        if hits:
            inside += 1
            assert hits == 1
        else:
            leaves.add(tuple(n for n, _ in swaps))
            assert len(swaps) == min(proof.radius, len(order))
    assert inside
    assert len(leaves) == argument["leaves"]


@pytest.mark.usefixtures("trees")
def test_every_stored_bound_is_below_the_margins_of_its_cell() -> None:
    for seed in range(12):
        victim = toy_victim(ARCHITECTURES[seed % 5], seed=seed)
        space = toy_space(seed=seed, words=8, columns=5, candidates=3)
        label = int(victim.scores([space.original.source])[0].argmax())
        proof: Proof = prove(victim, space, label=label, radius=3).value
        if proof.argument["kind"] != "tree":
            continue
        least = min(least_by_swaps(victim, space, label, proof.radius))
        bounds = [b for level in proof.argument["cells"] for b in level["bound"]]
        leaf = proof.argument["least_margin"]
        assert min([*bounds, np.inf if leaf is None else leaf]) <= least + 1e-5
        assert all(b > 0 for b in bounds)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_small_spaces_are_handed_to_the_sweep(arch: str) -> None:
    victim, space = toy_victim(arch, seed=3), toy_space(seed=3, words=9, columns=5, candidates=4)
    label = int(victim.scores([space.original.source])[0].argmax())
    found = prove(victim, space, label=label, radius=3).value
    whole = prove(victim, space, label=label, radius=3, method=Exhaustive).value
    assert (found.verdict, found.radius) == (whole.verdict, whole.radius)
    assert found.argument["kind"] == "enumeration"
    if found.verdict == "certified":
        assert found.argument["evaluated"] == space.size(3)


def test_the_network_of_a_small_space_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(branch_and_bound, "cell_bounds", lambda *a, **k: asked.append(a))
    victim, space = toy_victim("cnn", seed=3), toy_space(seed=3, words=9, columns=5, candidates=4)
    label = int(victim.scores([space.original.source])[0].argmax())
    assert prove(victim, space, label=label, radius=3).value.verdict in ("certified", "falsified")
    assert not asked
    for name in ("_AT_ONCE", "_SOON"):
        monkeypatch.setattr(branch_and_bound, name, -1)
    assert prove(victim, space, label=label, radius=3).value.verdict in ("certified", "falsified")
    assert len(asked) == 1


def test_the_estimate_decides_between_tree_and_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch_and_bound, "_AT_ONCE", 0)
    monkeypatch.setattr(branch_and_bound, "_SOON", 0.0)
    victim, space = (
        toy_victim("mlp", classes=2),
        toy_space(seed=8, words=12, columns=9, candidates=6),
    )
    victim.network.output.bias.copy_(victim.network.output.bias.new_tensor([0.0, 500.0]))
    for seconds, kind in ((1e9, "enumeration"), (0.0, "tree")):
        monkeypatch.setattr(branch_and_bound, "seconds_of", lambda *_, s=seconds, **__: s)
        proof = prove(victim, space, label=1, radius=3).value
        assert (proof.verdict, proof.radius, proof.argument["kind"]) == ("certified", 3, kind)


def test_a_tree_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch_and_bound, "_AT_ONCE", 0)
    monkeypatch.setattr(branch_and_bound, "_SOON", 0.0)
    monkeypatch.setattr(branch_and_bound, "_PATIENCE", 0.0)
    monkeypatch.setattr(branch_and_bound, "seconds_of", lambda *_, **__: 0.0)
    monkeypatch.setattr("unfooled.branching._NODES", 1)
    for seed in range(6):
        victim, space = (
            toy_victim("cnn", seed=seed),
            toy_space(seed=seed, words=9, columns=6, candidates=4),
        )
        label = int(victim.scores([space.original.source])[0].argmax())
        found = prove(victim, space, label=label, radius=3).value
        whole = prove(victim, space, label=label, radius=3, method=Exhaustive).value
        assert (found.verdict, found.radius) == (whole.verdict, whole.radius)


@pytest.mark.usefixtures("trees")
def test_near_ties_are_unknown() -> None:
    victim = toy_victim("mlp", classes=2)
    victim.network.output.weight.zero_()
    victim.network.output.bias.zero_()
    space = toy_space(seed=3, words=9, columns=6, candidates=4)
    proof = prove(victim, space, label=0, radius=2).value
    assert (proof.verdict, proof.radius) == ("unknown", -1)
    assert "near-tie" in proof.reason


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize("arch", ["mlp", "cnn"])
def test_one_near_tie_among_texts(arch: str) -> None:
    """The bias is moved until the worst pair of swaps has no margin: radius 1 stays proved."""
    checked = 0
    for seed in range(30):
        victim = toy_victim(arch, classes=2, seed=seed)
        space = toy_space(seed=seed, words=9, columns=6, candidates=4)
        label = int(victim.scores([space.original.source])[0].argmax())
        least = least_by_swaps(victim, space, label, 2)
        if least[2] > min(least[:2]) - 0.01:
            continue
        victim.network.output.bias[label] -= least[2]
        proof = prove(victim, space, label=label, radius=2).value
        assert (proof.verdict, proof.radius) == ("unknown", 1)
        assert "near-tie: a text with 2 swaps" in proof.reason
        assert proof.argument["kind"] == "tree"
        checked += 1
    assert checked >= 3


def test_limits() -> None:
    victim, space = (
        toy_victim("cnn", classes=2),
        toy_space(seed=8, words=9, columns=6, candidates=4),
    )
    victim.network.output.bias.copy_(victim.network.output.bias.new_tensor([0.0, 500.0]))
    late = prove(victim, space, label=1, radius=3, time_limit=1e-9).value
    assert (late.verdict, late.radius) == ("unknown", 0)
    assert late.reason.startswith("time: 1e-09 s ended before radius 1")
    for budget in (1, 2, space.size(1), space.size(2), space.size(3) - 1):
        cut = prove(victim, space, label=1, radius=3, budget=budget)
        assert cut.queries <= budget
        assert (cut.value.verdict, cut.exhausted) == ("unknown", True)
        assert cut.value.reason.startswith("budget")
        assert cut.value.radius == max(r for r in range(4) if space.size(r) <= budget)
    assert prove(victim, space, label=1, radius=3, time_limit=60.0).value.verdict == "certified"


def ended(program: Any, answer: Callable[[Any], Any]) -> Proof:
    """What a program returns whose questions have these answers."""
    try:
        asked = next(program)
        while True:
            asked = program.send(answer(asked))
    except StopIteration as end:
        found: Proof = end.value
        return found


@pytest.mark.parametrize(("pace", "share"), [(5e-6, 1.0), (1e-4, 0.1)])
def test_a_sweep_that_cannot_end_in_time_has_a_tenth_of_it(pace: float, share: float) -> None:
    """`pace`: seconds for a text, of 78,000 with two swaps and 9,880,000 with three."""
    space = Space(" ".join("w" * 40), {i: tuple("abcdefghij") for i in range(40)})
    sizes, allowed = ways(space.counts, 3), list[float]()

    def answer(asked: Any) -> Any:
        if isinstance(asked, Scores):
            return np.tile([0.0, 1.0], (len(asked.rows), 1))
        if not isinstance(asked, Sweep):
            return None
        allowed.append(asked.seconds)
        size, last = sizes[asked.swaps], asked.swaps == 3
        seconds = asked.seconds + 1.0 if last else pace * size
        return Swept(size - last, size - last, least=1.0, complete=not last, seconds=seconds)

    program = BranchAndBound(radius=3, time_limit=40.0).prove(space, 1, RNG)
    proof = ended(program, answer)
    assert (proof.verdict, proof.radius) == ("unknown", 2)
    assert allowed[-1] == pytest.approx(share * (40.0 - pace * (sizes[1] + sizes[2])))
    needs = ", which takes about 16 min" if share < 1.0 else ""
    assert proof.reason == f"time: 40 s ended before radius 3 was decided{needs}"


@pytest.mark.usefixtures("trees")
def test_trees_cost_no_queries_but_time() -> None:
    victim, space = (
        toy_victim("mlp", classes=2),
        toy_space(seed=8, words=9, columns=6, candidates=4),
    )
    victim.network.output.bias.copy_(victim.network.output.bias.new_tensor([0.0, 500.0]))
    found = prove(victim, space, label=1, radius=3, budget=1)
    assert (found.value.verdict, found.queries) == ("certified", 1)
    late = prove(victim, space, label=1, radius=3, time_limit=1e-9).value
    assert (late.verdict, late.reason[:5]) == ("certified", "")  # one step is always taken


def test_odd_texts() -> None:
    victim = toy_victim("mlp", classes=2)
    plain = Space("wa wb", {})
    label = int(victim.scores(["wa wb"])[0].argmax())
    assert prove(victim, plain, label=label, radius=4).value.radius == 4
    wrong = prove(victim, plain, label=1 - label, radius=4).value
    assert (wrong.verdict, wrong.radius) == ("falsified", -1)
    spelled = Space("wa wb", {0: ["wc wd"], 1: ["we"]})  # two words for one: no layers for it
    found = prove(victim, spelled, label=label, radius=2).value
    whole = prove(victim, spelled, label=label, radius=2, method=Exhaustive).value
    assert (found.verdict, found.radius) == (whole.verdict, whole.radius)
    blind = Space("xq wb", {0: ["xr", "xs"]})  # one and the same to the model
    label = int(victim.scores(["xq wb"])[0].argmax())
    assert prove(victim, blind, label=label, radius=2).value.verdict == "certified"


def test_victims_without_layers_are_refused() -> None:
    program = BranchAndBound(2).prove(Space("a b", {0: ["c"]}), 1, RNG)
    with pytest.raises(Unsupported, match="exhaustive works with every victim"):
        solve(Double(constant()), [job(Space("a b", {0: ["c"]}), program)])


def test_options() -> None:
    with pytest.raises(InputError, match="radius is a number of swaps"):
        BranchAndBound(-1)
    with pytest.raises(InputError, match="time_limit is a number of seconds above 0"):
        BranchAndBound(time_limit=0)
