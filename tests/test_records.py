from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled import records
from unfooled.errors import InputError, RunError
from unfooled.records import Run, Shard, merge, read, record_key, rng_for

MANIFEST: dict[str, Any] = {
    "method": "greedy",
    "options": {"radius": 3},
    "seed": 5,
    "fingerprints": {"victim": [[0.25, 0.75]], "data": "sha256:d", "candidates": "sha256:c"},
    "command": ["unfooled", "attack"],
    "dtype": "float32",
}


# Any code point, lone surrogates too (a low one first: a high before a low is one character split).
strings = st.text(st.characters(exclude_categories=["Cs"])) | st.text("\udc80a\ud800", max_size=2)
strings = strings.filter(lambda text: "\ud800\udc80" not in text)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e300, 1e300) | strings,
    lambda inner: st.lists(inner) | st.dictionaries(strings, inner),
    max_leaves=12,
)


def lines(folder: Path) -> list[bytes]:
    return (folder / "records.jsonl").read_bytes().splitlines(keepends=True)


def outcome(number: int) -> dict[str, Any]:
    """What some method would record: a function of the seed and the key."""
    key = record_key(example=str(number), method="m", options={}, victim="v")
    return {"key": key, "text": f"naïve {number}", "score": rng_for(5, key).random()}


def fill(folder: Path, numbers: range, shard: Shard | None = None) -> None:
    """What a driver does: skip what is done or another shard's, append the rest."""
    with Run.open(folder, MANIFEST | {"shard": shard}) as run:
        for number in numbers:
            record = outcome(number)
            if record["key"] not in run.done and (shard is None or shard.takes(record["key"])):
                run.append(record)


