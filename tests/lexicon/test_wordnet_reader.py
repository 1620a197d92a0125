"""WordNet from hand-made database files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tiny_lexicon import write_wordnet
from unfooled.errors import InputError
from unfooled.lexicon import wordnet
from unfooled.lexicon.wordnet import WordNet, morphy


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return WordNet(write_wordnet(tmp_path_factory.mktemp("wordnet")))


def test_synonyms_come_from_all_synsets_in_the_order_of_senses(tiny: WordNet) -> None:
    assert tiny.synonyms("film", "n") == ("movie", "picture", "moving picture", "pic", "celluloid")
    assert tiny.synonyms("film", "v") == ("shoot",)


def test_satellite_adjectives_count_and_their_markers_go(tiny: WordNet) -> None:
    assert tiny.synonyms("good", "a") == ("fine", "ready to hand", "enjoyable")


def test_a_phrase_is_found_with_a_space_and_a_name_keeps_its_capital(tiny: WordNet) -> None:
    assert "movie" in tiny.synonyms("moving picture", "n")
    assert tiny.synonyms("paris", "n") == ("City of Light",)


def test_an_unknown_word_has_nothing(tiny: WordNet) -> None:
    assert tiny.synonyms("zebra", "n") == ()
    assert tiny.lemmas("zebras", "n") == ()
    assert tiny.antonyms("zebra", "n") == ()
    assert not tiny.knows("naïve", "a")


def test_antonyms_belong_to_their_own_word(tiny: WordNet) -> None:
    assert tiny.antonyms("good", "a") == ("bad",)
    assert tiny.antonyms("bad", "a") == ("good",)
    assert tiny.antonyms("fine", "a") == ()


@pytest.mark.parametrize(
    ("word", "pos", "expected"),
    [
        ("films", "n", ("film",)),
        ("films", "v", ("film",)),
        ("children", "n", ("child",)),
        ("glasses", "n", ("glasses", "glass")),
        ("found", "v", ("find", "found")),  # the listed irregular first, then itself
        ("gone", "v", ("go",)),
        ("goes", "v", ("go",)),
        ("running", "v", ("run",)),
        ("filming", "v", ("film",)),
        ("discovered", "v", ("discover",)),
        ("moving", "v", ("move",)),
        ("larger", "a", ("large",)),
        ("best", "a", ("good",)),
        ("best", "r", ("well",)),
        ("film", "n", ("film",)),
        ("s", "n", ()),
    ],
)
def test_lemmas(tiny: WordNet, word: str, pos: wordnet.Pos, expected: tuple[str, ...]) -> None:
    assert tiny.lemmas(word, pos) == expected


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("boxes", "box"),
        ("churches", "church"),
        ("wishes", "wish"),
        ("buses", "bus"),
        ("berries", "berry"),
        ("wolves", "wolf"),
        ("firemen", "fireman"),
        ("boxesful", "boxful"),
    ],
)
def test_regular_plurals_by_the_rules_of_detachment(word: str, lemma: str) -> None:
    assert morphy(word, "n", known={lemma}.__contains__, exceptions={}) == (lemma,)


def test_double_s_is_no_plural() -> None:
    assert morphy("pass", "n", known={"pas", "pass"}.__contains__, exceptions={}) == ("pass",)


def test_an_unknown_part_of_speech_is_refused() -> None:
    with pytest.raises(InputError, match="n, v, a, r"):
        morphy("film", "x", known=bool, exceptions={})  # type: ignore[arg-type]


def test_the_lists_read_backwards(tiny: WordNet) -> None:
    assert tiny.irregular("go", "v") == ("gone", "went")
    assert tiny.irregular("film", "n") == ()


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a WordNet folder: it has no index"):
        WordNet(tmp_path).synonyms("film", "n")


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path)
    (folder / "data.noun").write_bytes(b"nonsense\n" * 200)
    with pytest.raises(InputError, match=r"data\.noun byte \d+ is not a synset line"):
        WordNet(folder).synonyms("film", "n")


@pytest.mark.assets("wordnet")
def test_the_real_database(asset: Callable[[str], Path]) -> None:
    real = WordNet(asset("wordnet"))
    assert {"movie", "picture", "motion picture", "flick", "plastic film"} <= set(
        real.synonyms("film", "n")
    )
    assert "awful" in real.synonyms("terrible", "a")  # both only in a satellite synset
    assert real.antonyms("good", "a") == ("bad", "evil")
    assert real.lemmas("geese", "n") == ("goose",)
    assert real.lemmas("thought", "v") == ("think",)
    assert real.lemmas("saddest", "a") == ("sad",)
