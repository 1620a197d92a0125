"""Specs for the command line, combinations and filters."""

from __future__ import annotations

from pathlib import Path

import pytest

from unfooled.candidates import Candidate, Row, explain, filters, load, names
from unfooled.candidates._combined import (
    Intersection,
    NoAntonyms,
    NoStopWords,
    SamePos,
    Similar,
    Union,
)
from unfooled.candidates.embedding import Embedding
from unfooled.candidates.table import Table
from unfooled.candidates.wordnet import WordNet
from unfooled.errors import InputError
from unfooled.text import Text

ONE = load({"film": ["movie", "picture"], "good": ["bad", "fine"]})
OTHER = load({"film": ["pic", "Picture"], "story": ["tale"]})
TEXT = Text.parse("film story good")


def test_the_files_are_the_names() -> None:
    folder = Path(__import__("unfooled.candidates", fromlist=["x"]).__file__).parent
    assert names() == tuple(sorted(p.stem for p in folder.glob("[!_]*.py")))
    assert {"wordnet", "embedding", "sememes", "table"} <= set(names())
    assert filters() == ("pos", "stopwords", "similarity", "antonyms", "sentence")


def test_options_are_read_by_their_types() -> None:
    assert load("wordnet") == WordNet()
    assert load("wordnet:k=8,same_pos=false,stopwords=none") == WordNet(
        k=8, same_pos=False, stopwords=None
    )
    assert load("embedding:k=8,min_similarity=0.6,metric=euclidean,max_distance=2") == Embedding(
        k=8, min_similarity=0.6, metric="euclidean", max_distance=2.0
    )
    assert load(" table:some/file.tsv ") == Table("some/file.tsv")
    assert load("table:file=x.json,k=3") == Table("x.json", k=3)


