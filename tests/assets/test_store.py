"""Installing: from sources, from a file, by several processes at once; nothing half-made stays."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from unfooled.assets import catalogue, store
from unfooled.assets.archive import Members
from unfooled.assets.catalogue import Asset
from unfooled.assets.sources import Archive, Index
from unfooled.errors import AssetError, InputError, MissingExtra

CONTENT = {"words.txt": b"a\nb\n", "deep/more.txt": b"c\n"}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}


def convert(members: Members) -> dict[str, bytes]:
    return {"words.txt": members.read(members.one("w.txt")), "deep/more.txt": b"c\n"}


@dataclass
class FakeSource:
    """Gives what it is told, and counts how often it is asked."""

    words: bytes = b"a\nb\n"
    error: Exception | None = None
    opened: list[Path] = field(default_factory=list)
    convert: Any = field(default=convert)
    members: tuple[str, ...] = ("w.txt",)
    name: str = "fake"

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def open(self, work: Path, *, shown: bool) -> Iterator[tuple[Members, str]]:
        self.opened.append(work)
        if self.error is not None:
            raise self.error
        yield Members("fake.zip", {"w.txt": lambda: self.words}), "f" * 64


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalogue, "_checksums", lambda: {"toy": SUMS})
    return lambda *sources: Asset("toy", "lexicon", "a toy", "none", sources)


def install(asset: Asset, root: Path, file: Path | None = None) -> Path:
    return store.install(asset, root, file=file, shown=False)


def leftovers(root: Path) -> list[str]:
    return sorted(p.name for p in root.iterdir() if p.name != ".toy.lock")


def test_a_folder_is_built_with_its_record(tmp_path: Path, make) -> None:
    source = FakeSource()
    folder = install(make(source), tmp_path)
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    record = json.loads((folder / "asset.json").read_text())
    assert record["name"] == "toy"
    assert record["source"] == "fake"
    assert record["sha256"] == "f" * 64
    assert record["licence"] == "none"
    assert {n: e["sha256"] for n, e in record["files"].items()} == SUMS
    assert leftovers(tmp_path) == ["toy"]
    install(make(source), tmp_path)
    assert len(source.opened) == 1


def test_the_next_source_is_tried_and_all_failures_are_listed(tmp_path: Path, make) -> None:
    broken = FakeSource(error=AssetError("no route"), name="first place")
    wrong = FakeSource(words=b"tampered", name="second place")
    good = FakeSource()
    with pytest.raises(AssetError) as caught:
        install(make(broken, wrong), tmp_path)
    message = str(caught.value)
    tampered = hashlib.sha256(b"tampered").hexdigest()
    assert "first place: no route" in message
    assert f"second place: wrong checksum: words.txt has sha256 {tampered}" in message
    assert SUMS["words.txt"] in message
    assert "unfooled assets get toy --file PATH" in message
    assert leftovers(tmp_path) == []
    assert install(make(broken, wrong, good), tmp_path).is_dir()
    assert len(good.opened) == 1


def test_a_missing_extra_is_what_the_user_reads(tmp_path: Path, make) -> None:
    needs = FakeSource(error=MissingExtra("reading Parquet", "data"))
    with pytest.raises(MissingExtra, match=r"unfooled\[data\]") as caught:
        install(make(needs, FakeSource(error=AssetError("gone"))), tmp_path)
    assert "gone" in str(caught.value.__cause__)


def test_a_converter_that_trips_is_a_failed_source(tmp_path: Path, make) -> None:
    def trips(members: Members) -> dict[str, bytes]:
        raise KeyError("column")

    with pytest.raises(AssetError, match=r"fake\.zip is not in the expected form"):
        install(make(FakeSource(convert=trips)), tmp_path)


@pytest.mark.parametrize("damage", ["missing", "short", "record", "older"])
def test_a_damaged_folder_is_built_again(tmp_path: Path, make, damage: str) -> None:
    source = FakeSource()
    asset = make(source)
    folder = install(asset, tmp_path)
    record = folder / "asset.json"
    if damage == "missing":
        (folder / "words.txt").unlink()
    elif damage == "short":
        (folder / "words.txt").write_bytes(b"a")
    elif damage == "record":
        record.write_text("{")
    else:
        record.write_text(record.read_text().replace(SUMS["words.txt"], "0" * 64))
    assert not store.installed(asset, tmp_path)
    install(asset, tmp_path)
    assert store.installed(asset, tmp_path)
    assert (folder / "words.txt").read_bytes() == b"a\nb\n"
    assert leftovers(tmp_path) == ["toy"]


def test_what_a_dead_process_left_is_swept(tmp_path: Path, make) -> None:
    (tmp_path / ".building-toy.abc" / "0").mkdir(parents=True)
    (tmp_path / ".building-toy-two.abc").mkdir()
    install(make(FakeSource()), tmp_path)
    assert leftovers(tmp_path) == [".building-toy-two.abc", "toy"]


def test_a_file_of_the_user(tmp_path: Path, make) -> None:
    archive = Archive("toys", "1.0", "e" * 64, 3)
    asset = make(Index(archive, convert, ("w.txt",)))
    given = tmp_path / "given"
    given.mkdir()
    with zipfile.ZipFile(given / "toys.zip", "w") as out:
        out.writestr("pkg/w.txt", b"a\nb\n")
    (given / "w.txt").write_bytes(b"a\nb\n")
    (given / "bad.txt").write_bytes(b"?")
    for number, file in enumerate([given / "toys.zip", given / "w.txt", given]):
        folder = install(asset, tmp_path / str(number), file)
        assert (folder / "words.txt").read_bytes() == b"a\nb\n"
        assert json.loads((folder / "asset.json").read_text())["source"] == f"file {file.name}"
    with pytest.raises(AssetError, match=r"bad\.txt does not hold asset 'toy'.*toys 1\.0 wheel"):
        install(asset, tmp_path / "x", given / "bad.txt")
    (given / "w.txt").write_bytes(b"changed")
    with pytest.raises(AssetError, match=r"wrong checksum: words\.txt"):
        install(asset, tmp_path / "x", given / "w.txt")
    assert leftovers(tmp_path / "x") == []
    with pytest.raises(InputError, match="no file"):
        install(asset, tmp_path / "x", given / "nothing")


def test_home_that_cannot_be_made_is_said(tmp_path: Path, make) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AssetError, match="cannot make the asset folder"):
        install(make(FakeSource()), tmp_path / "file" / "home")


RACE = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_store as t
from unfooled.assets import catalogue, store
catalogue._checksums = lambda: {{"toy": t.SUMS}}
root = Path(sys.argv[1])
class Slow(t.FakeSource):
    def open(self, work, *, shown):
        (root.parent / f"asked-{{sys.argv[2]}}").touch()
        time.sleep(0.3)
        return super().open(work, shown=shown)
asset = catalogue.Asset("toy", "lexicon", "", "", (Slow(),))
print(store.install(asset, root, file=None, shown=False))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="without file locks each process fetches")
def test_processes_that_want_the_same_asset_fetch_it_once(tmp_path: Path) -> None:
    root = tmp_path / "home"
    code = RACE.format(tests=str(Path(__file__).parent))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(root), str(number)], stdout=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    outputs = [process.communicate(timeout=60)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0] * 4
    assert outputs == [str(root / "toy")] * 4
    assert len(list(tmp_path.glob("asked-*"))) == 1
    assert leftovers(root) == ["toy"]


def test_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNFOOLED_HOME", str(tmp_path))
    assert store.home() == tmp_path
    monkeypatch.delenv("UNFOOLED_HOME")
    assert store.home().name == "unfooled"
    monkeypatch.setenv("UNFOOLED_HOME", "")
    assert store.home().is_absolute()
