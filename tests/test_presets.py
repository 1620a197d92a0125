"""Presets: the papers' numbers, sources that need no asset to be built, any attack under any of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from companion_doubles import WordEncoder
from runner_toys import attack, told, victim
from tiny_lexicon import write_stopwords, write_tagger, write_vectors, write_wordnet
from unfooled import assets, candidates, registry, settings
from unfooled.candidate_counts import CandidateCounts
from unfooled.candidates import Source
from unfooled.errors import InputError, MissingExtra
from unfooled.limits import Limits
from unfooled.presets import PRESETS, Setting, get

NONE = {"max_rate": None, "max_swaps": None, "max_queries": None, "target": None}
EMBEDDING = {"k": 50, "min_similarity": -1.0, "vectors": "glove-50-counter-fitted"}

# Li et al. 2021, section 3.2.
DEFENDER = {
    "max_candidates": 50,
    "max_queries": "50x",
    "min_similarity": 0.84,
    "similarity": "angular",
    "encoder": "use",
    "window": None,
    "reference": "original",
}
WORDS = {"word_vectors": "glove-50-counter-fitted"}


def used(least: float, *, window: int | None = 15) -> dict[str, Any]:
    """A cosine of USE vectors with the original text."""
    return {
        "min_similarity": least,
        "similarity": "cosine",
        "encoder": "use",
        "window": window,
        "reference": "original",
    }


# Hauser et al. 2021, section 3.1 (table 1), table 3, table 4 with section 7.1.
LIMITS: Mapping[str, Mapping[str, Any]] = {
    "defender-agnews": {**DEFENDER, "max_rate": 0.3},
    "defender-imdb": {**DEFENDER, "max_rate": 0.1},
    "textfooler": {**used(0.878), "min_word_cosine": 0.5, **WORDS},
    "pwws": {},
    "bert-attack": {"max_rate": 0.4, **used(0.2, window=None)},
    "bae": used(0.936),
    "tf-cv50": {"min_word_cosine": 0.5, **WORDS},
    "tf-cv50-use88": {**used(0.878), "min_word_cosine": 0.5, **WORDS},
    "tf-cv70-use85": {**used(0.85), "min_word_cosine": 0.7, **WORDS},
    "tf-cv70-use90": {**used(0.9), "min_word_cosine": 0.7, **WORDS},
    "tf-cv80-use90": {**used(0.9), "min_word_cosine": 0.8, **WORDS},
    "pwws-cv50": {"min_word_cosine": 0.5, **WORDS},
    "bert-attack-cv50": {
        "max_rate": 0.4,
        **used(0.2, window=None),
        "min_word_cosine": 0.5,
        **WORDS,
    },
    "bae-cv50": {**used(0.936), "min_word_cosine": 0.5, **WORDS},
    "ilp": {},
}


# --- the papers' numbers ------------------------------------------------------------------------


def test_the_presets_of_the_papers_are_there() -> None:
    assert list(PRESETS) == list(LIMITS)
    assert all(name == preset.name for name, preset in PRESETS.items())


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_the_papers(name: str) -> None:
    assert get(name).every.limits.config() == {**NONE, **LIMITS[name]}


def test_textfooler_is_compared_with_the_text_before_only_in_table_1() -> None:
    first = get("textfooler").setting("textfooler")
    assert first.limits.min_similarity is None
    assert (first.limits.min_word_cosine, first.limits.encoder) == (0.5, "use")
    assert first.options == {"step_similarity": 0.878, "step_window": 15, "reference": "previous"}
    for name in ("tf-cv50-use88", "tf-cv70-use85", "tf-cv70-use90", "tf-cv80-use90"):
        adjusted = get(name).setting("textfooler")
        assert adjusted.limits == get(name).every.limits
        # The limit judges; the step only ranks those that fool.
        assert adjusted.options["reference"] == "original"
        assert adjusted.options["step_similarity"] == -1
    assert get("tf-cv50").setting("textfooler").options == {}


def test_the_cosine_of_textfooler_is_its_angular_similarity() -> None:
    assert round(math.cos(math.pi * (1 - 0.840845057)), 3) == 0.878
    assert round(math.cos(math.pi * (1 - 0.841)), 3) == 0.878  # as the paper quotes it


@pytest.mark.parametrize("name", ["defender-agnews", "defender-imdb"])
def test_the_candidates_of_the_defender_paper(name: str) -> None:
    def source(attack: str) -> Source:
        return settings.apply(name, attack, candidates=None, limits={}, options={}).candidates  # type: ignore[return-value]

    made = {a: candidates.load(source(a)) for a in registry.names("attacks")}
    assert {**vars(made["textfooler"])} | EMBEDDING == {**vars(made["textfooler"])}
    typos: Any = made["deepwordbug"]
    assert (type(typos).__name__, typos.k) == ("Typos", 50)
    assert typos.kinds.split("/") == ["swap", "substitute", "delete", "insert"]
    model: Any = made["bert-attack"]
    assert (type(model).__name__, model.k, model.masked) == ("MaskedLM", 50, False)
    others = set(made) - {"deepwordbug", "bert-attack", "bae"}
    assert all(made[a] == made["textfooler"] for a in others)


@pytest.mark.parametrize(
    ("name", "kind", "options", "filters"),
    [
        ("textfooler", "Embedding", EMBEDDING, ["SamePos"]),
        ("tf-cv80-use90", "Embedding", EMBEDDING, ["SamePos"]),
        ("pwws", "WordNet", {"same_pos": False, "rank": "sense", "names": True}, []),
        ("bert-attack-cv50", "MaskedLM", {"k": 48, "masked": False}, []),
        ("bae", "MaskedLM", {"k": 50, "masked": True}, ["SamePos"]),
    ],
)
def test_the_candidates_of_bert_is_robust(
    name: str, kind: str, options: Mapping[str, Any], filters: list[str]
) -> None:
    made: Any = candidates.load(get(name).every.candidates)
    for wanted in filters:
        assert type(made).__name__ == wanted
        assert made.noun_verb
        made = made.source
    assert type(made).__name__ == kind
    assert {key: getattr(made, key) for key in options} == options


def all_settings() -> list[tuple[str, str, Setting]]:
    every = [(name, "", preset.every) for name, preset in PRESETS.items()]
    own = [(n, a, s) for n, preset in PRESETS.items() for a, s in preset.own.items()]
    return every + own


def test_nothing_is_loaded_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "get", lambda *a, **k: pytest.fail("an asset was asked for"))
    for name, who, setting in all_settings():
        applied = settings.apply(name, who or "greedy", candidates=None, limits={}, options={})
        source = candidates.load(applied.limits.near(applied.candidates))
        assert isinstance(source, Source)
        assert applied.limits == setting.limits
        if who:
            assert registry.build("attacks", who, setting.options)


def test_each_says_where_its_numbers_stand_and_where_it_differs() -> None:
    for preset in PRESETS.values():
        told = settings.told(preset)
        assert any(where in preset.paper for where in ("section 3", "section 7", "appendix A"))
        assert "\n" not in preset.about
        vectors = preset.every.limits.min_word_cosine is not None
        vectors |= "counter-fitted" in preset.every.candidates
        assert ("Paragram" in told["differs"]) == vectors
        compares = preset.every.limits.min_similarity is not None or preset.name == "ilp"
        assert ("multilingual" in told["differs"]) == compares
    assert settings.told(get("textfooler"))["options of textfooler"].startswith(
        "step_similarity 0.878"
    )


# --- what is given goes before ------------------------------------------------------------------


def test_what_is_given_goes_before_the_preset() -> None:
    given = {"max_rate": 0.2, "encoder": "minilm", "max_queries": None}
    found = settings.apply(
        "defender-imdb",
        "bert_attack",
        candidates=None,
        limits=given,
        options={"max_share": 0.5},
    )
    wanted = replace(get("defender-imdb").every.limits, max_rate=0.2, encoder="minilm")
    assert found.limits == wanted
    assert found.options == {"max_share": 0.5}
    assert found.candidates == "masked_lm:k=50"
    other = settings.apply("pwws", "pwws", candidates={"a": ["b"]}, limits={}, options={})
    assert other.candidates == {"a": ["b"]}


def test_as_many_candidates_as_are_asked_for() -> None:
    for most in (5, 100):
        found = settings.apply(
            "defender-imdb",
            "textfooler",
            candidates=None,
            limits={"max_candidates": most},
            options={},
        )
        source: Any = candidates.load(found.candidates)
        assert (source.k, found.limits.max_candidates) == (most, most)
        assert found.limits.max_queries == "50x"


def test_without_a_preset_everything_is_as_it_was() -> None:
    found = settings.apply(None, "beam", candidates=None, limits={}, options={"width": 3})
    assert found == settings.Applied("wordnet", Limits(), {"width": 3})
    assert attack("greedy").candidates is None


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(InputError, match=r"no preset 'defender'; did you mean 'defender-imdb'"):
        attack("greedy", preset="defender")


def test_a_preset_says_that_it_needs_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    for name in ("tf-cv50-use88", "defender-agnews", "bae"):
        with pytest.raises(MissingExtra, match=rf"preset {name} .*Universal.*unfooled\[use\]"):
            attack("greedy", preset=name)
    with pytest.raises(MissingExtra, match="preset textfooler"):
        attack("textfooler", preset="textfooler")  # it compares in its steps alone
    assert len(attack("greedy", preset="pwws")) == 5
    assert len(attack("greedy", preset="defender-imdb", encoder=WordEncoder())) == 5


# --- any attack under any preset ----------------------------------------------------------------

FILMS = [("the film was good", "pos"), ("a bad film .", "neg"), ("children found it fine", "pos")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("lexicon")
    return {
        "wordnet": str(write_wordnet(folder / "wordnet")),
        "tagger": str(write_tagger(folder / "tagger.json")),
        "stopwords": str(write_stopwords(folder / "stop.txt")),
        "vectors": str(write_vectors(folder / "vectors.txt")),
    }


def shrunk(source: Any, tiny: Mapping[str, str]) -> Source:
    """The source with tiny resources; a table stands in for a language model."""
    if type(source).__name__ == "MaskedLM":
        table = {"film": ["movie", "picture", "pic"], "good": ["bad", "fine"], "bad": ["fine"]}
        return candidates.load(table)
    own = {f.name for f in fields(source)}
    changes: dict[str, Any] = {key: path for key, path in tiny.items() if key in own}
    if "source" in own:
        changes["source"] = shrunk(source.source, tiny)
    changed: Source = replace(source, **changes)
    return changed


def run(name: str, preset: str, tiny: Mapping[str, str], **more: Any) -> uf.Outcomes:
    applied = settings.apply(preset, name, candidates=None, limits={}, options={})
    source = shrunk(candidates.load(applied.candidates), tiny)
    small = {"candidates": source, "encoder": WordEncoder()}
    if applied.limits.min_word_cosine is not None:
        small["word_vectors"] = tiny["vectors"]
    if name == "mcts":
        small["vectors"] = tiny["vectors"]
    return attack(name, data=FILMS, preset=preset, **small, **more)


@pytest.mark.parametrize("preset", PRESETS)
def test_any_attack_runs_under_any_preset(preset: str, tiny: dict[str, str]) -> None:
    for name in registry.names("attacks"):
        found = run(name, preset, tiny)
        assert [o.error for o in found] == [None] * 3, name
        most = get(preset).setting(name).limits
        for outcome in found:
            budget = most.queries(outcome.original)
            assert budget is None or outcome.queries <= budget
            swaps = most.swaps(outcome.original)
            assert swaps is None or outcome.swaps <= swaps


def test_the_run_names_its_preset(tmp_path: Path, tiny: dict[str, str]) -> None:
    first = run("pwws", "pwws-cv50", tiny, out=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    options = manifest["options"]
    assert (options["preset"], options["min_word_cosine"]) == ("pwws-cv50", 0.5)
    assert options["word_vectors"] == tiny["vectors"]
    again = run("pwws", "pwws-cv50", tiny, out=tmp_path / "run")
    assert (told(again), again.resumed) == (told(first), 3)
    assert again.candidates == first.candidates


def test_an_attack_s_own_encoder_is_in_the_manifest(tmp_path: Path, tiny: dict[str, str]) -> None:
    run("textfooler", "textfooler", tiny, out=tmp_path / "run")
    options = json.loads((tmp_path / "run" / "manifest.json").read_text())["options"]
    assert (options["encoder"], options["attack"]["reference"]) == ("words", "previous")


def test_candidates_are_counted_as_by_hand(tiny: dict[str, str]) -> None:
    table = {"film": ["movie", "picture"], "good": ["fine"]}
    texts = [("the film was good", "pos"), ("the film .", "pos")]
    near = {"candidates": table, "word_vectors": tiny["vectors"]}
    found = attack("greedy", data=texts, preset="tf-cv50", **near)
    assert found.candidates == CandidateCounts(words=6, swappable=3, candidates=5)
    assert found.candidates.per_word == 5 / 6
    assert found.candidates.per_swappable_word == 5 / 3
    fewer = attack("greedy", data=texts, preset="tf-cv50", max_candidates=1, **near)
    assert fewer.candidates == CandidateCounts(words=6, swappable=3, candidates=3)
    assert CandidateCounts().per_word is CandidateCounts().per_swappable_word is None


def test_an_instance_keeps_its_own_options(tiny: dict[str, str]) -> None:
    from unfooled.attacks.textfooler import TextFooler

    source = {"candidates": {"good": ["bad"]}, "word_vectors": tiny["vectors"]}
    found = uf.attack(
        TextFooler(), victim(), FILMS, preset="textfooler", min_word_cosine=-1, **source
    )
    assert [o.status for o in found] == ["success", "failed", "failed"]
