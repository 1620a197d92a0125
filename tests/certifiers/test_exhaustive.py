"""Certified within a radius if and only if brute force finds no text there that fools."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sweep_toys import ARCHITECTURES, naive
from sweep_toys import space as toy_space
from sweep_toys import victim as toy_victim
from unfooled import registry
from unfooled.certifiers.exhaustive import METHOD, Exhaustive
from unfooled.errors import InputError, Unsound, Unsupported
from unfooled.evidence import margins, tolerance
from unfooled.program import Program, Scores, Sensitivity, Spent, Sweep, Swept
from unfooled.proof import Proof
from unfooled.space import Space
from victim_doubles import Double, Sloped, constant, job, linear, members, rule, solve

RNG = np.random.default_rng(0)


class Desk:
    """Answers one program from a function of rows, so that thousands of cases take seconds."""

    def __init__(self, scores: Any, *, budget: int | None = None, slopes: Any = None) -> None:
        self.scores, self.budget, self.slopes = scores, budget, slopes
        self.asked: list[tuple[int, ...]] = []
        self.sizes: list[int] = []

    def run(self, program: Program[Proof]) -> Proof:
        answer: Any = None
        try:
            while True:
                question = program.send(answer)
                answer = self._answer(program, question)
        except StopIteration as stop:
            found: Proof = stop.value
            return found

    def _answer(self, program: Program[Proof], question: Any) -> Any:
        if isinstance(question, Sensitivity):
            return self.slopes
        if isinstance(question, Sweep):
            return None
        assert isinstance(question, Scores)
        left = None if self.budget is None else self.budget - len(self.asked)
        rows = question.rows[:left]
        self.asked += map(tuple, rows.tolist())
        self.sizes.append(len(rows))
        if len(rows) < len(question.rows):
            program.throw(Spent(rows, self.scores(rows)))
            raise AssertionError("a program has no question after its budget")
        return self.scores(rows)


def linear_case(seed: int) -> tuple[Space, Any]:
    """A small space and a linear score with whole-number weights: sums are exact, ties frequent."""
    rng = np.random.default_rng(seed)
    words = int(rng.integers(1, 6))
    counts = rng.integers(0, 4, size=words)
    space = Space(
        " ".join(f"w{i}" for i in range(words)),
        {i: [f"c{i}x{k}" for k in range(n)] for i, n in enumerate(counts) if n},
    )
    table = rng.integers(-3, 3, size=(len(space.counts), 4)).astype(float)
    table[:, 0] = 0
    bias = float(rng.integers(-1, 9))

    def scores(rows: np.ndarray) -> np.ndarray:
        at = np.maximum(rows, 0)
        total = bias + table[np.arange(len(space.counts)), at].sum(axis=1)
        return np.stack([np.zeros(len(rows)), total], axis=1)

    return space, scores


def brute_force(space: Space, scores: Any, radius: int) -> tuple[str, int]:
    """Verdict, and the largest proved radius, from a full listing."""
    every = members(space)
    rows = np.array(every, dtype=np.int16).reshape(len(every), len(space.counts))
    found = scores(rows)
    lead, width, swaps = margins(found, 1), tolerance(found), np.count_nonzero(rows, axis=1)
    inside = swaps <= radius
    verdict = (
        "falsified" if (lead[inside] < -width[inside]).any()
        else "unknown" if (lead[inside] <= width[inside]).any() else "certified"
    )  # fmt: skip
    bad = swaps[lead <= width]
    return verdict, min(radius, int(bad.min()) - 1) if len(bad) else radius


@pytest.mark.parametrize("order", ["auto", "none", "leave-one-out"])
def test_certified_if_and_only_if_brute_force_finds_nothing(order: Any) -> None:
    verdicts = set()
    for seed in range(1500):
        space, scores = linear_case(seed)
        radius = seed % 6
        desk = Desk(scores)
        proof = desk.run(Exhaustive(radius, order).prove(space, 1, RNG))
        verdict, proved = brute_force(space, scores, radius)
        assert proof.verdict == verdict
        # After a near-tie a counterexample may come with more swaps: what is proved stays.
        assert proof.radius == proved
        assert proof.size == len(members(space, radius))
        if verdict == "certified":
            asked = {row for row in desk.asked if min(row, default=0) >= 0}
            assert asked == set(members(space, radius))
            assert proof.argument["evaluated"] == proof.size
            where = space.rows(proof.argument["least_row"])
            assert proof.argument["least_margin"] == margins(scores(where), 1)[0]
            rows = np.array(sorted(asked), dtype=int).reshape(len(asked), len(space.counts))
            assert proof.argument["least_margin"] == margins(scores(rows), 1).min()
        if verdict == "falsified":
            assert proof.witness is not None
            assert space.contains(proof.witness, radius)[0]
            assert margins(scores(proof.witness[None]), 1)[0] < 0
        else:
            assert proof.witness is None
        assert bool(proof.reason) == (verdict == "unknown")
        verdicts.add(verdict)
    assert verdicts == {"certified", "falsified", "unknown"}


def test_a_larger_radius_never_proves_less() -> None:
    for seed in range(300):
        space, scores = linear_case(seed)
        proofs = [Desk(scores).run(Exhaustive(r).prove(space, 1, RNG)) for r in range(5)]
        for small, large in pairwise(proofs):
            assert large.radius >= small.radius
            if large.verdict == "certified":
                assert small.verdict == "certified"
            if small.verdict == "falsified":
                assert large.verdict == "falsified"


def test_a_budget_leaves_the_radius_that_was_proved() -> None:
    reached = set()
    for seed in range(400):
        space, scores = linear_case(seed)
        full = Desk(scores).run(Exhaustive(4).prove(space, 1, RNG))
        budget = 1 + seed % 40
        proof = Desk(scores, budget=budget).run(Exhaustive(4).prove(space, 1, RNG))
        assert proof.argument["evaluated"] <= budget
        if budget >= full.size:
            assert (proof.verdict, proof.radius) == (full.verdict, full.radius)
            continue
        done = [r for r in range(5) if space.size(r) <= proof.argument["evaluated"]]
        if proof.verdict == "unknown" and "near-tie" not in full.reason and full.radius >= 0:
            assert proof.reason.startswith(
                f"budget: {proof.argument['evaluated']} of {full.size} texts"
            )
            assert proof.radius == min(max(done), full.radius)
            reached.add(proof.radius)
        assert proof.verdict != "certified"
        assert proof.radius <= full.radius
    assert reached >= {0, 1, 2}


def test_a_lost_chunk_is_no_proof() -> None:
    space = Space("a b c d", {i: [f"x{i}", f"y{i}"] for i in range(4)})

    def forgetful(rows: np.ndarray) -> np.ndarray:
        return np.tile([0.0, 1.0], (len(rows) - 2 * (len(rows) > 12), 1))

    with pytest.raises(Unsound, match=r"counted \d+ texts within 2 swaps .* and there are 33"):
        Desk(forgetful).run(Exhaustive(3).prove(space, 1, RNG))


def test_a_sweep_that_miscounts_is_no_proof() -> None:
    space = Space("a b", {0: ["x"], 1: ["y"]})
    program = Exhaustive(1).prove(space, 1, RNG)
    next(program)
    assert isinstance(program.send(np.array([[0.0, 1.0]])), Sweep)
    with pytest.raises(Unsound):
        program.send(Swept(1, 1, least=1.0, least_row=space.origin, complete=True))


def test_chunks_double_from_sixteen() -> None:
    space = Space(" ".join("abcdefghij"), {i: [f"x{i}", f"y{i}", f"z{i}"] for i in range(10)})
    desk = Desk(lambda rows: np.tile([0.0, 1.0], (len(rows), 1)))
    assert desk.run(Exhaustive(3).prove(space, 1, RNG)).verdict == "certified"
    assert desk.sizes[:3] == [1, 10, 16]  # the original, leave-one-out, then one swap
    assert desk.sizes[3:] == [14, 16, 32, 64, 128, 165, 16, 32, 64, 128, 256, 512, 1024, 1208]
    assert len(set(desk.asked)) == len(desk.asked)


def test_sensitive_positions_come_first() -> None:
    space = Space(" ".join("abcdefghij"), {i: [f"x{i}", f"y{i}", f"z{i}"] for i in range(10)})
    slopes = np.array([0.0, 5, 1, 9, 2, 0, 0, 0, 0, 0])

    def scores(rows: np.ndarray) -> np.ndarray:
        both = (rows[:, 3] > 0) & (rows[:, 1] > 0)
        return np.stack([np.zeros(len(rows)), np.where(both, -1.0, 1.0)], axis=1)

    desk = Desk(scores, slopes=slopes)
    proof = desk.run(Exhaustive(3).prove(space, 1, RNG))
    assert (proof.verdict, proof.radius) == ("falsified", 1)
    assert np.flatnonzero(proof.witness).tolist() == [1, 3]
    assert len(desk.asked) == 1 + 30 + 16  # found in the first chunk of pairs
    unordered = Desk(scores).run(Exhaustive(3, "none").prove(space, 1, RNG))
    assert unordered.argument["evaluated"] > proof.argument["evaluated"]
    alone = Desk(lambda rows: scores(np.where(rows == -2, 1, rows)), slopes=None)
    assert alone.run(Exhaustive(2, "leave-one-out").prove(space, 1, RNG)).verdict == "falsified"


def test_gradients_that_are_not_there() -> None:
    program = Exhaustive(2, "gradient").prove(Space("a b", {0: ["x"]}), 1, RNG)
    desk = Desk(lambda rows: np.tile([0.0, 1.0], (len(rows), 1)))
    with pytest.raises(Unsupported, match="order gradient needs a victim with gradients"):
        desk.run(program)


def test_a_text_without_candidates_and_one_misclassified() -> None:
    plain = Space("nothing here", {})
    proof = Desk(lambda rows: np.array([[0.0, 2.0]])).run(Exhaustive(4).prove(plain, 1, RNG))
    assert (proof.verdict, proof.radius, proof.size, proof.argument["least_margin"]) == (
        "certified",
        4,
        1,
        2.0,
    )
    wrong = Desk(lambda rows: np.array([[2.0, 0.0]])).run(Exhaustive(4).prove(plain, 1, RNG))
    assert (wrong.verdict, wrong.radius, wrong.argument["least_margin"]) == ("falsified", -1, None)
    tied = Desk(lambda rows: np.array([[2.0, 2.0]])).run(Exhaustive(4).prove(plain, 1, RNG))
    assert (tied.verdict, tied.radius) == ("unknown", -1)
    assert "near-tie: a text with 0 swaps" in tied.reason


def test_options_and_registry() -> None:
    assert registry.build("certifiers", "exhaustive", {"radius": 2}) == METHOD(radius=2)
    with pytest.raises(InputError, match="radius is a number of swaps"):
        Exhaustive(-1)
    with pytest.raises(InputError, match="option order"):
        registry.build("certifiers", "exhaustive", {"order": "alphabet"})


# --- through the engine ---------------------------------------------------------------------------


def prove(
    victim: Any, space: Space, *, label: int = 1, budget: int | None = None, **options: Any
) -> Any:
    program = Exhaustive(**options).prove(space, label, RNG)
    (found,) = solve(victim, [job(space, program, max_queries=budget)]).values()
    assert found.error is None
    return found


def test_victims_that_only_score() -> None:
    space = Space("a good film", {1: ["fine", "poor"], 2: ["movie"]})
    found = prove(Double(rule("poor", "movie")), space)
    assert (found.value.verdict, found.value.radius) == ("falsified", 1)
    assert found.value.witness.tolist() == [2, 1]
    assert found.queries == found.forwards == 6
    assert prove(Double(constant()), space).value.argument["evaluated"] == 6
    short = prove(Double(constant()), space, budget=5)
    assert (short.value.verdict, short.value.radius, short.exhausted) == ("unknown", 1, True)
    sloped = Sloped({"good": 2.0, "poor": 0.5})  # has gradients, but no norms of them
    assert prove(sloped, space, order="auto").value.verdict == "unknown"  # fine, movie: 0, a tie
    assert prove(Double(linear({}, 1.0)), space).value.verdict == "certified"


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_word_models_agree_with_forwards(arch: str) -> None:
    verdicts = set()
    for seed in range(6):
        victim = toy_victim(arch, seed=seed)
        space = toy_space(seed=seed, words=9, columns=6, candidates=4)
        label = int(victim.scores([space.original.source])[0].argmax())
        proof: Proof = prove(victim, space, label=label, radius=3).value
        least = [float(naive(victim, space, k).margins(label).min()) for k in range(4)]
        fails = [k for k in range(4) if least[k] < 0]
        assert proof.radius == (min(fails) - 1 if fails else 3)
        assert proof.verdict == ("falsified" if fails else "certified")
        assert proof.argument["least_margin"] == pytest.approx(
            min(least[: proof.radius + 1]), abs=1e-5
        )
        if proof.witness is not None:
            text = space.text(proof.witness).source
            assert int(victim.scores([text])[0].argmax()) != label
        else:
            assert proof.argument["evaluated"] == space.size(3)
        verdicts.add(proof.verdict)
    assert "falsified" in verdicts


@pytest.mark.parametrize("arch", ["cnn", "bilstm"])
def test_the_budget_of_a_word_model(arch: str) -> None:
    victim = toy_victim(arch, classes=2)
    victim.network.output.bias.copy_(victim.network.output.bias.new_tensor([0.0, 500.0]))
    space = toy_space(seed=8, words=9, columns=6, candidates=4)
    full = prove(victim, space, radius=3)
    assert (full.value.verdict, full.queries) == ("certified", space.size(3))
    assert full.forwards < full.queries  # words that the model cannot tell apart are computed once
    for budget in (1, 2, space.size(1), space.size(2), space.size(3) - 1):
        cut = prove(victim, space, radius=3, budget=budget)
        assert cut.queries <= budget
        assert (cut.value.verdict, cut.exhausted) == ("unknown", True)
        assert cut.value.argument["evaluated"] == cut.queries
        assert cut.value.radius == max(r for r in range(4) if space.size(r) <= budget)
    enough = prove(victim, space, radius=3, budget=space.size(3))
    assert (enough.value.verdict, enough.exhausted) == ("certified", False)


def test_near_ties_of_a_word_model() -> None:
    victim = toy_victim("cnn", classes=2)
    victim.network.output.weight.zero_()
    victim.network.output.bias.zero_()
    space = toy_space(seed=3, words=9, columns=6, candidates=4)
    proof = prove(victim, space, radius=2).value
    assert (proof.verdict, proof.radius) == ("unknown", -1)
    assert proof.argument["evaluated"] == space.size(
        2
    )  # a counterexample was looked for all the same
    assert "near-tie" in proof.reason


def test_the_order_comes_from_the_gradient() -> None:
    victim = toy_victim("cnn", seed=2)
    space = toy_space(seed=5, words=12, columns=10, candidates=5)
    assert space.size(3) > 1024
    ordered = prove(victim, space, radius=3, order="gradient")
    assert ordered.value.verdict == prove(victim, space, radius=3, order="none").value.verdict
