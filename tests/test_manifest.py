from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unfooled import __version__, manifest
from unfooled.errors import InputError, RunError

FIELDS: dict[str, Any] = {
    "method": "greedy",
    "options": {"radius": 3, "candidates": {"source": "wordnet", "top": 5}},
    "seed": 0,
    "fingerprints": {"victim": "sha256:" + "a" * 64, "data": "sha256:d", "candidates": "sha256:c"},
    "command": ["unfooled", "attack", "greedy", "é"],
    "dtype": "float32",
}


def test_a_manifest_is_completed_with_when_and_what() -> None:
    whole = manifest.complete(FIELDS | {"shard": "2/8", "note": np.int8(3)})
    assert {name: whole[name] for name in FIELDS} == FIELDS
    assert (whole["format"], whole["shard"], whole["note"]) == (1, "2/8", 3)
    assert whole["versions"]["unfooled"] == __version__
    assert whole["versions"]["numpy"] == np.__version__
    age = datetime.now(UTC) - datetime.fromisoformat(whole["created"])
    assert 0 <= age.total_seconds() < 60


def test_versions_import_nothing() -> None:
    program = (
        "import sys; from unfooled.manifest import versions; v = versions(); "
        "print('torch' in v or 'torch' in sys.modules or 'sklearn' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert answer.stdout == b"False\n"


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("float32", "same outcomes, for any batch size"),
        ("bfloat16", "in bfloat16 may depend on the batch size"),
        (None, "as far as the victim gives a text the same scores"),
    ],
)
def test_the_promise_depends_on_the_arithmetic(dtype: str | None, words: str) -> None:
    assert words in manifest.complete(FIELDS | {"dtype": dtype})["promise"]


def test_a_manifest_without_its_fields_is_refused() -> None:
    with pytest.raises(InputError, match="missing: options, seed"):
        manifest.complete({"method": "greedy", "fingerprints": {}})
    with pytest.raises(InputError, match=r"options are a mapping, not \[\]"):
        manifest.complete(FIELDS | {"options": []})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    whole = manifest.complete(FIELDS)
    manifest.write(tmp_path, whole)
    assert manifest.load(tmp_path) == whole
    assert json.loads((tmp_path / "manifest.json").read_text()) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
    assert not manifest.is_unwritten(tmp_path)


def test_every_torn_start_counts_as_unwritten_and_no_other_file_does(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    assert manifest.is_unwritten(tmp_path)
    manifest.write(tmp_path, manifest.complete(FIELDS))
    content = file.read_bytes()
    for end in range(content.rindex(b"}")):
        file.write_bytes(content[:end])
        assert manifest.is_unwritten(tmp_path), content[:end]
    file.write_bytes(bytes(100))
    assert manifest.is_unwritten(tmp_path)
    for other in (b"[]", b'{"name": "web app"}', b"Manifest-Version: 1.0", b'{\n  "name": '):
        file.write_bytes(other)
        assert not manifest.is_unwritten(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not a run: it has no manifest.json"),
        ("", r"manifest.json is empty or damaged .*another --out"),
        ("[1]", "was not written by unfooled"),
        ('{"name": 1}', "was not written by unfooled"),
        ('{"format": 2}', "has format 2, and this version of unfooled reads format 1"),
        ('{"format": 1, "seed": 0}', "it has no method, options, fingerprints"),
    ],
)
def test_what_is_not_a_manifest_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(RunError, match=message):
        manifest.load(tmp_path)


def test_what_is_not_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no such folder"):
        manifest.load(tmp_path / "x")
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="it is a file, and a run is a folder"):
        manifest.load(tmp_path / "file")


def test_only_what_changes_outcomes_is_compared() -> None:
    old = manifest.complete(FIELDS)
    new = manifest.complete(FIELDS | {"command": ["other"], "note": 1})
    assert manifest.differences(old, new | {"created": "later", "versions": {}}) == []


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({"method": "beam"}, ['method "greedy", not "beam"']),
        ({"seed": 1}, ["seed 0, not 1"]),
        ({"dtype": "float16"}, ['dtype "float32", not "float16"']),
        ({"shard": "1/2"}, ['shard null, not "1/2"']),
        (
            {"options": {"radius": 3.0, "candidates": {"source": "wordnet"}, "new": []}},
            [
                "options.candidates.top 5, not absent",
                "options.new absent, not []",
                "options.radius 3, not 3.0",
            ],
        ),
        ({"options": FIELDS["options"] | {"radius": True}}, ["options.radius 3, not true"]),
        (
            {"fingerprints": FIELDS["fingerprints"] | {"victim": "sha256:" + "a" * 50 + "b" * 14}},
            [
                'victim fingerprint …aaaaaaaaaaaaaaaaaaaaaa", not …aaaaaaaabbbbbbbbbbbbbb"',
            ],
        ),
        (
            {"fingerprints": {"victim": FIELDS["fingerprints"]["victim"], "data": "sha256:e"}},
            [
                'candidates fingerprint "sha256:c", not null',
                'data fingerprint "sha256:d", not "sha256:e"',
            ],
        ),
    ],
)
def test_each_difference_is_named_with_both_values(
    change: dict[str, Any], sentences: list[str]
) -> None:
    old, new = manifest.complete(FIELDS), manifest.complete(FIELDS | change)
    assert manifest.differences(old, new) == sentences


def test_probe_scores_are_compared_within_the_tolerance() -> None:
    def with_scores(*scores: list[float]) -> dict[str, Any]:
        return manifest.complete(FIELDS | {"fingerprints": {"victim": list(scores)}})

    old = with_scores([0.1, 0.9], [0.2, 0.8])
    assert manifest.differences(old, with_scores([0.10005, 0.9], [0.2, 0.8])) == []
    assert manifest.differences(old, with_scores([0.10005, 0.9], [0.5, 0.5])) == [
        "victim fingerprint, scores of probe 2: [0.2,0.8], not [0.5,0.5]"
    ]
    assert manifest.differences(old, with_scores([0.1, 0.9])) == [
        "victim fingerprint [[0.1,0.9],[0.2,0.8]], not [[0.1,0.9]]"
    ]


def test_shards_need_not_agree_when_merged() -> None:
    old, new = (manifest.complete(FIELDS | {"shard": shard}) for shard in ("1/2", "2/2"))
    assert manifest.differences(old, new, shards=False) == []


def test_going_on_under_other_versions_is_written_down_once() -> None:
    old = manifest.complete(FIELDS)
    now = manifest.complete(FIELDS) | {"versions": {"python": "4"}, "created": "later"}
    assert manifest.resumed(old, old) == old
    held = manifest.resumed(old, now)
    entry = {"created": "later", "command": FIELDS["command"], "versions": {"python": "4"}}
    assert held == old | {"resumed": [entry]}
    assert manifest.resumed(held, now) == held
    assert len(manifest.resumed(held, old)["resumed"]) == 2
