"""The audit: certificate <= exact <= attack on random victims, resume, summary, reading back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runner_toys import DATA, LABELS, TABLE, Counted, victim
from unfooled import records, report
from unfooled.attacks.beam import Beam
from unfooled.audited import Audit
from unfooled.auditing import audit, read
from unfooled.costs import join_costs
from unfooled.errors import InputError, RunError, VictimError
from unfooled.program import Goal
from unfooled.proofs import certify
from unfooled.records import merge
from unfooled.space import Space
from unfooled.text import Example
from victim_doubles import Double, least_swaps, linear, members

WORDS = [f"w{i}" for i in range(12)]


def random_case(seed: int) -> tuple[Double, list[Example], list[Space]]:
    """A linear victim and some small spaces, with the labels that it gives itself."""
    rng = np.random.default_rng(seed)
    weights = dict(zip(WORDS, rng.normal(size=len(WORDS)).round(3), strict=True))
    double = Double(linear(weights, bias=round(float(rng.normal()), 3)))
    examples, spaces = [], []
    for number in range(110):
        text = " ".join(rng.choice(WORDS, rng.integers(1, 6)))
        space = Space(text, {})
        places = [p for p in range(len(space.original)) if rng.random() < 0.8]
        space = Space(text, {p: rng.choice(WORDS, rng.integers(1, 4)).tolist() for p in places})
        label = int(np.argmax(double.scores([text])[0]))
        examples.append(Example(space.original, label, f"{seed}:{number}"))
        spaces.append(space)
    return double, examples, spaces


@pytest.mark.parametrize("seed", range(20))  # 2,200 texts
def test_brackets_hold_the_brute_force_minimum(seed: int) -> None:
    double, examples, spaces = random_case(seed)
    found = audit(double, examples, candidates=spaces, radius=2, attacks=("pdp", "greedy"))
    assert [a.id for a in found] == [e.id for e in examples]
    for audited, space, example in zip(found, spaces, examples, strict=True):
        if audited.skipped:  # a tie
            assert abs(float(np.diff(double.scores([str(space.original)])[0])[0])) < 1e-3
            continue
        least = least_swaps(space, double, Goal(space, example.label))
        minimum = math.inf if least is None else least
        assert audited.lower is not None
        assert audited.lower <= minimum
        assert audited.upper is None or minimum <= audited.upper
        if audited.exact:
            assert audited.lower == audited.upper == minimum
        if minimum <= 2:  # within the proof's reach the bracket must be closed
            assert audited.exact
        rows = members(space, 2)
        kept = [
            np.argmax(s) == example.label for s in double.scores([str(space.text(r)) for r in rows])
        ]
        assert audited.pr is not None
        assert audited.pr.low - 1e-9 <= np.mean(kept) <= audited.pr.high + 1e-9


def toy_audit(**more: Any) -> Audit:
    more.setdefault("candidates", TABLE)
    return audit(more.pop("who", None) or victim(), DATA, radius=2, **more)


def test_the_toy_data_by_hand() -> None:
    found = toy_audit()
    assert [(a.lower, a.upper, a.exact) for a in found] == [
        (1, 1, True),  # good -> ok
        (1, 1, True),  # bad -> nice
        (2, 2, True),  # fine and good -> ok
        (None, None, False),
        (math.inf, math.inf, True),
    ]
    assert [a.skipped for a in found] == [False, False, False, True, False]
    best = found[2].best
    assert best is not None
    assert best.swaps == 2
    figures = found.summary()
    assert figures["texts"] == 5
    assert figures["skipped"] == 1
    assert figures["exact"] == 1.0
    assert figures["proved"] == {"1": 0.5, "2": 0.25}
    assert figures["broken"] == {"1": 0.5, "2": 0.75}
    assert figures["mean_minimum"] == [pytest.approx(4 / 3), pytest.approx(4 / 3)]
    assert figures["mean_width"] == 0.0
    assert set(figures["costs"]) == {"pdp", "exhaustive", "pr"}


def test_a_proved_radius_has_pr_one_without_a_query() -> None:
    found = toy_audit()
    pr = found[4].pr
    assert pr is not None
    assert (pr.value, pr.low, pr.high, pr.method, pr.queries) == (1.0, 1.0, 1.0, "proved", 0)


@pytest.mark.parametrize("attacks", [("pdp",), ("pdp", "greedy")])
def test_nothing_is_proved_about_a_random_victim(
    attacks: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    shaky = victim(lambda texts: rng.random((len(texts), 2)))
    for _ in range(2):  # also when it is called again
        with pytest.raises(VictimError, match=r"toy gives different scores .* seed it, or use"):
            toy_audit(who=shaky, attacks=attacks, out=tmp_path / "run")
    assert {r["method"] for r in records.read(tmp_path / "run").records()} == {"candidates"}
    assert capsys.readouterr().err == ""
    with pytest.raises(VictimError, match="a proof about it would mean nothing"):
        certify("exhaustive", shaky, DATA, candidates=TABLE)


def test_small_numbers_read_well(tmp_path: Path) -> None:
    data = [("a great show", "pos"), ("a fine good film", "pos")]
    few = {"max_rate": 0.0, "max_queries": 3, "radius": 1}
    found = audit(victim(), data, candidates=TABLE, out=tmp_path / "run", **few)
    assert found[0].bracket is not None
    assert found[0].bracket.below.detail == "1 text scored"
    reason = found[1].verdicts["exhaustive"].reason
    assert reason.startswith("budget: within 1 swap there are 5 texts")
    page = report.write([tmp_path / "run"]).read_text()
    assert page.count("No word has a candidate.") == 1


def test_a_text_nobody_broke_is_not_called_proved(tmp_path: Path) -> None:
    found = toy_audit(max_rate=0.0, max_queries=1)
    held = [a for a in found if a.bracket is not None]
    assert all(a.upper is None or a.upper == math.inf for a in held)
    open_ended = [a for a in held if a.upper is None]
    assert open_ended
    assert {a.bracket.above.kind for a in open_ended if a.bracket} == {"unknown"}


def test_a_second_call_asks_nothing_and_reading_back_gives_the_same(tmp_path: Path) -> None:
    first = toy_audit(out=tmp_path / "run")
    function = Counted()
    again = toy_audit(who=victim(function), out=tmp_path / "run")
    assert not {text for text, _ in DATA} & set(function.seen)  # only the fingerprint's probes
    stored, manifest = read(tmp_path / "run")
    for other in (again, stored):
        assert [(a.id, a.lower, a.upper, a.pr) for a in other] == [
            (a.id, a.lower, a.upper, a.pr) for a in first
        ]
    assert manifest["labels"] == LABELS
    assert stored.costs.keys() == first.costs.keys()
    assert stored.summary()["exact"] == first.summary()["exact"]


def test_reading_what_is_no_audit(tmp_path: Path) -> None:
    import unfooled as uf

    uf.attack("greedy", victim(), DATA, candidates=TABLE, out=tmp_path / "run")
    with pytest.raises(RunError, match="is a run of greedy, not an audit"):
        read(tmp_path / "run")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attacks": ()}, "attacks is a list of names"),
        ({"attacks": "pdp"}, "attacks is a list of names"),
        ({"attacks": (Beam(width=2),)}, "attacks is a list of names"),
        ({"attacks": ("pdb",)}, "did you mean 'pdp'"),
        ({"radius": 0}, "radius is 1 or more"),
        ({"certifiers": ("exhaustiv",)}, "did you mean 'exhaustive'"),
        ({"certifiers": "exhaustive"}, "certifiers is a list of names"),
        ({"max_rate": 2}, "max_rate is a share"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(victim(), DATA, candidates=TABLE, **options)


def test_a_victim_that_fails_on_a_text_spoils_only_that() -> None:
    class Picky(Counted):
        def __call__(self, texts: list[Any]) -> list[list[float]]:
            if any("bad" in text for text in texts):
                raise RuntimeError("no bad words, please")
            return super().__call__(texts)

    found = toy_audit(who=victim(Picky()))
    assert [a.error is None for a in found] == [True, False, True, True, True]
    assert "no bad words" in str(found[1].error)
    assert found.summary()["errors"] == 1


def test_nothing_is_proved_from_the_attacked_radius_on() -> None:
    found = toy_audit()
    assert not found[0].verdicts  # one swap fools it: nothing is left to prove
    verdict = found[2].verdicts["exhaustive"]  # two swaps fool it
    assert (verdict.verdict, verdict.radius, verdict.queries) == ("certified", 1, 5)


def test_a_radius_beyond_the_budget_is_not_begun() -> None:
    text, words = " ".join(WORDS[:6]), ["x", "y", "z"]
    space = Space(text, dict.fromkeys(range(6), words))  # 1 + 18 texts within 1 swap, 154 within 2
    double = Double(linear(dict.fromkeys(WORDS[:6], 5.0)))
    example = Example(space.original, int(np.argmax(double.scores([text])[0])), "0")
    (found,) = audit(double, [example], candidates=[space], radius=2, max_queries=100)
    verdict = found.verdicts["exhaustive"]
    assert (verdict.verdict, verdict.radius) == ("unknown", 1)
    assert verdict.reason.startswith("budget: within 2 swaps there are 154 texts")
    assert verdict.queries == 19
    assert found.lower == 2


def test_candidates_are_kept_for_every_text(tmp_path: Path) -> None:
    first = toy_audit(out=tmp_path / "run")
    stored, manifest = read(tmp_path / "run")
    for found in (first, stored):
        assert [a.candidates for a in found][:2] == [
            {1: ("nice", "ok"), 2: ("movie",)},
            {1: ("nice",), 2: ("movie",)},
        ]
    assert "good" in manifest["candidates"]


def test_shards_together_are_the_whole(tmp_path: Path) -> None:
    whole = toy_audit()
    parts = [toy_audit(shard=f"{i}/2", out=tmp_path / str(i)) for i in (1, 2)]
    assert sum(len(part) for part in parts) == len(whole)
    assert all(len(part) for part in parts)
    for part in ("1", "2", "1"):  # one by one, and one of them twice
        with merge([tmp_path / part], tmp_path / "joined") as joined:
            join_costs(joined.folder, [tmp_path / part])
    stored, _ = read(tmp_path / "joined")
    assert [(a.id, a.lower, a.upper, a.pr) for a in stored] == [
        (a.id, a.lower, a.upper, a.pr) for a in whole
    ]
    for name, cost in whole.costs.items():
        assert stored.costs[name]["queries"] == cost["queries"]
        assert stored.costs[name]["texts"] == cost["texts"]


def test_a_text_that_is_itself_a_near_tie_may_have_either_label() -> None:
    double = Double(linear({"a": 0.0}, bias=3e-6))
    found = audit(double, [("a b", 1)], candidates={"a": ["c"]}, radius=1)
    assert found[0].skipped
    assert found[0].near_tie
    assert found.summary()["accuracy_under_attack"]["any"] == (0, 1)
