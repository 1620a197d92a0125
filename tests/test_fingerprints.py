from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unfooled import fingerprints
from unfooled.errors import InputError, VictimError
from unfooled.fingerprints import (
    PAIR_PROBES,
    PROBES,
    examples_fingerprint,
    identity,
    path_fingerprint,
    probe_fingerprint,
    same,
    value_fingerprint,
)
from unfooled.text import Example, Text


def lengths(texts: list[str]) -> NDArray[np.float64]:
    share = np.array([len(text) / 100 for text in texts])
    return np.stack([share, 1 - share], axis=1)


def test_probe_scores_are_the_fingerprint_and_survive_json() -> None:
    found = probe_fingerprint(lengths)
    assert found == [[len(text) / 100, 1 - len(text) / 100] for text in PROBES]
    assert same(json.loads(json.dumps(found)), found)
    assert len(PROBES) == 12


def test_pair_victims_are_probed_with_pairs() -> None:
    seen: list[object] = []

    def scores(pairs: list[tuple[str, str]]) -> list[list[float]]:
        seen.extend(pairs)
        return [[float(len(a)), float(len(b))] for a, b in pairs]

    found = probe_fingerprint(scores, pairs=True)
    assert found == [[len(a), len(b)] for a, b in PAIR_PROBES]
    assert set(seen) == set(PAIR_PROBES)
    assert all(a != b for a, b in PAIR_PROBES)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_float_noise_never_changes_the_victim(seed: int) -> None:
    noise = np.random.default_rng(seed).uniform(-1e-6, 1e-6, (12, 2))
    # Scores on every rounding boundary: the case that a hash of rounded scores gets wrong.
    scores = np.stack([np.arange(12) * 1e-4 + 0.5e-4, np.full(12, 1000.00005)], axis=1)
    before = probe_fingerprint(lambda _: scores)
    after = probe_fingerprint(lambda _: scores * (1 + noise))
    assert same(before, after)


def test_another_victim_is_told_apart() -> None:
    before = probe_fingerprint(lengths)
    moved = lengths(list(PROBES))
    moved[7, 1] += 3e-4
    assert not same(before, probe_fingerprint(lambda _: moved))
    assert not same(before, probe_fingerprint(lambda texts: lengths(texts)[:, :1]))
    assert not same(before, value_fingerprint("x"))


def test_infinite_scores_are_compared_exactly() -> None:
    scores = np.full((12, 2), -np.inf)
    scores[:, 1] = 0
    found = probe_fingerprint(lambda _: scores)
    assert found == [["-inf", 0.0]] * 12
    assert not same(found, probe_fingerprint(lambda _: -scores))


def test_a_probe_without_finite_scores_is_part_of_the_fingerprint() -> None:
    scores = np.where(np.arange(24).reshape(12, 2) == 5, np.nan, 0.5)
    found = probe_fingerprint(lambda _: scores)
    assert found[2] == [0.5, "nan"]
    assert found[3] == [0.5, 0.5]
    assert same(found, probe_fingerprint(lambda _: scores + 1e-6))
    assert not same(found, probe_fingerprint(lambda _: np.full((12, 2), 0.5)))


def test_a_randomised_victim_is_named_so() -> None:
    rng = np.random.default_rng(0)
    assert probe_fingerprint(lambda _: rng.random((12, 3))) == "randomised: 3 classes"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(12), r"an array of shape \(12,\); expected \(12, classes\)"),
        (np.zeros((11, 2)), r"expected \(12, classes\)"),
        (np.zeros((12, 0)), r"expected \(12, classes\)"),
        (np.full((12, 2), np.nan), "of all 12 probe texts are NaN"),
    ],
)
def test_a_victim_without_scores_is_an_error(answer: object, message: str) -> None:
    with pytest.raises(VictimError, match=message):
        probe_fingerprint(lambda _: answer)


def test_only_a_hash_enters_record_keys() -> None:
    exact = value_fingerprint("weights")
    assert identity(exact, "models/cnn") == exact
    assert identity(probe_fingerprint(lengths), "python:m:f") == "python:m:f"
    assert identity("randomised: 2 classes", "python:m:f") == "python:m:f"


def test_same_compares_nested_outcomes() -> None:
    record = {"a": [1, 0.5, "x", None, True], "b": {"c": 1e6}}
    assert same(record, {"a": [1, 0.50001, "x", None, True], "b": {"c": 1e6 + 50}})
    assert not same(record, record | {"b": {"c": 1e6 + 200}})
    assert not same(record, record | {"b": {}})
    assert not same([1], [2])
    assert not same([1], [True])
    assert not same([1], [1, 1])


def test_data_is_a_set_of_examples() -> None:
    one = Example(Text.parse("good film"), 1, "1")
    two = Example(Text.pair("a man", "no man"), 0, "2")
    found = examples_fingerprint([one, two])
    assert found == examples_fingerprint(iter([two, one]))
    assert found.startswith("sha256:")
    turned = Example(Text.pair("a man", "no man", editable="first"), 0, "2")
    others = [
        [one],
        [one, two, two],
        [one, turned],
        [one, Example(two.text, 1, "2")],
        [one, Example(two.text, 0, "3")],
        [Example(Text.parse("good  film"), 1, "1"), two],
    ]
    assert found not in {examples_fingerprint(other) for other in others}


def test_a_file_is_its_sha256(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_bytes(b"text,label\n")
    assert path_fingerprint(file) == "sha256:" + hashlib.sha256(b"text,label\n").hexdigest()


def test_a_folder_is_its_names_and_contents(tmp_path: Path) -> None:
    def folder(name: str, files: dict[str, str]) -> str:
        for file, content in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return path_fingerprint(tmp_path / name)

    base = folder("a", {"config.json": "{}", "sub/weights": "1"})
    assert folder("b", {"sub/weights": "1", "config.json": "{}"}) == base
    assert folder("b", {".cache/x": "1", ".lock": ""}) == base
    assert folder("c", {"config.json": "{}", "sub/weights": "2"}) != base
    assert folder("d", {"config.json": "{}", "weights": "1"}) != base
    assert folder("e", {"config.json": "{}1", "sub/weights": ""}) != base


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "weights"
    file.write_text("1")
    before = path_fingerprint(tmp_path)
    monkeypatch.setattr(fingerprints.hashlib, "file_digest", None)  # reading again would fail
    assert path_fingerprint(tmp_path) == before
    monkeypatch.undo()
    file.write_text("2")
    os.utime(file, ns=(1, 1))
    assert path_fingerprint(tmp_path) != before


def test_what_is_not_there_has_no_fingerprint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a file nor a folder"):
        path_fingerprint(tmp_path / "missing")
    (tmp_path / "dangling").symlink_to(tmp_path / "missing")
    with pytest.raises(InputError, match="dangling cannot be read: No such file"):
        path_fingerprint(tmp_path)
    (tmp_path / "dangling").unlink()
    with pytest.raises(InputError, match="empty folder"):
        path_fingerprint(tmp_path)
