"""The least cosine between a word and its candidates, for sources and for ready spaces."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unfooled as uf
from companion_doubles import Echo
from runner_toys import attack, told, victim
from tiny_lexicon import VECTORS, write_vectors
from unfooled.check import check
from unfooled.errors import InputError
from unfooled.limits import Limits

TABLE = {"film": ["pic", "movie", "unheard", "picture", "Movies"], "good": ["bad", "fine"]}
TEXTS = [("the Film was good", "pos"), ("a good thing", "pos"), ("no film", "neg")]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_vectors(tmp_path_factory.mktemp("vectors") / "vectors.txt"))


def cosine(one: str, two: str) -> float:
    """By the definition; below every threshold where a word has no vector."""
    a, b = VECTORS.get(one.lower()), VECTORS.get(two.lower())
    if a is None or b is None:
        return -math.inf
    return (a[0] * b[0] + a[1] * b[1]) / (math.hypot(*a) * math.hypot(*b))


@given(st.floats(-1, 1))
@settings(deadline=None)
def test_what_is_kept_is_near_enough(vectors: str, least: float) -> None:
    limits = Limits(min_word_cosine=least, word_vectors=vectors)
    text = uf.Text.parse("the Film was good")
    source: Any = limits.near(TABLE)
    for position, words in source(text).items():
        word = text.words[position].lower()
        assert all(cosine(word, other) >= least - 1e-6 for other in words)
    kept = {w for words in source(text).values() for w in words}
    near = {o for w, others in TABLE.items() for o in others if cosine(w, o) > least + 1e-6}
    assert near <= kept


def test_in_the_order_of_the_source(vectors: str) -> None:
    limits = Limits(min_word_cosine=0.6, word_vectors=vectors)
    source: Any = limits.near(TABLE)
    assert source(uf.Text.parse("film")) == {0: ("movie", "picture", "Movies")}


@pytest.mark.parametrize("least", [-1.0, 0.0, 0.6, 0.7, 1.0])
def test_ready_spaces_are_held_to_it_too(vectors: str, least: float) -> None:
    near: dict[str, Any] = {"min_word_cosine": least, "word_vectors": vectors}
    source = uf.candidates.load(TABLE)
    spaces = [uf.Space(text, source(uf.Text.parse(text))) for text, _ in TEXTS]
    one = attack("beam", data=TEXTS, candidates=TABLE, **near)
    two = attack("beam", data=TEXTS, candidates=spaces, **near)
    assert told(one) == told(two)
    assert any(o.status == "success" for o in one) == (least <= cosine("good", "bad"))


def test_a_space_says_what_it_lost(vectors: str) -> None:
    limits = Limits(min_word_cosine=0.7, word_vectors=vectors)
    space = uf.Space("a Film", {1: TABLE["film"]})
    made: Any = limits.near([space])
    assert made[0].candidates == (("Movie", "Movies"),)
    gone = {(d.candidate, d.reason) for d in made[0].dropped}
    assert gone == {
        ("Pic", "similarity below 0.7"),
        ("Picture", "similarity below 0.7"),
        ("Unheard", "no vector"),
    }
    assert space.counts == (5,)  # what was given is as it was
    assert limits.near([space])[0].fingerprint == made[0].fingerprint  # type: ignore[index]


def test_it_is_in_the_manifest_only_where_it_is_set(tmp_path: Path, vectors: str) -> None:
    near: dict[str, Any] = {"min_word_cosine": 0.5, "word_vectors": vectors}
    attack("greedy", out=tmp_path / "near", **near)
    attack("greedy", out=tmp_path / "free")
    manifests = {
        name: json.loads((tmp_path / name / "manifest.json").read_text())
        for name in ("near", "free")
    }
    assert manifests["near"]["options"]["min_word_cosine"] == 0.5
    assert manifests["near"]["options"]["word_vectors"] == vectors
    assert "word_vectors" not in manifests["free"]["options"]
    found = [m["fingerprints"]["candidates"] for m in manifests.values()]
    assert found[0] != found[1]


def test_a_check_makes_them_again_from_what_the_run_names(tmp_path: Path, vectors: str) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps(TABLE))
    near: dict[str, Any] = {"min_word_cosine": 0.6, "word_vectors": vectors}
    attack("beam", data=TEXTS, candidates=f"table:{table}", out=tmp_path / "run", **near)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["candidates_spec"] == f"table:{table}"
    found = check(tmp_path / "run", victim(), candidates=manifest["candidates_spec"])
    assert found.passed
    assert not [said for said in found.not_checked if "candidates" in said]


def test_candidates_that_an_attack_adds_are_judged_where_a_source_can(vectors: str) -> None:
    """What Echo says has no vector."""
    near: dict[str, Any] = {"min_word_cosine": 0.5, "word_vectors": vectors}
    more: dict[str, Any] = {"proposals": 5, "masked": Echo(), "step_similarity": None, **near}
    assert {o.positions for o in attack("bae", data=TEXTS, candidates=TABLE, **more)} == {0}
    ready = [uf.Space(text, {1: ["x"]}) for text, _ in TEXTS]
    with pytest.raises(InputError, match=r"bae .* adds candidates of its own.*min_word_cosine"):
        attack("bae", data=TEXTS, candidates=ready, **more)


@pytest.mark.parametrize("least", [1.5, -2.0, math.nan])
def test_what_is_no_cosine(least: float) -> None:
    with pytest.raises(InputError, match="min_word_cosine is from -1 to 1"):
        Limits(min_word_cosine=least)


def test_a_filter_that_is_none() -> None:
    with pytest.raises(InputError, match=r"no filter of candidates 'similar'.*'similarity'"):
        uf.candidates.narrowed("wordnet", "similar")
