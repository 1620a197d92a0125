"""The reference of the limit of similarity: the original, or at every step the text before it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from unfooled import registry, settings
from unfooled.attacks.textfooler import TextFooler
from unfooled.check import check
from unfooled.errors import InputError
from unfooled.limits import Limits
from unfooled.metrics import why
from unfooled.similarity import cosine_to_angular
from unfooled.space import Space
from victim_doubles import Double, linear

ABLE = ("bae", "textbugger", "textfooler")
WORDS = {"a0": 0.0, "a1": 0.4, "b0": 0.0, "b1": 0.4}  # each swap turns the vector by 0.4 rad
STEP, BOTH = float(np.cos(0.4)), float(np.cos(0.8))  # 0.921, 0.697


class Turning:
    """An encoder of texts in a plane: every word turns the vector a little more."""

    name, fingerprint, batch_rows = "turning", "turning:1", 64

    def encode(self, texts: Sequence[str]) -> Any:
        turned = np.array([sum(WORDS.get(w, 0.0) for w in text.split()) for text in texts])
        return np.stack([np.cos(turned), np.sin(turned)], axis=1)


DRIFT = "a0 b0"  # fooled by both swaps together, not by one
TABLE = {"a0": ["a1"], "b0": ["b1"]}


def drifting() -> Double:
    return Double(linear({"a0": 2.0, "b0": 1.0, "a1": 0.5, "b1": -1.0}))


def run(name: Any, text: str = DRIFT, **more: Any) -> uf.Outcome:
    how: dict[str, Any] = {"candidates": TABLE, "encoder": Turning()}
    (outcome,) = uf.attack(name, drifting(), [(text, 1)], **how | more)
    assert outcome.error is None
    return outcome


# --- drift --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ABLE)
def test_drift_is_allowed_only_when_it_is_asked_for(name: str) -> None:
    """Each step keeps 0.92 of the text before it, both together 0.70 of the original."""
    for least, original, previous in [
        (0.6, "success", "success"),
        (0.8, "failed", "success"),
        (0.95, "failed", "failed"),
    ]:
        limit: dict[str, Any] = {"min_similarity": least}
        alone = run(name, step_similarity=None, **limit)
        assert alone == run(name, step_similarity=None, reference="original", **limit)
        stepwise = run(name, reference="previous", **limit)
        assert (alone.status, stepwise.status) == (original, previous)
        for outcome in (alone, stepwise):
            assert why(outcome) == (None if outcome.status == "success" else "constraint")


@pytest.mark.parametrize("name", ABLE)
def test_it_is_the_rule_of_the_attack_itself(name: str) -> None:
    """Given as the attack's own options it comes to the same, and angular to the same as its cosine."""
    for least in (0.8, STEP + 0.01):
        one = run(name, min_similarity=least, reference="previous")
        own: dict[str, Any] = {"step_similarity": least, "step_window": None}
        two = run(name, reference="previous", proposals=0, **own) if name == "bae" else run(
            name, reference="previous", **own
        )  # fmt: skip
        angle = float(cosine_to_angular(least))
        three = run(name, min_similarity=angle, similarity="angular", reference="previous")
        assert one == two == three


@pytest.mark.parametrize("name", ABLE)
@pytest.mark.parametrize(("words", "window", "found"), [
    (2, None, "failed"),  # whole texts, none exempt
    (2, 15, "success"),  # shorter than the window: not compared
    (15, 15, "failed"),
    (30, None, "failed"),
    (30, 15, "failed"),
])  # fmt: skip
def test_short_texts_and_windows(name: str, words: int, window: int | None, found: str) -> None:
    text = " ".join([DRIFT, *["pad"] * (words - 2)])
    held = run(name, text, min_similarity=STEP + 0.01, window=window, reference="previous")
    assert held.status == found


@pytest.mark.parametrize("name", ABLE)
def test_a_window_looks_at_the_words_around_the_swap(name: str) -> None:
    """a and b are 20 words apart. Against the original only a window of both words sees both."""
    text = " ".join(["a0", *["pad"] * 20, "b0"])
    limit: dict[str, Any] = {"step_similarity": 0.8, "reference": "original"}
    limit |= {"proposals": 0} if name == "bae" else {}
    assert run(name, text, step_window=15, **limit).status == "success"
    assert run(name, text, step_window=None, **limit).status == "failed"


