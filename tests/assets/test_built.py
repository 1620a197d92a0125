"""Assets that are built from others: made once, known by their recipe, made again when it changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from unfooled.assets import catalogue, store
from unfooled.assets.catalogue import Asset, ingredients
from unfooled.assets.sources import Archive, Built, Index
from unfooled.errors import AssetError, InputError

WORDS = b"a\nb\n"
made: list[str] = []


def double(folders: Mapping[str, Path], *, shown: bool) -> dict[str, bytes]:
    """The recipe: the words of the plain asset twice."""
    made.append("double")
    return {"words.txt": 2 * (folders["plain"] / "words.txt").read_bytes()}


def broken(folders: Mapping[str, Path], *, shown: bool) -> dict[str, bytes]:
    """A recipe that makes something else than it says."""
    return {"other.txt": b""}


def trips(folders: Mapping[str, Path], *, shown: bool) -> dict[str, bytes]:
    """A recipe that fails half-way."""
    raise AssetError("out of flour")


DOUBLE = Built(("plain",), f"{__name__}:double", 1, ("words.txt",))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where the asset that is needed has been put from a file."""
    sums = {"plain": {"words.txt": hashlib.sha256(WORDS).hexdigest()}}
    monkeypatch.setattr(catalogue, "_checksums", lambda: sums)
    archive = Archive("plain", "1.0", "e" * 64, 3)
    source = Index(archive, lambda m: {"words.txt": m.read(m.one("w.txt"))}, ("w.txt",))
    plain = Asset("plain", "lexicon", "words", "none", (source,))
    monkeypatch.setitem(catalogue.CATALOGUE, "plain", plain)  # type: ignore[arg-type]
    (tmp_path / "w.txt").write_bytes(WORDS)
    home = tmp_path / "home"
    store.install(plain, home, file=tmp_path / "w.txt", shown=False)
    made.clear()
    return home


def asset(built: Built) -> Asset:
    return Asset("twice", "lexicon", "words twice", "none", (), built)


def install(what: Asset, root: Path, file: Path | None = None) -> Path:
    return store.install(what, root, file=file, shown=False)


def test_it_is_made_once_and_its_record_says_of_what(root: Path) -> None:
    folder = install(asset(DOUBLE), root)
    assert (folder / "words.txt").read_bytes() == 2 * WORDS
    record = json.loads((folder / "asset.json").read_text())
    assert record["source"] == "built from plain, recipe 1"
    assert record["sha256"] == ingredients(DOUBLE)
    assert record["files"]["words.txt"]["sha256"] == hashlib.sha256(2 * WORDS).hexdigest()
    install(asset(DOUBLE), root)
    assert made == ["double"]


def test_a_new_recipe_or_a_damaged_folder_makes_it_again(root: Path) -> None:
    folder = install(asset(DOUBLE), root)
    newer = asset(replace(DOUBLE, version=2))
    assert store.installed(asset(DOUBLE), root)
    assert not store.installed(newer, root)
    install(newer, root)
    assert store.installed(newer, root)
    (folder / "words.txt").write_bytes(b"short")
    assert not store.installed(newer, root)
    install(newer, root)
    assert made == ["double"] * 3
    assert sorted(p.name for p in root.iterdir() if p.name[0] != ".") == ["plain", "twice"]


def test_what_it_is_made_of_includes_what_it_needs(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ingredients(DOUBLE)
    monkeypatch.setattr(catalogue, "_checksums", lambda: {"plain": {"words.txt": "0" * 64}})
    assert ingredients(DOUBLE) != before


def test_a_recipe_that_goes_wrong_leaves_nothing(root: Path) -> None:
    for function, complaint in (
        ("broken", "made other.txt, expected words.txt"),
        ("trips", "flour"),
    ):
        with pytest.raises(AssetError, match=complaint):
            install(asset(replace(DOUBLE, recipe=f"{__name__}:{function}")), root)
        assert sorted(p.name for p in root.iterdir() if not p.name.endswith(".lock")) == ["plain"]


def test_it_comes_from_no_file(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="comes from no file: it is built from plain; give the"):
        install(asset(DOUBLE), root, tmp_path / "w.txt")
