"""Proposers: what a source lets pass of what a masked language model says at every step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from companion_doubles import Echo
from runner_toys import DATA, TABLE, Counted, attack, told, victim
from tiny_lexicon import VECTORS, write_stopwords, write_tagger, write_vectors
from unfooled import candidates, settings
from unfooled.attacks.bae import BAE
from unfooled.companions import Proposal, Proposes, Request
from unfooled.errors import InputError
from unfooled.lexicon import masked_lm
from unfooled.metrics import why
from unfooled.proposers import Sifted, proposer
from unfooled.text import Text


class Says:
    """Proposes the same words everywhere, and remembers what it was asked."""

    name, batch_rows = "says", 8

    def __init__(self, *words: str) -> None:
        self.words, self.asked = words, list[tuple[str, int, int]]()

    def propose(self, requests: Sequence[Request]) -> list[list[Proposal]]:
        self.asked += [(str(r.text), r.position, r.k) for r in requests]
        return [[Proposal(w, -float(i)) for i, w in enumerate(self.words[: r.k])] for r in requests]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("lexicon")
    return {
        "tagger": str(write_tagger(folder / "tagger.json")),
        "stopwords": str(write_stopwords(folder / "stop.txt")),
        "vectors": str(write_vectors(folder / "vectors.txt")),
    }


def proposed(model: Proposes, text: str, position: int, k: int = 9) -> list[str]:
    (found,) = model.propose([Request(Text.parse(text), position, k)])
    return [p.word for p in found]


# --- what a source keeps ------------------------------------------------------------------------


def test_stop_words_and_other_parts_of_speech_are_left_out(tiny: dict[str, str]) -> None:
    """bad is tagged like good, and film, a noun, is not; the is a stop word."""
    spec = f"masked_lm:stopwords={tiny['stopwords']}|pos:tagger={tiny['tagger']}"
    model = Says("the", "bad", "film", "fine")
    assert proposed(model, "the good film", 1) == ["the", "bad", "film", "fine"]
    assert proposed(Sifted(model, candidates.load(spec)), "the good film", 1) == ["bad", "fine"]


def test_the_k_likeliest_are_sifted_and_no_others_come_in_their_place(tiny: dict[str, str]) -> None:
    source = candidates.load(f"masked_lm:stopwords={tiny['stopwords']}")
    model = Says("the", "bad", "fine")
    assert proposed(Sifted(model, source), "the good film", 1, 2) == ["bad"]
    assert model.asked == [("the good film", 1, 2)]


def test_a_source_without_an_opinion_keeps_all() -> None:
    model = Says("anything", "at", "all")
    sifted = Sifted(model, candidates.load(TABLE))
    assert proposed(sifted, "a good film", 1) == ["anything", "at", "all"]
    assert (sifted.name, sifted.batch_rows) == ("says", 8)


def test_what_two_sources_keep(tiny: dict[str, str]) -> None:
    """In a union either may keep a word, in an intersection both must."""
    near = candidates.narrowed(TABLE, "similarity", min=0.6, vectors=tiny["vectors"])
    stop = candidates.load(f"masked_lm:stopwords={tiny['stopwords']}")
    text, words = Text.parse("film"), ("the", "movie", "bad")
    both, either = type(candidates.load("typos & typos")), type(candidates.load("typos + typos"))
    assert (near.keep(text, 0, words), stop.keep(text, 0, words)) == (("movie",), ("movie", "bad"))
    assert both(near, stop).keep(text, 0, words) == ("movie",)
    assert either(near, stop).keep(text, 0, words) == ("movie", "bad")


def test_a_model_is_loaded_when_it_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str, *, device: str | None) -> Says:
        loaded.append(f"{name} {device}")
        return Says("nice")

    monkeypatch.setattr(masked_lm, "load", load)
    source = candidates.load(TABLE)
    made: Any = [proposer("minilm", source=s, device="cpu") for s in (None, source)]
    assert not loaded
    assert [proposed(model(), "a good film", 1) for model in made] == [["nice"], ["nice"]]
    assert loaded == ["minilm cpu"] * 2
    echo = Echo()
    assert proposer(echo, source=None, device=None) is echo
    lazy: Any = proposer(lambda: echo, source=source, device=None)
    assert proposed(lazy(), "a good film", 1, 1) == ["?0"]


# --- BAE, as its authors run it -----------------------------------------------------------------


@pytest.fixture
def own(tiny: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """BAE's own source with the tiny word lists, which must not load a language model."""
    spec = f"masked_lm:k=50,masked=true,stopwords={tiny['stopwords']}"
    monkeypatch.setattr(BAE, "source", f"{spec}|pos:noun_verb=true,tagger={tiny['tagger']}")
    monkeypatch.setattr(masked_lm, "load", lambda *a, **k: pytest.fail("it is asked twice"))


FREE: dict[str, Any] = {"step_similarity": None}


