"""Sweeps over limits: every point is the attack at that value, run once and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from runner_toys import DATA, TABLE, Counted, attack, told, victim
from unfooled.errors import InputError
from unfooled.limit_sweep import SWEPT, Swept, parse
from unfooled.limits import Limits

OVER = {"max_candidates": [1, 2], "max_rate": [0.1, 0.34, 0.5]}


def swept(who: Any = None, **more: Any) -> Swept:
    more = {"over": OVER, "candidates": TABLE, **more}
    return uf.sweep(["greedy", "pwws"], who or victim(), DATA, **more)


def test_a_point_is_the_attack_at_that_value() -> None:
    found = swept()
    assert (found.limits, found.attacks) == (("max_candidates", "max_rate"), ("greedy", "pwws"))
    assert len(found.points) == 2 * (2 + 3)
    for point in found.points:
        alone = attack(point.attack, **{point.limit: point.value})
        assert told(point.outcomes) == told(alone)
        under = found.under(point.limit)[point.value][point.attack]
        assert under == alone.summary()["accuracy_under_attack"]
    assert list(found.under("max_rate")) == [0.1, 0.34, 0.5]


def test_by_hand() -> None:
    """At 0.1 no text of three or four words may change; at 0.34 one word, which fools two texts."""
    found = swept().under("max_rate")
    assert [row["greedy"] for row in found.values()] == [0.8, 0.4, 0.2]
    assert [row["greedy"] for row in swept().under("max_candidates").values()] == [0.6, 0.2]


def test_the_others_stay_where_they_are() -> None:
    (point, *_) = swept(over={"max_candidates": [1]}, max_rate=0.1).points
    assert point.outcomes.summary()["success_rate"] == 0
    kept = swept(over=OVER, max_rate=0.1).under("max_candidates")
    assert {a for row in kept.values() for a in row.values()} == {0.8}
    assert swept(over=OVER, max_rate=0.1).under("max_rate") == swept().under("max_rate")


def test_a_preset_holds_the_others(tmp_path: Path) -> None:
    free: Any = {"min_similarity": -1.0, "similarity": "cosine"}
    from companion_doubles import WordEncoder

    found = swept(
        over={"max_candidates": [1, 2], "max_rate": [0.1, 0.5]},
        preset="defender-imdb",
        encoder=WordEncoder(),
        out=tmp_path,
        **free,
    )
    assert {a for row in found.under("max_candidates").values() for a in row.values()} == {0.8}
    assert found.under("max_rate")[0.5]["greedy"] == 0.2
    # The preset's other values are part of the names.
    names = {p.name for p in tmp_path.iterdir()}
    assert "greedy-max-candidates-2-max-rate-0.1" in names
    assert "greedy-max-candidates-50-max-rate-0.5" in names


def test_it_goes_on_where_it_was_and_shares_points(tmp_path: Path) -> None:
    function = Counted()
    over = {"max_candidates": [1, 2], "max_rate": [0.34, 0.5]}
    base: Any = {"over": over, "max_rate": 0.5, "max_candidates": 2}
    first = swept(victim(function), out=tmp_path, **base)
    folders = {point.folder for point in first.points}
    assert len(first.points) == 8
    assert len(folders) == 6  # two candidates at a rate of 0.5 are in both
    assert {p.name for p in tmp_path.iterdir()} == {f.name for f in folders if f}
    probes = Counted()
    again = swept(victim(probes), out=tmp_path, **base)
    assert [told(p.outcomes) for p in again.points] == [told(p.outcomes) for p in first.points]
    assert all(p.outcomes.resumed == len(DATA) for p in again.points)
    assert not {"a ok film", "a nice film"} & set(probes.seen)


def test_figures_are_json_values(tmp_path: Path) -> None:
    point = swept(out=tmp_path).points[0]
    figures = point.figures()
    assert figures["run"] == str(tmp_path / "greedy-max-candidates-1")
    assert (figures["attack"], figures["limit"], figures["value"]) == (
        "greedy",
        "max_candidates",
        1,
    )
    assert figures["accuracy_under_attack"] == 0.6
    assert swept().points[0].figures()["run"] is None


def test_limits_and_values_as_they_are_written() -> None:
    asked = ["max-candidates=5, 10,5", "max_rate=.1", "max-queries=50x,300", "max-rate=0.3"]
    assert parse(asked) == {
        "max_candidates": [5, 10],
        "max_rate": [0.1, 0.3],
        "max_queries": ["50x", 300],
    }
    assert set(SWEPT) <= set(Limits.__dataclass_fields__)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("max-candidates", "write what to sweep as max-candidates=5,10,20"),
        ("max-rate=,", "write what to sweep"),
        ("max-rat=0.1", "no limit 'max_rat' to sweep; did you mean 'max_rate'"),
        ("max-candidates=five", "max_candidates cannot be 'five'"),
        ("max-candidates=0", "max_candidates is 1 or more, not 0"),
        ("max-rate=1.5", "from 0 to 1, not 1.5"),
        ("max-queries=x", "50x"),
        ("encoder=use", "no limit 'encoder' to sweep"),
    ],
)
def test_what_cannot_be_swept(asked: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse([asked])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"over": {}}, "over names the limits to sweep"),
        ({"over": {"max_rate": []}}, "a list such as"),
        ({"over": {"max_rate": 0.1}}, "a list such as"),
        ({"over": {"max_rate": [None]}}, "None is no value"),
        ({"over": {"max_rate": [0.1]}, "preset": "none"}, "no preset 'none'"),
    ],
)
def test_bad_sweeps(more: dict[str, Any], said: str) -> None:
    function = Counted()
    with pytest.raises(InputError, match=said):
        swept(victim(function), **more)
    assert function.seen == []


def test_attacks_are_names() -> None:
    for attacks, said in [("greedy", "a list of names"), ([], "a list"), (["gredy"], "'greedy'")]:
        with pytest.raises(InputError, match=said):
            uf.sweep(attacks, victim(), DATA, over=OVER, candidates=TABLE)