def test_operators() -> None:
    a, b, c = load("wordnet"), load("embedding"), load("table:x.tsv")
    assert load("wordnet + embedding & table:x.tsv") == Union(a, Intersection(b, c))
    assert load("wordnet|pos|similarity:min=0.3") == Similar(SamePos(a), min=0.3)
    assert load("wordnet|stopwords|antonyms") == NoAntonyms(NoStopWords(a))


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("wordnett", "no source of candidates 'wordnett'; did you mean 'wordnet'"),
        ("", "no source of candidates ''"),
        ("wordnet +", "no source of candidates ''"),
        ("wordnet|poss", "no filter of candidates 'poss'; did you mean 'pos'"),
        ("wordnet:kk=3", "wordnet has no option 'kk'; did you mean 'k'|known"),
        ("wordnet:k=three", "option k of wordnet cannot be 'three': .*integer"),
        ("wordnet:rank=best", "option rank of wordnet cannot be 'best'"),
        ("wordnet:k=0", "k is at least 1"),
        ("wordnet:5", "write options of wordnet as field=value, not '5'"),
        ("wordnet|pos:source=x", "pos has no option 'source'"),
        ("sememes", "sememes needs file: write sememes:file="),
    ],
)
def test_a_bad_spec_gets_one_sentence(spec: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        load(spec)


def test_what_cannot_be_a_source() -> None:
    with pytest.raises(InputError, match="not int"):
        load(3)  # type: ignore[arg-type]
    assert load(ONE) is ONE


def test_union_keeps_the_order_of_the_first() -> None:
    both = Union(ONE, OTHER)
    assert both(TEXT) == {0: ("movie", "picture", "pic"), 1: ("tale",), 2: ("bad", "fine")}
    assert both.fingerprint != Union(OTHER, ONE).fingerprint


def test_intersection_says_what_is_missing() -> None:
    rows = explain(Intersection(ONE, OTHER), TEXT)
    assert [row.kept for row in rows] == [("picture",), (), ()]
    assert rows[0].candidates[1] == Candidate("movie", None, "not in the other source")
    assert rows[2].candidates[0].rejected == "not in the other source (not in the table)"


def test_similarity_rates_what_it_lets_pass(tiny: dict[str, str]) -> None:
    row = explain(Similar(ONE, min=0.7, vectors=tiny["vectors"]), TEXT)[0]
    assert row.kept == ("movie",)
    assert row.candidates[0].similarity == pytest.approx(0.8)
    assert row.candidates[1].rejected == "similarity below 0.7"
    unknown = Similar(load({"film": ["zebra"]}), vectors=tiny["vectors"])
    assert explain(unknown, TEXT)[0].candidates[0].rejected == "no vector"


def test_antonyms_go_in_any_form(tiny: dict[str, str]) -> None:
    source = NoAntonyms(load({"good": ["bad", "fine"], "best": ["bad"]}), wordnet=tiny["wordnet"])
    assert source(Text.parse("good best film")) == {0: ("fine",)}


def test_stop_words_go_on_both_sides(tiny: dict[str, str]) -> None:
    table = load({"the": ["this"], "film": ["it", "movie"]})
    rows = explain(NoStopWords(table, stopwords=tiny["stopwords"]), "the film")
    assert [row.kept for row in rows] == [(), ("movie",)]
    assert rows[0].reason == "stop word"


def test_the_part_of_speech_in_the_sentence(tiny: dict[str, str]) -> None:
    table = load({"film": ["movie", "good", "found"], "good": ["fine", "film"]})
    rows = explain(SamePos(table, tagger=tiny["tagger"]), "the film was good")
    assert rows[1] == Row(
        1,
        "film",
        "NN",
        (
            Candidate("movie"),
            Candidate("good", None, "tagged JJ, not NN"),
            Candidate("found", None, "tagged VBD, not NN"),
        ),
    )
    assert rows[3].kept == ("fine",)


def test_a_noun_may_become_an_adjective_and_nothing_else_on_request(tiny: dict[str, str]) -> None:
    table = load({"film": ["movie", "good", "found"], "good": ["fine", "film"]})
    for wanted in (True, False):
        source = SamePos(table, tagger=tiny["tagger"], noun_to_adjective=wanted)
        rows = explain(source, "the film was good")
        assert rows[1].kept == (("movie", "good") if wanted else ("movie",))
        assert rows[3].kept == ("fine",)  # no adjective becomes a noun
    assert load("wordnet|pos:noun_to_adjective=true") == SamePos(
        load("wordnet"), noun_to_adjective=True
    )


def test_nouns_and_verbs_for_each_other(tiny: dict[str, str]) -> None:
    table = load({"film": ["movie", "good", "found"], "found": ["film", "best", "began"]})
    text = Text.parse("the film found the")
    strict = SamePos(table, tagger=tiny["tagger"])
    loose = SamePos(table, noun_verb=True, tagger=tiny["tagger"])
    assert strict(text) == {1: ("movie",), 2: ("began",)}
    assert loose(text) == {1: ("movie", "found"), 2: ("film", "began")}
    assert strict.fingerprint != loose.fingerprint
    assert load("wordnet|pos:noun_verb=true") == SamePos(load("wordnet"), noun_verb=True)


def test_filters_are_part_of_the_fingerprint(tiny: dict[str, str]) -> None:
    prints = {
        ONE.fingerprint,
        SamePos(ONE, tagger=tiny["tagger"]).fingerprint,
        NoAntonyms(ONE, wordnet=tiny["wordnet"]).fingerprint,
        Similar(ONE, vectors=tiny["vectors"]).fingerprint,
        Similar(ONE, min=0.6, vectors=tiny["vectors"]).fingerprint,
    }
    assert len(prints) == 5


def test_filters_see_the_two_sides_of_a_pair_apart(tiny: dict[str, str]) -> None:
    # In one passage `zebra` would follow a modal verb and be a verb like `running`.
    source = SamePos(load({"zebra": ["running", "movie"]}), tagger=tiny["tagger"])
    rows = source.rows(Text.pair("it could", "zebra", editable="both"))
    assert (rows[2].tag, rows[2].kept) == ("NN", ("movie",))
    only = source.rows(Text.pair("it could", "zebra"))
    assert [(row.position, row.kept) for row in only] == [(0, ("movie",))]
