"""The default recipe on tiny resources whose answers are worked out by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tiny_lexicon import write_wordnet
from unfooled.candidates import Row, explain, load
from unfooled.candidates.wordnet import WordNet
from unfooled.errors import InputError
from unfooled.text import Text


def _row(source: WordNet, text: str, position: int) -> Row:
    return explain(source, text)[position]


def test_synonyms_ranked_by_cosine(tiny: dict[str, str]) -> None:
    found = WordNet(**tiny)(Text.parse("The film was good ."))
    # By hand: movie 0.8, picture 0.6, pic 0, celluloid -0.6; fine 0.8, enjoyable 0.6.
    assert found == {1: ("movie", "picture", "pic", "celluloid"), 3: ("fine", "enjoyable")}


def test_k_and_the_least_similarity(tiny: dict[str, str]) -> None:
    text = Text.parse("the film")
    assert WordNet(k=2, **tiny)(text) == {1: ("movie", "picture")}
    assert WordNet(min_similarity=0.7, **tiny)(text) == {1: ("movie",)}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("films", ("movies", "pictures")),  # pics and celluloids have no vector
        ("children", ("kids",)),
        ("found", ("discovered",)),  # a past tense: not `establish`
        ("began", ("started",)),
        ("begun", ("started",)),
        ("running", ("hurrying",)),
        ("best", ("finest",)),  # enjoyable has no -est
        ("went", ("traveled", "moved")),
    ],
)
def test_candidates_take_the_form_of_the_word(
    tiny: dict[str, str], text: str, kept: tuple[str, ...]
) -> None:
    row = _row(WordNet(**tiny), f"The {text} .", 1)
    assert sorted(row.kept) == sorted(kept)


def test_a_plural_that_is_a_word_of_its_own(tiny: dict[str, str]) -> None:
    row = _row(WordNet(rank="sense", **tiny), "the glasses", 1)
    assert row.kept == ("spectacles", "tumblers")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the", "stop word"),
        ("n't", "stop word"),
        (".", "punctuation"),
        ("could", "modal verb"),
        ("having", "auxiliary verb"),
        ("Paris", "proper name"),
        ("q", "single letter"),
        ("zebra", "not in the thesaurus as a noun"),
        ("tumbler", "no vector to compare with"),
    ],
)
def test_words_that_keep_their_place(tiny: dict[str, str], text: str, reason: str) -> None:
    row = _row(WordNet(**tiny), f"film , {text}", 2)
    assert (row.kept, row.reason) == ((), reason)


def test_every_rejection_has_its_reason(tiny: dict[str, str]) -> None:
    row = _row(WordNet(k=1, min_similarity=0.5, **tiny), "film", 0)
    assert {c.word: c.rejected for c in row.candidates} == {
        "movie": "",
        "picture": "not among the best 1",
        "moving picture": "more than one word",
        "pic": "similarity below 0.5",
        "celluloid": "similarity below 0.5",
    }
    assert row.tag == "NN"
    assert row.candidates[0].similarity == pytest.approx(0.8)
    best = _row(WordNet(**tiny), "the best", 1)
    assert ("enjoyable", "has no form JJS of one word") in [
        (c.word, c.rejected) for c in best.candidates
    ]


def test_names_and_phrases_on_request(tiny: dict[str, str]) -> None:
    row = _row(WordNet(names=True, phrases=True, rank="sense", **tiny), "the Paris", 1)
    assert [(c.word, c.rejected) for c in row.candidates] == [("City of Light", "a name")]
    assert "moving picture" in _row(WordNet(phrases=True, rank="sense", **tiny), "film", 0).kept


def test_other_parts_of_speech_on_request(tiny: dict[str, str]) -> None:
    text = Text.parse("film")
    assert "shoot" not in WordNet(rank="sense", k=9, **tiny)(text)[0]
    assert "shoot" in WordNet(rank="sense", k=9, same_pos=False, **tiny)(text)[0]


def test_the_case_of_the_text_does_not_matter(tiny: dict[str, str]) -> None:
    source = WordNet(**tiny)
    assert source(Text.parse("THE FILM"))[1] == source(Text.parse("the film"))[1]


def test_the_two_sides_of_a_pair_are_tagged_apart(tiny: dict[str, str]) -> None:
    # After a modal verb any word is a verb; the hypothesis does not stand after the premise's.
    both = Text.pair("it could", "zebra", editable="both")
    assert [row.tag for row in WordNet(**tiny).rows(both)][1:] == ["MD", "NN"]
    assert [row.tag for row in explain(WordNet(**tiny), "it could zebra")][1:] == ["MD", "VB"]
    only = Text.pair("the film", "a film")
    assert list(WordNet(**tiny)(only)) == [1]


def test_the_fingerprint_follows_options_and_contents(tiny: dict[str, str], tmp_path: Path) -> None:
    base = WordNet(**tiny)
    assert base.fingerprint == WordNet(**tiny).fingerprint
    assert base.fingerprint != WordNet(k=4, **tiny).fingerprint
    copy, other = tmp_path / "copy.txt", tmp_path / "other.txt"
    copy.write_bytes(Path(tiny["vectors"]).read_bytes())
    other.write_text("film 1 1\n")
    assert base.fingerprint == WordNet(**tiny | {"vectors": str(copy)}).fingerprint
    assert base.fingerprint != WordNet(**tiny | {"vectors": str(other)}).fingerprint


def test_vectors_are_not_needed_for_the_order_of_senses(tiny: dict[str, str]) -> None:
    source = WordNet(rank="sense", **tiny | {"vectors": "no-such-file.txt"})
    assert source(Text.parse("film"))[0] == ("movie", "picture", "pic", "celluloid")
    assert "vectors" not in source.resources()
    with pytest.raises(InputError, match=r"no-such-file\.txt"):
        WordNet(**tiny | {"vectors": "no-such-file.txt"})(Text.parse("film"))


def test_the_hash_seed_changes_nothing(tiny: dict[str, str]) -> None:
    code = (
        "import sys; from unfooled.candidates.wordnet import WordNet; from unfooled.text import Text;"
        "s = WordNet(wordnet=sys.argv[1], tagger=sys.argv[2], stopwords=sys.argv[3],"
        " vectors=sys.argv[4], same_pos=False, k=9);"
        "print(s(Text.parse('the film found the best children')), s.fingerprint)"
    )
    paths = [tiny[name] for name in ("wordnet", "tagger", "stopwords", "vectors")]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, *paths],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1
    assert "movie" in outputs.pop()


def test_k_must_be_positive() -> None:
    with pytest.raises(InputError, match="k is at least 1, not 0"):
        WordNet(k=0)


@pytest.mark.assets("wordnet", "tagger", "stopwords", "glove-50")
def test_the_default_on_a_real_sentence() -> None:
    found = load("wordnet")(Text.parse("the films were n't very good , but he loved the actress ."))
    assert set(found) == {1, 5, 9}  # WordNet has no other word for an actress
    assert found[1][:2] == ("movies", "pictures")
    assert all(len(words) <= 5 for words in found.values())
    assert "enjoyed" in found[9]


@pytest.mark.assets("wordnet", "tagger", "stopwords", "glove-50", "mr")
def test_the_spaces_of_a_thousand_reviews_take_under_ten_seconds(
    asset: Callable[[str], Path],
) -> None:
    lines = (asset("mr") / "train.jsonl").read_text(encoding="utf-8").split("\n")[:1000]
    texts = [Text.parse(json.loads(line)["text"]) for line in lines]
    source = load("wordnet")
    source(texts[0])  # loads the resources
    started = time.perf_counter()
    found = [source(text) for text in texts]
    assert time.perf_counter() - started < 10
    assert sum(map(len, found)) > 5 * len(texts)


def test_a_synonym_that_reads_as_several_words_is_a_phrase(
    tiny: dict[str, str], tmp_path: Path
) -> None:
    """ "o.k." is read as four words, so swapping it in would move all that follow."""
    synsets = [("a", "a", ["good", "o.k.", "well-made", "fine"], [])]
    tiny = {**tiny, "wordnet": str(write_wordnet(tmp_path / "wordnet", synsets))}
    row = _row(WordNet(rank="sense", **tiny), "a good film", 1)
    assert row.kept == ("well-made", "fine")
    assert ("o.k.", "more than one word") in [(c.word, c.rejected) for c in row.candidates]
    assert "o.k." in _row(WordNet(rank="sense", phrases=True, **tiny), "a good film", 1).kept
