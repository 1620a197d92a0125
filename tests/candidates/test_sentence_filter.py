"""The filter `sentence`: a candidate stays if the text with only that word swapped stays close."""

from __future__ import annotations

import pytest

from companion_doubles import WordEncoder, similarity_of
from unfooled.candidates import _sentence, load
from unfooled.candidates._sentence import SimilarSentence
from unfooled.errors import InputError
from unfooled.text import Text

WORDS = {"good": ["fine", "great", "dull"], "film": ["movie", "picture"]}


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    made = WordEncoder()
    monkeypatch.setattr(_sentence, "_loaded", lambda name: made)
    return made


@pytest.mark.parametrize("least", [-1.0, 0.5, 0.8, 0.95, 1.0])
def test_each_candidate_is_compared_alone(encoder: WordEncoder, least: float) -> None:
    text = Text.parse("A good film, and a good one")
    found = SimilarSentence(load(WORDS), min=least)(text)
    words = list(text.words)
    expected = {}
    for position, word in enumerate(words):
        kept = [
            new
            for new in WORDS.get(word, [])
            if similarity_of(str(text), str(text.swap({position: new}))) >= least
        ]
        if kept:
            expected[position] = tuple(kept)
    assert found == expected


def test_rejections_say_why_and_pairs_compare_the_side_that_changes(encoder: WordEncoder) -> None:
    pair = Text.pair("It is a film", "A good film")
    rows = SimilarSentence(load({"good": ["fine"]}), min=1.0).rows(pair)
    assert rows[1].candidates[0].rejected == "sentence similarity below 1"
    seen = [text for call in encoder.calls for text in call]
    assert seen == ["A good film", "A fine film"]


def test_nothing_to_compare_asks_nobody(encoder: WordEncoder) -> None:
    assert SimilarSentence(load({"none": ["no"]}))(Text.parse("A good film")) == {}
    assert not encoder.calls


def test_the_recipe_of_the_paper_has_a_name() -> None:
    ilp = load("ilp")
    assert ilp == load("embedding:k=50,min_similarity=0.8|pos|sentence:min=0.8,encoder=use")
    assert isinstance(ilp, SimilarSentence)
    assert load("ilp|antonyms") == load(
        "embedding:k=50,min_similarity=0.8|pos|sentence:min=0.8,encoder=use|antonyms"
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("wordnet|sentence:min=2", "min is a cosine"),
        ("ilp:k=3", "ilp is a recipe without options"),
        ("ipl", "did you mean 'ilp'"),
    ],
)
def test_bad_specs_are_named(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(spec)
