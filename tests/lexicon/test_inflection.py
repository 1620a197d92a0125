"""Inflected forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tiny_lexicon import write_wordnet
from unfooled.lexicon.inflection import INFLECTED, inflect, is_form
from unfooled.lexicon.wordnet import WordNet


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return WordNet(write_wordnet(tmp_path_factory.mktemp("wordnet")))


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("movie", "NNS", "movies"),
        ("woman", "NNS", "women"),
        ("human", "NNS", "humans"),
        ("church", "NNS", "churches"),
        ("comedy", "NNS", "comedies"),
        ("day", "NNS", "days"),
        ("child", "NNS", "children"),
        ("discover", "VBD", "discovered"),
        ("move", "VBD", "moved"),
        ("try", "VBN", "tried"),
        ("play", "VBD", "played"),
        ("find", "VBD", "found"),
        ("go", "VBD", "went"),
        ("go", "VBN", "gone"),
        ("put", "VBD", "put"),
        ("begin", "VBN", "begun"),
        ("run", "VBN", "run"),
        ("run", "VBG", "running"),
        ("move", "VBG", "moving"),
        ("see", "VBG", "seeing"),
        ("die", "VBG", "dying"),
        ("play", "VBZ", "plays"),
        ("try", "VBZ", "tries"),
        ("miss", "VBZ", "misses"),
        ("big", "JJS", "biggest"),
        ("big", "JJR", "bigger"),
        ("large", "JJR", "larger"),
        ("funny", "JJS", "funniest"),
        ("good", "JJS", "best"),
        ("good", "JJR", "better"),
        ("kind", "JJR", "kinder"),
        ("hop", "VBD", "hopped"),  # not the past tense of hope
        ("rate", "VBG", "rating"),
        ("rat", "VBG", "ratting"),
        ("quit", "VBG", "quitting"),
        ("fix", "VBD", "fixed"),
        ("show", "VBG", "showing"),
        ("emphasis", "NNS", "emphases"),
        ("series", "NNS", "series"),
        ("movie", "NN", "movie"),
        ("discover", "VB", "discover"),
    ],
)
def test_the_first_form(tiny: WordNet, lemma: str, tag: str, form: str) -> None:
    assert inflect(lemma, tag, wordnet=tiny)[0] == form
    assert is_form(form, lemma, tag=tag, wordnet=tiny)


def test_spellings_that_vary_are_all_given(tiny: WordNet) -> None:
    assert inflect("hero", "NNS", wordnet=tiny) == ("heroes", "heros")
    assert inflect("pic", "NNS", wordnet=tiny) == ("pics",)


def test_long_adjectives_have_no_form_of_one_word(tiny: WordNet) -> None:
    assert inflect("enjoyable", "JJS", wordnet=tiny) == ()
    assert inflect("quickly", "RBR", wordnet=tiny) == ()
    assert inflect("set", "JJR", wordnet=tiny) == ()  # doubled comparatives are listed, or none


def test_a_phrase_inflects_its_head(tiny: WordNet) -> None:
    assert inflect("moving picture", "NNS", wordnet=tiny) == ("moving pictures",)
    assert inflect("go out", "VBD", wordnet=tiny) == ("went out",)


def test_compounds_follow_their_verb(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = write_wordnet(tmp_path_factory.mktemp("compound"))
    with (folder / "verb.exc").open("a") as file:
        file.write("underwent undergo\nundergone undergo\nforesaw foresee\n")
    database = WordNet(folder)
    assert inflect("undergo", "VBD", wordnet=database) == ("underwent",)
    assert inflect("undergo", "VBN", wordnet=database) == ("undergone",)
    assert inflect("foresee", "VBN", wordnet=database) == ("foreseen",)
    assert inflect("behave", "VBD", wordnet=database) == ("behaved",)


@pytest.mark.assets("wordnet")
@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("woman", "NNS", "women"),
        ("knife", "NNS", "knives"),
        ("become", "VBN", "become"),
        ("overcome", "VBD", "overcame"),
        ("understand", "VBD", "understood"),
        ("undertake", "VBN", "undertaken"),
        ("think", "VBN", "thought"),
        ("admit", "VBD", "admitted"),
        ("plan", "VBG", "planning"),
        ("sad", "JJS", "saddest"),
    ],
)
def test_with_the_real_lists(asset: Callable[[str], Path], lemma: str, tag: str, form: str) -> None:
    assert inflect(lemma, tag, wordnet=WordNet(asset("wordnet")))[0] == form


@pytest.mark.assets("wordnet")
def test_a_form_leads_back_to_its_lemma(asset: Callable[[str], Path]) -> None:
    """Morphy is an independent inverse: what we inflect it must lemmatise to where we began."""
    database = WordNet(asset("wordnet"))
    lemmas = "film story church hero man knife box play try stop move go see write undergo panic"
    lemmas += " begin forget foresee hurry travel admit lie become put quiz tie dye agree fix"
    for lemma in lemmas.split():
        for tag, pos in INFLECTED.items():
            if database.knows(lemma, pos) and pos in "nv":
                form = inflect(lemma, tag, wordnet=database)[0]
                assert lemma in database.lemmas(form, pos), (lemma, tag, form)