def test_a_run_is_a_manifest_and_one_line_per_record(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "new"
    with Run.open(folder, MANIFEST) as run:
        assert json.loads((folder / "manifest.json").read_text()) == run.manifest
        run.append({"key": "a", "row": np.array([0, 2], dtype=np.int16), "upper": float("inf")})
        assert lines(folder) == [b'{"key":"a","row":[0,2],"upper":"inf"}\n']  # before closing
        run.append({"key": "b", "text": "é\ud800"})
        seen = run.records()
    again = read(folder)
    assert again.records() == seen
    assert again.done.keys() == {"a", "b"}
    assert again.done["b"]["text"] == "é\ud800"
    assert (again.folder, again.manifest, again.repaired) == (folder, run.manifest, 0)


@settings(max_examples=50, deadline=None)
@given(contents=st.lists(st.dictionaries(strings, values, max_size=4), max_size=5))
def test_any_record_comes_back(
    contents: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("run")
    expected = [content | {"key": str(number)} for number, content in enumerate(contents)]
    with Run.open(folder, MANIFEST) as run:
        for record in expected:
            run.append(record)
        assert run.records() == expected
    assert read(folder).records() == expected
    with Run.open(folder, MANIFEST) as run:
        assert run.records() == expected


def test_resuming_is_set_difference(tmp_path: Path) -> None:
    fill(tmp_path / "a", range(0, 30, 3))
    first = lines(tmp_path / "a")
    fill(tmp_path / "a", range(30))
    fill(tmp_path / "b", range(30))
    assert lines(tmp_path / "a")[:10] == first
    assert len(lines(tmp_path / "a")) == 30
    assert read(tmp_path / "a").done == read(tmp_path / "b").done


@pytest.mark.parametrize("count", [1, 2, 7])
def test_merged_shards_equal_the_whole(tmp_path: Path, count: int) -> None:
    fill(tmp_path / "whole", range(40))
    folders = [tmp_path / str(index) for index in range(1, count + 1)]
    for index, folder in enumerate(folders, 1):
        fill(folder, range(40), Shard(index, count))
    with merge(folders, tmp_path / "merged") as run:
        assert run.done == read(tmp_path / "whole").done
        assert run.manifest["shard"] is None
        assert [part["shard"] for part in run.manifest["merged"]] == [
            f"{index}/{count}" for index in range(1, count + 1)
        ]
    assert lines(tmp_path / "merged") == [line for folder in folders for line in lines(folder)]
    fill(tmp_path / "merged", range(41))  # a merged run can be resumed like any other
    assert len(lines(tmp_path / "merged")) == 41


def test_merging_again_adds_only_what_is_new(tmp_path: Path) -> None:
    one, two, out = tmp_path / "1", tmp_path / "2", tmp_path / "out"
    fill(one, range(20), Shard(1, 2))
    merge([one], out).close()
    fill(two, range(20), Shard(2, 2))
    merge([one, two], out).close()
    assert read(out).done.keys() == {outcome(number)["key"] for number in range(20)}
    assert len(lines(out)) == 20


def test_doubled_keys_must_have_one_outcome(tmp_path: Path) -> None:
    for name, record in {
        "a": {"key": "k", "swaps": 2, "score": 0.5, "seconds": 1.0},
        "same": {"key": "k", "swaps": 2, "score": 0.5000001, "seconds": 9.0, "worker": "x"},
        "other": {"key": "k", "swaps": 3, "score": 0.9, "seconds": 1.0},
        "less": {"key": "k", "swaps": 2},
    }.items():
        with Run.open(tmp_path / name, MANIFEST) as run:
            run.append(record)
    with merge([tmp_path / "a", tmp_path / "same"], tmp_path / "out") as run:
        assert run.records() == [{"key": "k", "swaps": 2, "score": 0.5, "seconds": 1.0}]
    with pytest.raises(RunError, match=r"for the key k: score, swaps differ"):
        merge([tmp_path / "a", tmp_path / "other"], tmp_path / "out2")
    with pytest.raises(RunError, match=r"for the key k: score differ"):
        merge([tmp_path / "a", tmp_path / "less"], tmp_path / "out3")
    Run.open(tmp_path / "out2", MANIFEST | {"shard": None}).close()  # the lock was given back


def test_only_shards_of_one_run_are_merged(tmp_path: Path) -> None:
    Run.open(tmp_path / "a", MANIFEST).close()
    Run.open(tmp_path / "b", MANIFEST | {"seed": 6}).close()
    with pytest.raises(RunError, match=r"b cannot be merged with .*a, .*: seed 5, not 6\. Merge"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    with pytest.raises(RunError, match="missing is not a run: there is no such folder"):
        merge([tmp_path / "a", tmp_path / "missing"], tmp_path / "out")
    with pytest.raises(InputError, match="nothing to merge"):
        merge([], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_torn_last_line_is_repaired_at_every_byte(tmp_path: Path) -> None:
    fill(tmp_path, range(4))
    path = tmp_path / "records.jsonl"
    content, whole = path.read_bytes(), read(tmp_path).done
    start = content.rindex(b"\n", 0, -1) + 1
    for end in range(start, len(content)):
        path.write_bytes(content[:end])
        looked = read(tmp_path)
        assert path.read_bytes() == content[:end]  # a reader changes nothing
        with Run.open(tmp_path, MANIFEST) as run:
            complete = end == len(content) - 1  # nothing but the newline is missing
            assert len(run.done) == (4 if complete else 3)
            assert looked.done == run.done
            assert looked.repaired == run.repaired == (0 if end == start else 1)
            assert path.read_bytes() == content[: len(content) if complete else start]
        fill(tmp_path, range(4))
        assert path.read_bytes() == content
        assert read(tmp_path).done == whole


@pytest.mark.parametrize(
    "damage", [b"{\n", b"\n", b"null\n", b'{"text":"no key"}\n', b'{"key":NaN}\n', b"\0\0\0\n"]
)
def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, damage: bytes) -> None:
    fill(tmp_path, range(3))
    content = lines(tmp_path)
    damaged = b"".join([*content[:2], damage, content[2]])
    (tmp_path / "records.jsonl").write_bytes(damaged)
    with pytest.raises(RunError, match=r"records.jsonl, line 3 is damaged: b.*delete that line"):
        read(tmp_path)
    with pytest.raises(RunError, match="line 3 is damaged"):
        Run.open(tmp_path, MANIFEST)
    assert (tmp_path / "records.jsonl").read_bytes() == damaged


def test_a_doubled_line_is_named(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    content = lines(tmp_path)
    (tmp_path / "records.jsonl").write_bytes(b"".join([*content, content[1]]))
    with pytest.raises(RunError, match=r"line 4 repeats the key \w{24} of line 2; delete one"):
        read(tmp_path)


def test_another_run_is_not_resumed_and_not_touched(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    before = path.read_bytes()
    other = MANIFEST | {
        "seed": 6,
        "options": {"radius": 4},
        "fingerprints": MANIFEST["fingerprints"] | {"victim": [[0.5, 0.5]], "data": "sha256:e"},
    }
    with pytest.raises(RunError) as caught:
        Run.open(tmp_path, other)
    message = str(caught.value)
    for part in (
        f"{tmp_path} cannot be resumed",
        "seed 5, not 6",
        "options.radius 3, not 4",
        "victim fingerprint, scores of probe 1: [0.25,0.75], not [0.5,0.5]",
        'data fingerprint "sha256:d", not "sha256:e"',
        "Give the same options, or another --out",
    ):
        assert part in message
    assert "candidates" not in message
    assert path.read_bytes() == before
    with pytest.raises(RunError, match='shard null, not "1/2"'):
        Run.open(tmp_path, MANIFEST | {"shard": Shard(1, 2)})
    with pytest.raises(RunError, match="already holds a run: resume it, or give another --out"):
        Run.open(tmp_path, MANIFEST, resume=False)


def test_noise_in_the_probe_scores_does_not_keep_a_run_from_going_on(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    prints = MANIFEST["fingerprints"] | {"victim": [[0.25001, 0.74999]]}
    with Run.open(tmp_path, MANIFEST | {"fingerprints": prints}) as run:
        assert len(run.done) == 3
        assert run.manifest["fingerprints"] == MANIFEST["fingerprints"]


def test_other_versions_are_written_into_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, range(3))
    monkeypatch.setattr(records.manifests, "versions", lambda: {"python": "4.0"})
    fill(tmp_path, range(4))
    assert [entry["versions"] for entry in read(tmp_path).manifest["resumed"]] == [
        {"python": "4.0"}
    ]
    assert len(read(tmp_path).done) == 4


def test_a_manifest_torn_before_the_first_record_is_written_anew(tmp_path: Path) -> None:
    Run.open(tmp_path, MANIFEST).close()
    torn = (tmp_path / "manifest.json").read_bytes()[:40]
    for content in (b"", torn):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(RunError, match="empty or damaged"):
            read(tmp_path)
        fill(tmp_path, range(0))
        assert read(tmp_path).manifest["seed"] == 5


def test_records_without_a_manifest_are_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"someone's own file")
    with pytest.raises(RunError, match=r"is not a run: it has no manifest.json"):
        Run.open(tmp_path, MANIFEST)
    (tmp_path / "manifest.json").write_bytes(b"")
    with pytest.raises(RunError, match=r"empty or damaged .*give another --out"):
        Run.open(tmp_path, MANIFEST)
    assert path.read_bytes() == b"someone's own file"
    path.unlink()
    (tmp_path / "manifest.json").write_bytes(b'{"name": "web app"}')
    with pytest.raises(RunError, match="was not written by unfooled"):
        Run.open(tmp_path, MANIFEST)
    assert (tmp_path / "manifest.json").read_bytes() == b'{"name": "web app"}'


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"cannot write a run into .*file: File exists"):
        Run.open(tmp_path / "file", MANIFEST)
    with pytest.raises(RunError, match="it is a file, and a run is a folder"):
        read(tmp_path / "file")


def test_a_bad_record_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    with Run.open(tmp_path, MANIFEST) as run:
        run.append({"key": "a"})
        with pytest.raises(RunError, match="already has a record with the key a"):
            run.append({"key": "a", "text": "other"})
        for bad in ({}, {"key": ""}, {"key": 3}):
            with pytest.raises(InputError, match="a record needs its key"):
                run.append(bad)
        with pytest.raises(InputError, match=r"record\.score is NaN"):
            run.append({"key": "b", "score": float("nan")})
        assert run.done == {"a": {"key": "a"}}
    with pytest.raises(RunError, match="not open for writing"):
        run.append({"key": "b"})
    with pytest.raises(RunError, match="not open for writing"):
        read(tmp_path).append({"key": "b"})
    run.close()  # twice is harmless
    assert lines(tmp_path) == [b'{"key":"a"}\n']


@pytest.mark.parametrize(
    ("failure", "raised"),
    [(OSError(errno.ENOSPC, "No space left on device"), RunError), (KeyboardInterrupt(), None)],
)
def test_a_write_that_fails_half_way_leaves_no_half_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failure: BaseException,
    raised: type[BaseException] | None,
) -> None:
    real = os.write

    def half(descriptor: int, data: memoryview) -> int:
        if len(data) < 20:
            raise failure
        return real(descriptor, data[: len(data) // 2])

    with Run.open(tmp_path, MANIFEST) as run:
        run.append({"key": "a"})
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half)
            with pytest.raises(raised or type(failure)) as caught:
                run.append({"key": "b", "text": "long " * 20})
        if raised:
            assert "No space left on device" in str(caught.value)
        assert run.done.keys() == {"a"}
        run.append({"key": "b"})
    assert lines(tmp_path) == [b'{"key":"a"}\n', b'{"key":"b"}\n']


def test_short_writes_are_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:3]))
    fill(tmp_path, range(3))
    assert read(tmp_path).records() == [outcome(number) for number in range(3)]


