"""uf.certify("minimum", ...): statuses, certificates, odd texts, records."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unfooled as uf
from runner_toys import DATA, TABLE
from runner_toys import victim as scored
from sweep_toys import space, victim
from unfooled.certifiers import minimum
from unfooled.errors import InputError, Unsupported
from unfooled.exact.opened import opened
from unfooled.exact.replay import refusal
from unfooled.minima import Minima, Minimum
from unfooled.space import Space
from unfooled.text import Example, Text
from unfooled.victims.words import WordVictim


def cases(
    model: WordVictim, count: int, *, pair: bool = False
) -> tuple[list[Example], list[Space]]:
    """Texts with the labels that the victim gives them."""
    spaces = [space(seed=i, words=7, columns=4, candidates=3, pair=pair) for i in range(count)]
    labels = model.scores([s.original.source for s in spaces]).argmax(axis=1)
    return [
        Example(s.original, int(y), str(i))
        for i, (s, y) in enumerate(zip(spaces, labels, strict=True))
    ], spaces


def solve(model: WordVictim, spaces: list[Space], examples: list[Example], **more: Any) -> Minima:
    found = uf.certify("minimum", model, examples, candidates=spaces, **more)
    assert isinstance(found, Minima)
    return found


@pytest.mark.parametrize(
    ("arch", "layers", "pair"),
    [("mlp", 1, False), ("mlp", 2, False), ("dan", 1, False), ("dan", 2, False), ("cnn", 1, False),
     ("cnn-msr", 1, False), ("mlp", 1, True), ("cnn", 1, True)],
)  # fmt: skip
def test_minimum_is_what_looking_at_every_text_says(arch: str, layers: int, pair: bool) -> None:
    model = victim(arch, layers=layers, pair=pair)
    examples, spaces = cases(model, 5 if pair else 25, pair=pair)
    proofs = uf.certify("exhaustive", model, examples, candidates=spaces, radius=9)
    for found, proof in zip(solve(model, spaces, examples), proofs, strict=True):
        wanted = math.inf if proof.verdict == "certified" else proof.radius + 1
        assert (found.lower, found.upper) == (wanted, wanted)
        assert found.status == ("robust" if wanted == math.inf else "optimal")
        assert found.certificate is not None
        if found.witness is not None:
            assert model.scores([found.witness.source])[0].argmax() != found.label
            assert len(found.changes or ()) == wanted
            assert found.margin is not None
            assert found.margin < 0


def test_certificates_are_json_and_replay_for_this_text_alone() -> None:
    model = victim("mlp")
    examples, spaces = cases(model, 30)
    read = [opened(model.layers(model.prepare(s))) for s in spaces]  # type: ignore[arg-type]
    others = 0
    for found, members, made in zip(solve(model, spaces, examples), spaces, read, strict=True):
        certificate = json.loads(json.dumps(found.certificate))
        assert refusal(made, certificate, label=found.label) is None
        assert certificate["radius"] == (
            len(members.counts) if found.status == "robust" else found.lower - 1
        )
        others += sum(refusal(other, certificate, label=found.label) is not None for other in read)
    assert others  # trees of other texts do not close


def test_records_come_back(tmp_path: Path) -> None:
    model = victim("mlp")
    examples, spaces = cases(model, 8)
    found = solve(model, spaces, examples, out=tmp_path / "run")
    assert solve(model, spaces, examples, out=tmp_path / "run").all == found.all
    for one in found:
        assert Minimum.from_record(json.loads(json.dumps(one.record()))) == one
    assert "Infinity" not in (tmp_path / "run" / "records.jsonl").read_text()


def test_a_misclassified_text_is_skipped() -> None:
    model = victim("mlp")
    examples, spaces = cases(model, 1)
    wrong = [Example(examples[0].text, (examples[0].label + 1) % 3, "0")]
    (found,) = solve(model, spaces, wrong)
    assert (found.status, found.lower, found.upper, found.witness) == ("skipped", 0, 0, None)
    assert found.certificate is None


def test_no_time_gives_a_valid_bracket() -> None:
    model = victim("mlp")
    examples, spaces = cases(model, 30)
    for found, exact in zip(
        solve(model, spaces, examples, time_limit=0), solve(model, spaces, examples), strict=True
    ):
        assert found.lower <= exact.lower
        assert found.upper is None or found.upper >= exact.lower
        assert found.status != "bracketed" or found.reason


@pytest.mark.parametrize(
    ("text", "candidates", "status"),
    [
        ("wa wb wc", {}, "robust"),
        ("", {}, "robust"),
        ("wa", {0: ["xq"]}, None),
        ("xq wa", {0: ["xr", "xs"]}, "robust"),  # one and the same unknown word to the model
        (" ".join(["wa"] * 12 + ["wb"]), {12: ["wc", "wd"]}, "robust"),  # beyond what it reads
    ],
)
def test_odd_texts_have_defined_answers(
    text: str, candidates: dict[int, list[str]], status: str | None
) -> None:
    model = victim("mlp", max_words=12)
    members = Space(Text.parse(text), candidates)
    label = int(model.scores([members.original.source])[0].argmax())
    (found,) = solve(model, [members], [Example(members.original, label, "0")])
    assert found.status in ("optimal", "robust")
    assert status is None or found.status == status
    reading = model.layers(model.prepare(members))
    assert reading is not None
    assert found.certificate is not None
    assert refusal(opened(reading), found.certificate, label=label) is None


def test_candidates_of_several_words_are_evaluated_where_there_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = victim("mlp")
    members = Space(Text.parse("wa wb"), {0: ["wc wd"]})
    label, swapped = model.scores(["wa wb", "wc wd wb"]).argmax(axis=1)
    given = [Example(members.original, int(label), "0")]
    (found,) = solve(model, [members], given)
    wanted = math.inf if swapped == label else 1
    assert (found.lower, found.upper, found.method) == (wanted, wanted, "enumeration")
    monkeypatch.setattr(minimum, "_FEW", 1)
    (found,) = solve(model, [members], given)
    if swapped == label:
        assert (found.status, found.lower, found.upper) == ("bracketed", 1, None)
        assert "not single words" in found.reason
    else:
        assert (found.status, found.lower, found.upper) == ("optimal", 1, 1)


def test_pdp_bounds_texts_with_candidates_of_several_words_from_above(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(minimum, "_FEW", 1)
    uppers = []
    for seed in range(6):
        model = victim("mlp", seed=seed)
        members = Space(Text.parse("wa wb we wf"), {0: ["wc wd", "wz"], 2: ["wg"], 3: ["wh wi"]})
        rows = np.concatenate(list(members.enumerate(4)))
        labels = model.scores(members.sources(rows)).argmax(axis=1)
        given = [Example(members.original, int(labels[0]), "0")]
        (found,) = solve(model, [members], given)
        fooling = np.count_nonzero(rows, axis=1)[labels != labels[0]]
        assert found.lower == 1
        assert found.upper == (int(fooling.min()) if len(fooling) else None)
        uppers.append(found.upper)
    assert len(set(uppers)) > 1


def test_a_solver_goes_on_where_there_are_too_many_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = victim("cnn")
    examples, spaces = cases(model, 8)
    listed = solve(model, spaces, examples)
    assert {found.method for found in listed} == {"enumeration"}
    monkeypatch.setattr(minimum, "_FEW", 8)
    solved = solve(model, spaces, examples)
    assert [(f.lower, f.upper) for f in solved] == [(f.lower, f.upper) for f in listed]
    assert "milp" in {found.method for found in solved}


def test_a_text_on_a_tie_is_bracketed_from_zero() -> None:
    model = victim("mlp", classes=2)
    with torch.no_grad():
        model.network.output.weight.zero_()
        model.network.output.bias.zero_()
    members = Space(Text.parse("wa wb"), {0: ["wc"]})
    (found,) = solve(model, [members], [Example(members.original, 0, "0")])
    assert (found.status, found.lower, found.upper) == ("bracketed", 0, None)
    assert "near-tie: the text itself" in found.reason


def test_a_witness_that_does_not_fool_alone_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    model = victim("mlp", classes=2)
    examples, spaces = cases(model, 10)
    monkeypatch.setattr(
        WordVictim,
        "scores",
        lambda self, sources: np.array(
            [[1.0, 0.0] if e.label == 0 else [0.0, 1.0] for s in sources for e in examples[:1]]
        ),
    )
    (found,) = solve(model, spaces[:1], examples[:1])
    assert found.witness is None
    assert found.status != "optimal"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 3}, "minimum has no option 'radius', as it looks for the least number"),
        ({"time_limit": -1}, "time_limit is a number of seconds"),
        ({"time_limit": "soon"}, "option time_limit of minimum"),
        ({"solver": "cplex"}, "option solver of minimum"),
        ({"width": 3}, "minimum has no option 'width'"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    model = victim("mlp")
    examples, spaces = cases(model, 1)
    with pytest.raises(InputError, match=message):
        solve(model, spaces, examples, **options)


def test_a_label_that_the_victim_does_not_have() -> None:
    model = victim("mlp")
    with pytest.raises(InputError, match="has label 7"):
        solve(model, [Space(Text.parse("wa"), {})], [Example(Text.parse("wa"), 7, "0")])


def test_victims_that_cannot_be_solved_say_who_can() -> None:
    with pytest.raises(Unsupported, match="does not show its layers"):
        uf.certify("minimum", scored(), DATA, candidates=TABLE)
    model = victim("bilstm")
    examples, spaces = cases(model, 1)
    with pytest.raises(Unsupported, match="exhaustive, branch-and-bound, intervals and linear"):
        solve(model, spaces, examples)


def test_attacks_need_at_least_as_many_swaps() -> None:
    model = victim("mlp")
    examples, spaces = cases(model, 20)
    attacked = uf.attack("greedy", model, examples, candidates=spaces)
    for found, outcome in zip(solve(model, spaces, examples), attacked, strict=True):
        if outcome.status == "success":
            assert found.upper is not None
            assert found.upper <= outcome.swaps


def test_summary_counts_and_times() -> None:
    text = Text.parse("one two")
    timed = [Minimum(str(i), "optimal", text, 0, 2, 2, seconds=i / 10) for i in range(10)]
    found = Minima(
        (*timed, Minimum("x", "skipped", text, 0), Minimum("y", "error", text, 0))
    ).summary()
    assert (found["texts"], found["optimal"], found["skipped"], found["error"]) == (12, 10, 1, 1)
    assert (found["median_s"], found["p90_s"], found["max_s"]) == (0.4, 0.8, 0.9)
    assert found["swaps"] == {2: 10}
    assert found["aua"] == pytest.approx((0, 1 / 12))  # the failed one may be anything
    assert (found["mmws"], found["robust_share"]) == ((2, 2), (0, 0))


def test_what_a_solver_raises_is_the_reason_and_the_bracket_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def small(program: Any, time_limit: float) -> Any:
        raise ArithmeticError("the licence is for small models")

    model = victim("cnn")
    examples, spaces = cases(model, 8)
    monkeypatch.setattr(minimum, "_FEW", 8)
    known = solve(model, spaces, examples)
    monkeypatch.setattr("unfooled.exact.solvers._highs", small)
    found = solve(model, spaces, examples)
    open_ones = [f for f in found if f.status == "bracketed"]
    assert open_ones
    assert all("solver: highs ended with: ArithmeticError" in f.reason for f in open_ones)
    for before, after in zip(known, found, strict=True):
        assert after.status != "error"
        assert 1 <= after.lower <= before.lower