@pytest.mark.usefixtures("own")
def test_the_model_is_asked_at_every_step_unless_told() -> None:
    """good stands for 1.0, so it goes first, for bad; film is then asked about in the new text."""
    model = Says("the", "film", "bad")
    (one, two) = uf.attack(
        "bae", victim(), [("the good film", 1), ("the fine film", 1)], masked=model, **FREE
    )
    assert (one.changes, one.positions) == (((1, "good", "bad"),), 1)
    assert (two.changes, two.status) == (((1, "fine", "bad"),), "success")
    assert set(model.asked) == {("the good film", 1, 50), ("the fine film", 1, 50)}
    mild = Says("fine", "movie")
    (failed,) = uf.attack("bae", victim(), [("the good film", 1)], masked=mild, **FREE)
    assert failed.status == "failed"
    assert mild.asked == [("the good film", 1, 50), ("the fine film", 2, 50)]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("words", "limits", "expected"),
    [
        (("the",), {}, "no_candidates"),  # a stop word
        (("fine",), {}, "search"),
        (("bad",), {"max_queries": 2}, "budget"),  # before anything was proposed
    ],
)
def test_why_nothing_was_found(
    words: tuple[str, ...], limits: dict[str, Any], expected: str
) -> None:
    (found,) = uf.attack(
        "bae", victim(), [("the good film", 1)], masked=Says(*words), **FREE, **limits
    )
    assert why(found) == expected


@pytest.mark.usefixtures("own")
def test_no_more_candidates_are_recorded_than_are_allowed() -> None:
    """The word itself and what is proposed twice are none; nice is one too many."""
    model = Says("Good", "fine", "Fine", "film", "ok", "nice")
    how: dict[str, Any] = {"masked": model, "candidates": TABLE, "proposals": 9, **FREE}
    (all_of_them,) = uf.attack("bae", victim(), [("a good", 1)], **how)
    (few,) = uf.attack("bae", victim(), [("a good", 1)], max_candidates=2, **how)
    assert (all_of_them.positions, all_of_them.choices) == (1, 4)
    assert (few.positions, few.choices, few.queries) == (1, 2, all_of_them.queries - 2)


@pytest.mark.usefixtures("own")
def test_the_manifest_says_who_proposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates.Source, "fingerprint", "f" * 64)  # that of a model is its files'
    run = tmp_path / "run"
    first = uf.attack("bae", victim(), DATA, masked=Says("bad", "nice"), out=run, **FREE)
    options = json.loads((run / "manifest.json").read_text())["options"]
    assert (options["attack"]["proposals"], options["masked"]) == (50, "says")
    again = uf.attack("bae", victim(), DATA, masked=Says("bad", "nice"), out=run, **FREE)
    assert (told(again), again.resumed) == (told(first), len(DATA))


def test_with_candidates_of_ones_own_these_are_searched(tmp_path: Path) -> None:
    nobody = Says()
    found = attack("bae", masked=nobody, out=tmp_path / "run", **FREE)
    assert not nobody.asked
    assert told(found) == told(attack("bae", proposals=0, **FREE))
    options = json.loads((tmp_path / "run" / "manifest.json").read_text())["options"]
    assert options["attack"]["proposals"] == 0
    assert "masked" not in options
    asked = Says("ok")
    assert attack("bae", masked=asked, proposals=3, **FREE)[0].changes == ((1, "good", "ok"),)
    assert {k for _, _, k in asked.asked} == {3}


def test_what_is_searched_is_settled_in_one_place() -> None:
    def options(preset: str | None, given: Any, **more: Any) -> dict[str, Any]:
        wanted: dict[str, Any] = {"candidates": given, "limits": {}, "options": more}
        return settings.apply(preset, "bae", **wanted, own=BAE.source).options

    assert options(None, None) == {}  # as the attack has it
    assert options(None, TABLE) == {"proposals": 0}
    assert options(None, TABLE, proposals=7) == {"proposals": 7}
    assert options("bae", None)["proposals"] == options("tf-cv50", None)["proposals"] == 0
    assert options("bae", None, proposals=7)["proposals"] == 7
    assert settings.adding_nothing("greedy") == settings.adding_nothing("no such attack") == {}


def test_an_audit_searches_the_candidates_that_proofs_cover(tmp_path: Path) -> None:
    uf.audit(victim(), DATA[:2], candidates=TABLE, attacks=["bae"], radius=1, out=tmp_path / "run")
    options = json.loads((tmp_path / "run" / "manifest.json").read_text())["options"]
    assert options["attacks"]["bae"]["proposals"] == 0


def test_what_is_proposed_is_held_to_a_word_cosine(tiny: dict[str, str]) -> None:
    """movie is near film; bad is near nobody, and nice has no vector."""
    assert {"film", "movie", "bad"} <= VECTORS.keys()
    weights = {"film": 1.0, "movie": -1.0, "bad": -9.0, "nice": -9.0}
    who = victim(Counted(weights))
    near: dict[str, Any] = {"min_word_cosine": 0.6, "word_vectors": tiny["vectors"]}
    model = Says("bad", "nice", "movie")
    how: dict[str, Any] = {"candidates": {"film": ["x"]}, "proposals": 5, "masked": model, **FREE}
    (free,) = uf.attack("bae", who, [("a film", 1)], **how)
    (held,) = uf.attack("bae", who, [("a film", 1)], **how, **near)
    assert (free.changes, held.changes) == (((1, "film", "bad"),), ((1, "film", "movie"),))
    spaces = [uf.Space("a film", {1: ["x"]})]
    with pytest.raises(InputError, match="ready spaces have none: give a source, or proposals=0"):
        uf.attack("bae", who, [("a film", 1)], **how | {"candidates": spaces}, **near)


def test_a_ready_space_says_where_and_nobody_judges() -> None:
    space = uf.Space("a good film", {1: ["fine"]})
    model = Says("the", "ok")
    (found,) = attack("bae", data=DATA[:1], candidates=[space], masked=model, proposals=2, **FREE)
    assert found.changes == ((1, "good", "ok"),)
    assert space.candidates == (("fine",),)
