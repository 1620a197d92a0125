"""What every source promises, over one table of sources."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_lexicon import TAGS, VECTORS
from tiny_masked_lm import write_bert
from unfooled.candidates import Source, explain, load
from unfooled.candidates._combined import (
    Intersection,
    NoAntonyms,
    NoStopWords,
    SamePos,
    Similar,
    Union,
)
from unfooled.candidates.embedding import Embedding
from unfooled.candidates.masked_lm import MaskedLM
from unfooled.candidates.sememes import Sememes
from unfooled.candidates.table import Table
from unfooled.candidates.typos import Typos
from unfooled.candidates.wordnet import WordNet
from unfooled.lexicon import masked_lm
from unfooled.text import Text, is_word

NAMES = ["wordnet", "senses", "embedding", "euclidean", "sememes", "table", "mapping", "masked"]
NAMES += ["typos", "union", "intersection", "pos", "stopwords", "similarity", "antonyms"]

words = st.sampled_from([*TAGS, *VECTORS, "Film", "FILM", "don't", "zebra", "naïve", "..."])
texts = st.one_of(st.lists(words, max_size=12).map(" ".join), st.text(max_size=40))


@pytest.fixture(scope="module")
def sources(tiny: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    folder: Path = tmp_path_factory.mktemp("tables")
    table = {"film": ["movie", "picture", "film"], "good": ["bad", "fine"], "the": ["this"]}
    (folder / "table.json").write_text(json.dumps(table))
    sememes = {word: {"noun": [["shows"]], "adj": [["value"]]} for word in (*VECTORS, "kid")}
    (folder / "sememes.json").write_text(json.dumps(sememes))
    lexical = {name: tiny[name] for name in ("vectors", "stopwords")}
    wordnet, listed = WordNet(**tiny), Table(str(folder / "table.json"))
    embedding = Embedding(**lexical)
    return {
        "wordnet": wordnet,
        "senses": WordNet(rank="sense", same_pos=False, names=True, phrases=True, **tiny),
        "embedding": embedding,
        "euclidean": Embedding(metric="euclidean", k=3, **lexical),
        "sememes": Sememes(str(folder / "sememes.json"), **tiny),
        "table": listed,
        "mapping": load(table),
        "masked": MaskedLM(model=str(write_bert(folder / "bert")), stopwords=tiny["stopwords"]),
        "typos": Typos(stopwords=tiny["stopwords"]),
        "union": Union(listed, wordnet),
        "intersection": Intersection(embedding, wordnet),
        "pos": SamePos(embedding, tagger=tiny["tagger"]),
        "stopwords": NoStopWords(listed, stopwords=tiny["stopwords"]),
        "similarity": Similar(listed, vectors=tiny["vectors"]),
        "antonyms": NoAntonyms(embedding, wordnet=tiny["wordnet"]),
    }


def test_the_table_is_complete(sources: dict[str, Source]) -> None:
    assert list(sources) == NAMES


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=40)
@given(source=texts)
def test_candidates_of_any_string(sources: dict[str, Source], name: str, source: str) -> None:
    text = Text.parse(source)
    found = sources[name](text)
    assert list(found) == sorted(found)
    for position, candidates in found.items():
        assert is_word(text.words[position])
        assert candidates
        assert all(isinstance(word, str) and word for word in candidates)
        assert len(set(candidates)) == len(candidates)
        assert text.words[position] not in candidates
        assert text.words[position].lower() not in candidates


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=20)
@given(source=texts)
def test_the_explanation_agrees_with_the_answer(
    sources: dict[str, Source], name: str, source: str
) -> None:
    text = Text.parse(source)
    rows = explain(sources[name], source)
    assert [(row.position, row.word) for row in rows] == list(enumerate(text.words))
    assert {row.position: row.kept for row in rows if row.kept} == sources[name](text)
    for row in rows:
        flags = [bool(c.rejected) for c in row.candidates]
        assert flags == sorted(flags)  # kept first
        assert bool(row.candidates) != bool(row.reason)


@pytest.mark.parametrize("name", NAMES)
def test_a_source_travels_without_what_it_loaded(sources: dict[str, Source], name: str) -> None:
    text = Text.parse("the films found a good film")
    before = sources[name](text)
    sent = pickle.dumps(sources[name])
    assert len(sent) < 3000
    arrived = pickle.loads(sent)  # noqa: S301 - made two lines above
    assert arrived == sources[name]
    assert arrived(text) == before
    assert arrived.fingerprint == sources[name].fingerprint


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=20)
@given(source=texts)
def test_what_it_gives_it_would_keep(sources: dict[str, Source], name: str, source: str) -> None:
    """Whoever else proposes the same words at the same positions gets them past its filters."""
    text, made = Text.parse(source), sources[name]
    found, open_ = made(text), made.positions(text)
    assert list(open_) == sorted(set(open_))
    assert set(found) <= set(open_)
    assert all(is_word(text.words[position]) for position in open_)
    for position, words in found.items():
        assert made.keep(text, position, words) == words
        assert made.keep(text, position, words[::-1]) == words[::-1]
        assert made.keep(text, position, ()) == ()


@pytest.mark.parametrize(
    ("name", "word", "given", "kept"),
    [
        ("masked", "film", ("the", "movie"), ("movie",)),
        ("stopwords", "film", ("the", "movie"), ("movie",)),
        ("pos", "film", ("bad", "movie"), ("movie",)),
        ("similarity", "film", ("unheard", "movie"), ("movie",)),
        ("table", "film", ("unheard", "the"), ("unheard", "the")),
    ],
)
def test_what_it_would_reject_it_does_not_keep(
    sources: dict[str, Source], name: str, word: str, given: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    text = Text.parse(f"the good {word}")
    assert sources[name].keep(text, 2, given) == kept


def test_positions_are_known_without_a_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masked_lm, "load", lambda *a, **k: pytest.fail("it was loaded"))
    source = MaskedLM(stopwords=None)
    text = Text.parse("In 1999 , nobody saw it 's film !")
    assert [text.words[i] for i in source.positions(text)] == ["In", "nobody", "saw", "it", "film"]


def test_fingerprints_tell_all_sources_apart(sources: dict[str, Source]) -> None:
    prints = {source.fingerprint for source in sources.values()}
    assert len(prints) == len(sources)
    assert all(len(p) == 64 for p in prints)


@settings(deadline=None, max_examples=40)
@given(source=texts)
def test_union_and_intersection_are_those_of_sets(sources: dict[str, Source], source: str) -> None:
    text = Text.parse(source)
    one, other = sources["embedding"](text), sources["wordnet"](text)
    both = Union(sources["embedding"], sources["wordnet"])(text)
    common = sources["intersection"](text)
    for position in range(len(text.words)):
        a, b = set(one.get(position, ())), set(other.get(position, ()))
        assert set(both.get(position, ())) == a | b
        assert set(common.get(position, ())) == a & b