# --- what is put together -----------------------------------------------------------------------


def applied(preset: str | None, name: str, limits: Any, **options: Any) -> settings.Applied:
    return settings.apply(preset, name, candidates=None, limits=limits, options=options)


PREVIOUS: dict[str, Any] = {"min_similarity": 0.8, "reference": "previous"}


def test_with_a_least_similarity_it_is_the_rule_for_every_step() -> None:
    found = applied(None, "textfooler", PREVIOUS | {"window": 7})
    assert found.options == {"step_similarity": 0.8, "step_window": 7, "reference": "previous"}
    assert found.limits == Limits(min_similarity=0.8, window=7, reference="previous")
    assert found.limits.closeness is None, "finished texts are not held to it"
    angular = applied(None, "textbugger", PREVIOUS | {"similarity": "angular"})
    assert angular.options["step_similarity"] == pytest.approx(np.cos(np.pi * 0.2))
    assert angular.options["step_window"] is None


def test_without_a_least_similarity_it_is_the_attack_s_own() -> None:
    for reference in ("original", "previous"):
        found = applied(None, "textfooler", {"reference": reference})
        assert (found.options, found.limits) == ({"reference": reference}, Limits())
    table = applied("textfooler", "textfooler", {"reference": "original"})
    assert (table.options["reference"], table.options["step_similarity"]) == ("original", 0.878)
    both = applied("textfooler", "textfooler", {"reference": "original", "min_similarity": 0.5})
    assert (both.options["reference"], both.limits.reference) == ("original", "original")
    with pytest.raises(InputError, match="how min_similarity compares, which is not given"):
        applied(None, "beam", {"reference": "previous"})


def test_of_a_preset_the_limit_becomes_the_rule() -> None:
    """The code of the Defender paper: 15 words, with the text before the swap."""
    code = applied("defender-imdb", "textfooler", {"reference": "previous", "window": 15})
    assert code.options == {
        "step_similarity": pytest.approx(np.cos(np.pi * 0.16)),
        "step_window": 15,
        "reference": "previous",
    }
    ranked = applied("tf-cv50-use88", "textfooler", {"reference": "previous"})
    assert (ranked.options["step_similarity"], ranked.options["step_window"]) == (0.878, 15)


@pytest.mark.parametrize("name", [n for n in registry.names("attacks") if n not in ABLE])
def test_attacks_without_a_rule_for_their_steps_are_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        run(name, **PREVIOUS)
    said = str(caught.value)
    assert f"bae, textbugger and textfooler have and {name} has not" in said
    assert said.count(". ") == 0
    assert run(name, min_similarity=0.8, reference="original", **(
        {"vectors": None} if name == "mcts" else {}
    )).status == "failed"  # fmt: skip


@pytest.mark.parametrize("option", ["step_similarity", "step_window"])
def test_what_is_given_twice_is_refused(option: str) -> None:
    with pytest.raises(InputError, match=f"so {option} would be given twice: leave out one"):
        run("textfooler", **PREVIOUS, **{option: None})


def test_an_attack_that_is_given_has_its_own() -> None:
    with pytest.raises(InputError, match=r"goes into the attack itself: TextFooler\("):
        run(TextFooler(), **PREVIOUS)
    itself = TextFooler(step_similarity=0.8, step_window=None, reference="previous")
    assert run(itself) == run("textfooler", **PREVIOUS)


@pytest.mark.parametrize("bad", ["first", "Previous", 3])
def test_a_reference_that_is_none(bad: Any) -> None:
    for limit in ({}, {"min_similarity": 0.8}):
        with pytest.raises(InputError, match=r"reference of .* cannot be"):
            run("textfooler", reference=bad, **limit)
    with pytest.raises(InputError, match="reference is original or previous"):
        Limits(min_similarity=0.8, reference=bad)


# --- runs ---------------------------------------------------------------------------------------


