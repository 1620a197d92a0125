"""Names and paths of resources, and the digest of their content; stop words."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tiny_lexicon import write_tagger, write_vectors, write_wordnet
from unfooled.errors import InputError
from unfooled.lexicon import resources, stopwords, tagger, vectors, wordnet


def test_a_path_is_itself(tmp_path: Path) -> None:
    assert resources.locate(str(tmp_path)) == tmp_path


def test_an_asset_is_not_shadowed_by_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wordnet").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(resources.assets, "get", lambda name: Path("/assets") / name)
    assert resources.locate("wordnet") == Path("/assets/wordnet")
    assert resources.locate("./wordnet") == Path("wordnet")


def test_unknown_names_are_helped() -> None:
    with pytest.raises(InputError, match="neither a file nor a lexical asset 'wordnett'; did you"):
        resources.locate("wordnett")
    with pytest.raises(InputError, match="check the path"):
        resources.locate("no/such/file.txt")


def test_the_digest_of_a_file_is_its_sha256_and_follows_edits(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    assert resources.digest(str(path)) == hashlib.sha256(b"one").hexdigest()
    path.write_bytes(b"three")
    assert resources.digest(str(path)) == hashlib.sha256(b"three").hexdigest()


def test_the_digest_of_a_folder_sees_names_and_contents(tmp_path: Path) -> None:
    seen = set()
    for name, content in [("a", b"1"), ("b", b"1"), ("b", b"2")]:
        folder = tmp_path / f"{len(seen)}"
        folder.mkdir()
        (folder / name).write_bytes(content)
        seen.add(resources.digest(str(folder)))
    assert len(seen) == 3


def test_an_asset_is_known_by_its_checksums_whatever_its_source(tmp_path: Path) -> None:
    digests = []
    for source, checksum in [("index", "aa"), ("hub", "aa"), ("hub", "bb")]:
        content = {"source": source, "files": {"data": {"sha256": checksum}}}
        (tmp_path / "asset.json").write_text(json.dumps(content))
        digests.append(resources.digest(str(tmp_path)))
    assert digests[0] == digests[1] != digests[2]


def test_stop_words_and_halves_of_contractions(tmp_path: Path) -> None:
    path = tmp_path / "english.txt"
    path.write_text("The\n\nof \n")
    stop = stopwords.load(str(tmp_path))
    assert stop == {"the", "of"}
    for word in ("the", "THE", "'s", "’re", "n't", "n’t"):
        assert stopwords.is_stop(word, stop)
    assert not stopwords.is_stop("film", stop)


def test_a_folder_without_stop_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no list of stop words"):
        stopwords.load(str(tmp_path))


def test_loaders_accept_paths_and_load_once(tmp_path: Path) -> None:
    database = wordnet.load(str(write_wordnet(tmp_path / "wn")))
    assert database is wordnet.load(str(tmp_path / "wn"))
    assert database.synonyms("child", "n") == ("kid",)
    table = vectors.load(str(write_vectors(tmp_path / "v.txt")))
    assert table is vectors.load(str(tmp_path / "v.txt"))
    assert "film" in table
    path = write_tagger(tmp_path / "tagger.json")
    assert tagger.load(str(path)).tag(["the", "film"]) == ("DT", "NN")
    assert tagger.load(str(tmp_path)).tag(["the", "film"]) == ("DT", "NN")  # its folder


def test_a_tagger_forgets_old_passages_but_not_their_tags(tmp_path: Path) -> None:
    model = tagger.read(write_tagger(tmp_path / "tagger.json"))
    before = model.tag(["the", "films"])
    for number in range(5000):
        model.tag([f"word{number}"])
    assert len(model._cache) <= 4096
    assert model.tag(["the", "films"]) == before == ("DT", "NNS")
