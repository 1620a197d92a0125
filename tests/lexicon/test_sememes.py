"""Sememe tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unfooled.errors import InputError
from unfooled.lexicon.sememes import SememeTable, read

TABLE = {
    "film": {"noun": [["shows", "artwork"], ["thin", "material"]], "verb": [["produce", "shows"]]},
    "movie": {"noun": [["artwork", "shows"]]},
    "picture": {"noun": [["image"], ["shows", "artwork", "shows"]]},
    "poster": {"noun": [["shows", "artwork", "paper"]]},
    "shoot": {"verb": [["shows", "produce"], ["fire"]]},
    "display": {"verb": [["shows", "artwork"]]},
    "Reel": {"num": [["shows", "artwork"]]},
}


def _written(folder: Path, content: object) -> SememeTable:
    path = folder / "sememes.json"
    path.write_text(json.dumps(content))
    return read(path)


def test_an_identical_set_in_some_sense_and_the_same_part_of_speech(tmp_path: Path) -> None:
    table = _written(tmp_path, TABLE)
    assert table.synonyms("film", "n") == ("movie", "picture")  # not poster: one sememe more
    assert table.synonyms("film", "v") == ("shoot",)
    assert table.synonyms("display", "v") == ()
    assert table.synonyms("zebra", "n") == ()
    assert table.knows("film", "v")
    assert not table.knows("movie", "v")
    assert not table.knows("reel", "n")


def test_a_table_without_parts_of_speech(tmp_path: Path) -> None:
    table = _written(tmp_path, {"big": [["size"]], "large": [["size"]], "huge": [["size", "very"]]})
    assert table.synonyms("big", "a") == table.synonyms("big", "n") == ("large",)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([1], "must be a JSON object"),
        ({"film": 3}, "'film' must have an object or a list"),
        ({"film": {"noun": ["flat"]}}, "senses of 'film' must be lists of sememes"),
        ({"film": {"noun": [[]]}}, "senses of 'film' must be lists of sememes"),
    ],
)
def test_a_bad_table_names_the_word(tmp_path: Path, content: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        _written(tmp_path, content)


def test_a_file_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "sememes.json"
    path.write_text("{")
    with pytest.raises(InputError, match="not a JSON sememe table"):
        read(path)