def test_the_run_says_what_ran(tmp_path: Path) -> None:
    first = run("textfooler", window=None, out=tmp_path / "run", **PREVIOUS)
    options = json.loads((tmp_path / "run" / "manifest.json").read_text())["options"]
    assert options["attack"] == {
        "step_similarity": 0.8, "step_window": None, "reference": "previous",
    }  # fmt: skip
    told = {key: options[key] for key in ("min_similarity", "similarity", "window", "reference")}
    assert told == {
        "min_similarity": 0.8, "similarity": "cosine", "window": None, "reference": "previous",
    }  # fmt: skip
    assert (options["encoder"], options["encoder_fingerprint"]) == ("turning", "turning:1")
    assert run("textfooler", out=tmp_path / "run", **PREVIOUS) == first
    with pytest.raises(uf.errors.RunError, match="reference"):
        run("textfooler", step_similarity=0.8, step_window=None, min_similarity=0.8,
            out=tmp_path / "run")  # fmt: skip


def test_the_checker_does_not_hold_a_drift_against_the_original(tmp_path: Path) -> None:
    found = run("textfooler", out=tmp_path / "run", **PREVIOUS)
    assert found.status == "success"
    report = check(tmp_path / "run", drifting(), encoder=Turning())
    assert report.passed
    assert any("the steps are not recorded" in line for line in report.not_checked)


def test_a_sweep_over_the_rule_of_the_steps() -> None:
    how: dict[str, Any] = {"candidates": TABLE, "encoder": Turning(), "reference": "previous"}
    over = {"min_similarity": [0.8, 0.95]}
    swept = uf.sweep(["textfooler"], drifting(), [(DRIFT, 1)], over=over, **how)
    assert [p.outcomes[0].status for p in swept.points] == ["success", "failed"]
    with pytest.raises(InputError, match="pwws has not"):
        uf.sweep(["pwws"], drifting(), [(DRIFT, 1)], over=over, **how)


def test_every_step_of_a_success_is_near_enough() -> None:
    """Steps taken apart by hand: a text that fools lies at the end of a chain of near texts."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        turns = rng.uniform(0, 0.6, size=3)
        words = {f"w{i}": 0.0 for i in range(3)} | {f"v{i}": t for i, t in enumerate(turns)}
        scores = {f"w{i}": 1.0 for i in range(3)} | {f"v{i}": -0.2 - i / 10 for i in range(3)}
        space = Space("w0 w1 w2", {i: (f"v{i}",) for i in range(3)})
        least = float(np.cos(0.4))
        for name in ABLE:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("test_reference.WORDS", words)
                (found,) = uf.attack(
                    name, Double(linear(scores)), [("w0 w1 w2", 1)], candidates=[space],
                    encoder=Turning(), min_similarity=least, reference="previous",
                )  # fmt: skip
            swapped = [turns[i] for i, _, _ in found.changes]
            assert all(turn <= 0.4 + 1e-9 for turn in swapped)
            near = int((turns <= 0.4).sum())
            if name != "textbugger":  # which ends at the first that is too far
                assert (found.status == "success") == (near == 3)


@pytest.mark.parametrize(("least", "said"), [(0.6, True), (-1.0, False), (None, False)])
def test_a_check_says_that_it_cannot_see_an_attack_s_own_steps(
    tmp_path: Path, least: float | None, said: bool
) -> None:
    run("textfooler", step_similarity=least, out=tmp_path / "run")
    left = check(tmp_path / "run", drifting()).not_checked
    assert any("step by step" in line for line in left) == said


def test_the_help_names_those_that_can(desk_help: str) -> None:
    assert "The attacks bae, textbugger and textfooler compare step by step" in desk_help
    assert "other attacks have no such rule and refuse it" in desk_help
    has = {"step_similarity", "step_window", "reference"}
    able = [n for n in registry.names("attacks")
            if has <= {o.name for o in registry.options(registry.get("attacks", n))}]  # fmt: skip
    assert tuple(able) == ABLE


@pytest.fixture
def desk_help(monkeypatch: pytest.MonkeyPatch) -> str:
    from typer.testing import CliRunner

    from unfooled.cli import app

    monkeypatch.setenv("COLUMNS", "100")
    shown = CliRunner().invoke(app, ["attack", "--help"]).stdout
    return " ".join(shown.replace("│", " ").split())


def test_the_toy_is_what_it_says() -> None:
    vectors = Turning().encode(["a0 b0", "a1 b0", "a1 b1"])
    assert (vectors @ vectors[0]).tolist() == pytest.approx([1.0, STEP, BOTH])