@pytest.mark.skipif(sys.platform == "win32", reason="no advisory locks")
def test_a_second_process_is_kept_out_while_readers_are_not(tmp_path: Path) -> None:
    program = "import sys, test_records as t; t.fill(t.Path(sys.argv[1]), range(5))"
    command = [sys.executable, "-c", program, str(tmp_path)]
    here = Path(__file__).parent
    with Run.open(tmp_path, MANIFEST) as run:
        refused = subprocess.run(command, capture_output=True, text=True, cwd=here, check=False)
        assert f"RunError: {tmp_path} is in use by another process: wait for it" in refused.stderr
        with pytest.raises(RunError, match="in use by another process"):
            Run.open(tmp_path, MANIFEST)
        run.append(outcome(0))
        assert len(read(tmp_path).done) == 1
    subprocess.run(command, check=True, cwd=here)
    assert len(read(tmp_path).done) == 5


@pytest.mark.skipif(sys.platform == "win32", reason="no advisory locks")
def test_a_file_system_without_locks_is_spoken_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        def flock(descriptor: int, operation: int) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(records.fcntl, "flock", flock)

    refuse(errno.ENOLCK)
    with pytest.warns(UserWarning, match="has no locks: do not run two processes"):
        Run.open(tmp_path, MANIFEST).close()
    refuse(errno.EIO)
    with pytest.raises(RunError, match=r"cannot lock .*records.jsonl: Input/output error"):
        Run.open(tmp_path, MANIFEST)
