"""Victims of the experiments: trained once, found again; files that a user may have."""

from __future__ import annotations

from pathlib import Path

import pytest

import unfooled as uf
from results import victims
from runner_toys import victim

ROWS = [("a good film", "pos"), ("a bad film", "neg"), ("good good", "pos"), ("bad bad", "neg")]


@pytest.fixture
def reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of reviews in the place of Yelp's, and a folder for its models."""
    path = tmp_path / "reviews.csv"
    parts = ("train", "dev", "test")
    lines = [f"{text},{label},{part}" for part in parts for text, label in ROWS]
    path.write_text("\n".join(["text,label,split", *lines]) + "\n")
    monkeypatch.setenv("UNFOOLED_YELP", str(path))
    monkeypatch.setenv("UNFOOLED_MODELS", str(tmp_path / "models"))
    return path


def test_an_asset_goes_by_its_name_and_a_file_by_its_path(
    reviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert victims.spec("mr") == "mr"
    assert victims.spec("yelp") == str(reviews)
    monkeypatch.setenv("UNFOOLED_YELP", str(reviews.with_name("other.csv")))
    assert victims.spec("yelp") is None
    monkeypatch.delenv("UNFOOLED_YELP")
    assert victims.spec("yelp") is None
    with pytest.raises(SystemExit, match="set UNFOOLED_YELP to the path"):
        victims.load("yelp")


def test_a_split_is_the_test_split_unless_told(reviews: Path) -> None:
    assert [e.label for e in victims.load("yelp")] == [1, 0, 1, 0]
    assert len(victims.load("yelp", split="train", limit=3)) == 3


def test_a_model_is_trained_once(reviews: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"epochs": 1, "limit": 3}
    first = victims.trained("mlp", "yelp", training=given)
    assert given == {"epochs": 1, "limit": 3}
    assert first.name == "mlp-yelp-3"  # not the place of one that is trained on all texts
    monkeypatch.setattr(uf.models, "train", None)  # would be called in vain
    again = victims.trained("mlp", "yelp", training=given)
    assert again.scores(["a good film"]).tolist() == first.scores(["a good film"]).tolist()


def test_what_the_victim_gets_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(victims, "_AT_ONCE", 3)  # the last batch is a short one
    texts = [("a good film", "pos"), ("a bad film", "pos"), ("a fine film", "pos"), ("bad", "neg")]
    test = uf.data.load(texts, labels=victim().labels)
    assert victims.correct(victim(), test).tolist() == [True, False, True, True]
