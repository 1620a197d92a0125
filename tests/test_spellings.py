"""The candidates that each attack searches unless it is told: the papers', and those of presets."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from runner_toys import DATA, TABLE, attack, told, victim
from unfooled import candidates, registry, settings
from unfooled.attacks.greedy import Greedy
from unfooled.presets import PRESETS, get

OWN: dict[str, tuple[str, dict[str, Any]]] = {  # of the papers: what kind of source, how many
    "textfooler": ("Embedding", {"k": 50, "min_similarity": 0.5}),
    "genetic": ("Embedding", {"k": 8, "metric": "euclidean"}),
    "faster-genetic": ("Embedding", {"k": 8, "metric": "euclidean"}),
    "iga": ("Embedding", {"k": 50, "metric": "euclidean"}),
    "pwws": ("WordNet", {"names": True, "rank": "sense", "same_pos": True}),
    "bert-attack": ("MaskedLM", {"k": 48, "masked": False}),
    "bae": ("MaskedLM", {"k": 50, "masked": True}),
    "deepwordbug": ("Typos", {"k": 4, "inner": False}),
    "mcts": ("Embedding", {"k": 1000, "metric": "euclidean"}),
}


NEAR = {"textfooler": {"min_similarity": -1.0}}  # a limit of the preset, not of its source


def inmost(source: Any) -> Any:
    return inmost(source.source) if hasattr(source, "source") else source


@pytest.mark.parametrize("name", OWN)
def test_an_attack_names_the_source_of_its_paper(name: str) -> None:
    kind, options = OWN[name]
    source = inmost(candidates.load(registry.get("attacks", name).source))
    assert type(source).__name__ == kind
    assert {key: getattr(source, key) for key in options} == options
    if kind == "Embedding" and name != "mcts":
        assert source.vectors == "glove-50-counter-fitted"


def test_the_bugs_are_typos_and_neighbours() -> None:
    source: Any = candidates.load(registry.get("attacks", "textbugger").source)
    assert [type(part).__name__ for part in (source.first, source.second)] == ["Typos", "Embedding"]
    assert (len(source.first.kinds.split("/")), source.second.k) == (5, 5)


@pytest.mark.parametrize("name", [n for n in registry.names("attacks") if n not in OWN])
def test_other_attacks_have_none_or_one_that_can_be_read(name: str) -> None:
    spec = registry.get("attacks", name).source
    assert spec is None or candidates.load(spec)


def test_bae_and_its_preset_share_a_spelling() -> None:
    assert get("bae").setting("bae").candidates == registry.get("attacks", "bae").source


@pytest.mark.parametrize("name", registry.names("attacks"))
def test_stop_words_are_the_authors(name: str) -> None:
    """TextFooler and BERT-Attack come with a list; TextAttack, whose the presets are, has TextFooler's."""
    spec = registry.get("attacks", name).source or settings.DEFAULT
    source: Any = candidates.load(spec)
    expected = "stopwords-textfooler" if name in ("textfooler", "bert-attack") else "stopwords"
    for part in (source.first, source.second) if "+" in spec else (source,):
        assert inmost(part).stopwords == expected
    for preset in PRESETS.values():
        its = preset.name == "textfooler" or preset.name.startswith("tf-")
        assert ("stopwords-textfooler" in preset.setting(name).candidates) == its


@pytest.mark.parametrize("name", ["textfooler", "bert-attack"])
def test_apart_from_stop_words_the_preset_has_the_same_candidates(name: str) -> None:
    own: Any = inmost(candidates.load(registry.get("attacks", name).source))
    preset: Any = inmost(candidates.load(get(name).setting(name).candidates))
    assert replace(own, stopwords=preset.stopwords, **NEAR.get(name, {})) == preset


@dataclass(frozen=True)
class Mine(Greedy):
    """Greedy with candidates of its own."""


def test_what_is_not_given_is_the_attack_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE))
    monkeypatch.setattr(Greedy, "source", f"table:{path}")
    expected = told(attack(candidates=TABLE))
    assert told(uf.attack("greedy", victim(), DATA, out=tmp_path / "run")) == expected
    assert told(uf.attack(Mine(), victim(), DATA)) == expected
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "table.json" in manifest["candidates"]
    other = uf.attack("greedy", victim(), DATA, candidates={"good": ["ok"]})
    assert other[1].status == "failed", "what is given goes before"


def test_own_candidates_give_way_to_a_preset_s() -> None:
    more: Any = {"candidates": None, "limits": {}, "options": {}}
    assert settings.apply(None, "x", **more, own="typos").candidates == "typos"
    assert settings.apply(None, "x", **more).candidates == "wordnet"
    assert settings.apply("pwws", "x", **more, own="typos").candidates != "typos"
