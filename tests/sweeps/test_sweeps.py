"""Sweeps see what forwards see: every architecture, pairs, limits, unknown words and cut texts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep_toys import ARCHITECTURES, naive, space, victim
from unfooled.ask import joined
from unfooled.errors import InputError, VictimError
from unfooled.evidence import NOISE, margins
from unfooled.program import Sensitivity, Sweep, Swept
from unfooled.space import Space
from unfooled.sweeps import recurrent
from unfooled.sweeps.recurrent import State, fused, stepped
from unfooled.sweeps.regions import Region, Regions
from unfooled.sweeps.sweep import judge
from unfooled.text import Text
from unfooled.victims.base import Part
from unfooled.victims.words import WordVictim
from victim_doubles import Double, asking, constant, job, solve


def stretches(
    model: WordVictim, members: Space, *, swaps: int, label: int = 0, limit: int | None = None
) -> list[Swept]:
    rng = np.random.default_rng(swaps)
    order = tuple(rng.permutation(len(members.counts)).tolist())
    found = model.sweep(model.prepare(members), Sweep(label, swaps, order), limit=limit)
    assert found is not None
    return list(found)


def whole(parts: list[Swept]) -> Swept:
    total = Swept(0, 0)
    for part in parts:
        total = joined(total, part)
    return total


def features(model: WordVictim, members: Space, swaps: int) -> dict[tuple[int, ...], np.ndarray]:
    """The logits of every text of a sweep, by row: more than a sweep tells."""
    prepared = model.prepare(members)
    order = tuple(range(len(members.counts)))[::-1]
    assert model.sweep(prepared, Sweep(0, swaps, order), limit=None) is not None
    _, plan, walker = prepared.planned
    regions, found = Regions(plan.weights, swaps), {}
    for region in regions.walk(most=20, most_free=walker.most_free, limit=None):
        with torch.inference_mode():
            leaves = walker.leaves(regions, region)
            rows = np.empty((len(leaves.features), 0), dtype=np.int16)
            logits = model._head(leaves.features, [Part(prepared, rows)]).numpy()
        assert len(logits) == regions.texts(region)
        for i, scores in enumerate(logits):
            found[tuple(plan.row(leaves.picks(i)).tolist())] = scores
    return found


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("arch", ARCHITECTURES)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    words=st.integers(1, 15),  # the networks read 12
    columns=st.integers(0, 7),
    candidates=st.integers(1, 4),
)
def test_every_margin_is_that_of_a_forward(
    arch: str, pair: bool, seed: int, words: int, columns: int, candidates: int
) -> None:
    model = victim(arch, seed=seed % 7, pair=pair)
    members = space(seed=seed, words=words, columns=columns, candidates=candidates, pair=pair)
    canon = model.prepare(members).canon
    known: set[bytes] = set()
    for swaps in range(4):
        found = features(model, members, swaps)
        expected = naive(model, members, swaps)
        by_row = {tuple(r.tolist()): s for r, s in zip(expected.rows, expected.scores, strict=True)}
        for row, scores in found.items():
            np.testing.assert_allclose(scores, by_row[row], atol=2e-5, rtol=1e-5)
        # What is left out is what the model cannot tell from a text that is there.
        reduced = expected.rows
        if canon is not None and reduced.size:
            reduced = canon[np.arange(reduced.shape[1]), reduced]
        cut = np.array(members.positions) >= 12 if members.counts else np.zeros(0, dtype=bool)
        reduced = np.where(cut, 0, reduced)
        known |= {np.array(row, dtype=np.int16).tobytes() for row in found}
        assert {row.astype(np.int16).tobytes() for row in reduced} <= known


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_a_sweep_tells(arch: str) -> None:
    endings = set()
    for seed in range(12):
        model = victim(arch, seed=seed)
        members = space(seed=seed, words=9, columns=5, candidates=4)
        lowest = dict.fromkeys(range(3), np.inf)
        for swaps in range(4):
            expected = naive(model, members, swaps)
            for label in list(lowest):
                found = whole(stretches(model, members, swaps=swaps, label=label))
                endings.add(found.complete)
                if found.fooled is not None:
                    assert expected.at(found.fooled, label) < 0
                    assert not found.complete
                    del lowest[label]
                    continue
                assert found.complete
                assert found.evaluated == len(expected.rows)
                assert found.forwards <= found.evaluated
                lowest[label] = min(lowest[label], found.least)
                assert expected.margins(label).min() == pytest.approx(lowest[label], abs=2e-5) or (
                    expected.margins(label).min() > lowest[label]
                )
                if found.least_row is not None:
                    at = expected.at(found.least_row, label)
                    assert at == pytest.approx(found.least, abs=2e-5)
    assert endings == {True, False}


@pytest.mark.parametrize("arch", ["mlp", "cnn", "lstm", "bilstm"])
def test_a_limit_is_kept(arch: str) -> None:
    model = victim(arch, classes=2)
    model.network.output.bias.copy_(torch.tensor([500.0, 0.0]))
    members = space(seed=4, words=9, columns=6, candidates=4)  # some candidates are one
    total = members.size(3) - members.size(2)
    seen = []
    for limit in (0, 1, 7, 50, total - 1, total, total + 5):
        found = whole(stretches(model, members, swaps=3, limit=limit))
        assert found.evaluated <= limit
        assert found.complete == (limit >= total)
        seen.append(found.evaluated)
    assert seen == sorted(seen)
    assert seen[-1] == seen[-2] == total


def test_regions_grow() -> None:
    model = victim("cnn", classes=2)
    model.network.output.bias.copy_(torch.tensor([500.0, 0.0]))
    members = space(seed=6, words=12, columns=10, candidates=6)
    sizes = [part.forwards for part in stretches(model, members, swaps=3)[1:]]
    assert sizes[0] <= 256
    assert any(b > a for a, b in pairwise(sizes))


def test_spaces_that_cannot_be_swept() -> None:
    model = victim("cnn")
    several = Space("wa wb wc", {1: ["wd we"], 2: ["wf"]})
    glued = Space("wa wb-wc", {1: ["x-"]})
    both = Space(Text.pair("wa wb", "wc", editable="both"), {0: ["wd"]})
    for members in (several, glued):
        prepared = model.prepare(members)
        order = tuple(range(len(members.counts)))
        simple = prepared.table is not None and prepared.table.simple
        assert (model.sweep(prepared, Sweep(0, 1, order), limit=None) is None) == (not simple)
    assert model.prepare(several).table is not None
    assert model.sweep(model.prepare(several), Sweep(0, 1, (0, 1)), limit=None) is None
    pairs = victim("cnn", pair=True)
    assert pairs.sweep(pairs.prepare(both), Sweep(0, 1, (0,)), limit=None) is None
    assert pairs.sensitivity(pairs.prepare(both), 0) is None


def test_keys_that_do_not_fit_are_left_to_forwards() -> None:
    model = victim("lstm", max_words=60)
    members = space(seed=1, words=60, columns=60, candidates=24)
    prepared, order = model.prepare(members), tuple(range(len(members.counts)))
    assert model.sweep(prepared, Sweep(0, 3, order), limit=None) is not None
    assert model.sweep(prepared, Sweep(0, 9, order), limit=None) is None


def test_scores_that_are_no_numbers() -> None:
    model = victim("cnn")
    model.network.output.bias.fill_(float("nan"))
    members = Space("wa wb", {0: ["wc"]})
    with pytest.raises(VictimError, match="not finite"):
        stretches(model, members, swaps=1)
    found = solve(model, [job(members, asking(Sweep(0, 1, (0,))))]).popitem()[1]
    assert "failed on 'wa wb': VictimError: it computed scores that are not finite" in found.error


def test_judging() -> None:
    logits = torch.tensor([[3.0, 1.0, 0.0], [2.0, 1.5, 0.0], [4.0, 0.0, 3.0]])
    assert judge(logits, 0) == (0.5, 1, None, [])
    assert judge(logits, 2)[2] == 0
    tie = 1.5 * NOISE
    near = torch.tensor([[1.0, 1.0 - tie], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0 + tie]])
    assert judge(near, 0)[2:] == (None, [0, 1, 3])
    fooled = torch.cat((near, torch.tensor([[1.0, 1.0 + 4 * NOISE]])))
    assert judge(fooled, 0)[2:] == (4, [0, 1, 3])
    large = torch.tensor([[1e4, 1e4 - 0.1], [1.0, 0.5]])  # near for its size
    assert judge(large, 0)[2:] == (None, [0])


def test_joining_keeps_counts_and_rows() -> None:
    row = np.array([1, 0], dtype=np.int16)
    one = Swept(3, 2, least=0.5, least_row=row, doubtful=row[None], doubts=1)
    two = Swept(
        4, 4, least=0.7, least_row=row + 1, doubtful=(row + 1)[None], doubts=2, complete=True
    )
    both = joined(one, two)
    assert (both.evaluated, both.forwards, both.doubts, both.complete) == (7, 6, 3, True)
    assert both.least == 0.5
    assert both.least_row is row
    assert both.doubtful is not None
    assert both.doubtful.tolist() == [[1, 0], [2, 1]]
    assert joined(Swept(0, 0), two).least_row is two.least_row


# --- through the engine ---------------------------------------------------------------------------


def test_the_engine_counts_and_answers() -> None:
    model = victim("bilstm", classes=2)
    model.network.output.bias.copy_(torch.tensor([500.0, 0.0]))
    members = space(seed=8, words=9, columns=6, candidates=4)
    order = tuple(range(len(members.counts)))
    program = asking(Sweep(0, 1, order), Sensitivity(0), Sweep(0, 2, order))
    found = solve(model, [job(members, program)]).popitem()[1]
    first, sizes, second = found.value
    assert first.evaluated + second.evaluated == members.size(2) - 1
    assert found.queries == members.size(2)  # one for the gradient
    assert found.forwards == first.forwards + second.forwards + 1
    assert sizes.shape == (len(members.counts),)
    cut = solve(model, [job(members, asking(Sweep(0, 2, order)), max_queries=20)]).popitem()[1]
    assert cut.value[0].complete is False
    assert cut.exhausted
    assert cut.queries <= 20


def test_victims_that_cannot_answer_say_none() -> None:
    members = Space("a b", {0: ["c"]})
    program = asking(Sweep(1, 1, (0,)), Sensitivity(1))
    found = solve(Double(constant()), [job(members, program)]).popitem()[1]
    assert (found.value, found.queries) == ([None, None], 0)


@pytest.mark.parametrize("question", [Sweep(7, 1, (0,)), (Sweep(0, 1, (0,)), Sensitivity(0)), Sensitivity(-1)])  # fmt: skip
def test_questions_that_make_no_sense(question: object) -> None:
    members = Space("wa b", {0: ["wc"]})
    found = solve(victim("cnn"), [job(members, asking(question))]).popitem()[1]  # type: ignore[arg-type]
    assert found.error.startswith(InputError.__name__)


def test_many_texts_take_turns() -> None:
    model = victim("cnn", classes=2)
    model.network.output.bias.copy_(torch.tensor([500.0, 0.0]))
    spaces = [space(seed=s, words=9, columns=6, candidates=4) for s in range(20)]
    jobs = [job(m, asking(Sweep(0, 2, tuple(range(len(m.counts)))))) for m in spaces]
    found = solve(model, jobs, in_flight=7)
    assert len(found) == 20
    for m in spaces:
        assert found[str(m.original)].value[0].evaluated == m.size(2) - m.size(1)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_sensitivity_is_the_norm_of_the_gradient(arch: str) -> None:
    model = victim(arch)
    members = space(seed=2, words=14, columns=10, candidates=2)
    found = model.sensitivity(model.prepare(members), 1)
    ids = torch.tensor(model.model.vocabulary.ids(members.original.words[:12]))[None]
    vectors = model.network.embedding(ids).detach().requires_grad_()
    score = model.network.classify(model.network.encode(vectors, torch.ones_like(ids).bool()))[0, 1]
    (slopes,) = torch.autograd.grad(score, vectors)
    assert found is not None
    for column, position in enumerate(members.positions):
        wanted = float(slopes[0, position].abs().sum()) if position < 12 else 0.0
        assert found[column] == pytest.approx(wanted, abs=1e-5)


def test_the_root_of_no_columns() -> None:
    assert list(Regions([], 0).walk(most=4, most_free=1, limit=None)) == [Region((), 0, 0, 0)]
    assert list(Regions([], 2).walk(most=4, most_free=1, limit=None)) == []
    model = victim("lstm")
    members = Space("wa wb", {})
    found = whole(stretches(model, members, swaps=0))
    scores = model.scores(["wa wb"])
    assert found.evaluated == 1
    if found.fooled is None:
        assert found.least == pytest.approx(float(margins(scores, 0)[0]), abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 70), rest=st.integers(0, 6))
def test_word_by_word_as_by_the_kernel_for_sequences(seed: int, rows: int, rest: int) -> None:
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        torch.manual_seed(seed)
        lstm = torch.nn.LSTM(3, 5, batch_first=True)
        hidden, cell, top = torch.randn(3, rows, 5)
        top = torch.where(torch.rand(rows, 1) < 0.2, -torch.inf, top)
        given = State(hidden, cell, top), torch.randn(rows, 3), torch.randn(rest, 3)
        for one, other in zip(stepped(lstm, *given), fused(lstm, *given), strict=True):
            assert one.shape == (rows, 5)
            torch.testing.assert_close(one, other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("arch", ["lstm", "bilstm"])
@pytest.mark.parametrize("seed", range(8))
def test_margins_word_by_word_are_those_of_a_forward(
    arch: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What other devices do, on this one."""
    monkeypatch.setattr(recurrent, "fused", stepped)
    model = victim(arch, seed=seed)
    members = space(seed=seed, words=6 + seed, columns=3 + seed % 3, candidates=3)
    expected = naive(model, members, 2)
    by_row = {tuple(r.tolist()): s for r, s in zip(expected.rows, expected.scores, strict=True)}
    found = features(model, members, 2)
    assert found
    for row, scores in found.items():
        np.testing.assert_allclose(scores, by_row[row], atol=2e-5, rtol=1e-5)
