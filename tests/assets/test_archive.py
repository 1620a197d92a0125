"""Archives are opened under suspicion."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from unfooled.assets import archive
from unfooled.assets.archive import Members, opened, opened_bytes
from unfooled.errors import AssetError


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return path


def tar_of(path: Path, members: dict[str, bytes], *, links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as out:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            out.addfile(entry)
    return path


@pytest.mark.parametrize(("make", "suffix"), [(zip_of, "zip"), (tar_of, "tar.gz")])
def test_members_are_read(tmp_path: Path, make, suffix: str) -> None:
    path = make(tmp_path / f"a.{suffix}", {"top/a.txt": b"one", "top/deep/b.txt": "zwö".encode()})
    with opened(path) as members:
        assert members.find("*.txt") == ["top/a.txt", "top/deep/b.txt"]
        assert members.read("top/a.txt") == b"one"
        assert members.text("deep/b.txt") == "zwö"


def test_folder_and_single_file_are_members_too(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a.csv").write_bytes(b"x")
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    with opened(tmp_path / "in") as members:
        assert list(members.readers) == ["deep/a.csv"]
    with opened(tmp_path / "in" / "deep" / "a.csv") as members:
        assert members.read("a.csv") == b"x"


def test_nested_archive(tmp_path: Path) -> None:
    inner = tar_of(tmp_path / "inner.tar.gz", {"x/a.txt": b"deep"}).read_bytes()
    with opened(zip_of(tmp_path / "o.zip", {"inner.tar.gz": inner})) as members:  # noqa: SIM117
        with opened_bytes(members.read("inner.tar.gz"), "inner.tar.gz") as nested:
            assert nested.text("a.txt") == "deep"


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "C:/evil", "..\\evil"])
@pytest.mark.parametrize(("make", "suffix"), [(zip_of, "zip"), (tar_of, "tar.gz")])
def test_names_that_escape_condemn_the_archive(tmp_path: Path, make, suffix, name: str) -> None:
    path = make(tmp_path / f"a.{suffix}", {"good": b"", name: b"x"})
    with pytest.raises(AssetError, match="leaves the archive"), opened(path):
        pass


def test_links_are_not_listed(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "a.tar.gz", {"good": b"1"}, links={"bad": "/etc/passwd"})
    with opened(path) as members:
        assert list(members.readers) == ["good"]
    linked = tmp_path / "a.zip"
    with zipfile.ZipFile(linked, "w") as out:
        entry = zipfile.ZipInfo("bad")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(entry, "/etc/passwd")
        out.writestr("good", "1")
    with opened(linked) as members:
        assert list(members.readers) == ["good"]


@pytest.mark.parametrize(("make", "suffix"), [(zip_of, "zip"), (tar_of, "tar.gz")])
def test_size_limits(tmp_path: Path, make, suffix, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / f"a.{suffix}", {"a": b"0" * 600, "b": b"0" * 600})
    monkeypatch.setattr(archive, "TOTAL_LIMIT", 1000)
    with pytest.raises(AssetError, match="too large"), opened(path):
        pass
    monkeypatch.setattr(archive, "TOTAL_LIMIT", 10_000)
    monkeypatch.setattr(archive, "MEMBER_LIMIT", 500)
    with pytest.raises(AssetError, match="too large"), opened(path):
        pass


def test_a_file_that_grew_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"0" * 600)
    monkeypatch.setattr(archive, "MEMBER_LIMIT", 500)
    with opened(tmp_path / "a") as members, pytest.raises(AssetError, match="larger than"):
        members.read("a")


def test_damaged_archives_are_named(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", {"a.txt": b"hello" * 100})
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(content)
    with opened(path) as members, pytest.raises(AssetError, match=r"a\.zip, member 'a\.txt'"):
        members.read("a.txt")
    with pytest.raises(AssetError, match="cannot be read"), opened_bytes(b"no archive", "x"):
        pass


def test_one_prefers_the_root_and_refuses_ties() -> None:
    def members(*names: str) -> Members:
        return Members("a.zip", {name: lambda name=name: name.encode() for name in names})

    assert members("x/f", "y/deep/f").one("f") == "x/f"
    with pytest.raises(AssetError, match="several members 'f': x/f, y/f"):
        members("x/f", "y/f").one("f")
    with pytest.raises(AssetError, match="no member 'g'"):
        members("x/f").one("g")
    with pytest.raises(AssetError, match="no member 'g'"):
        members("x/f").read("g")


def test_text_must_be_utf8() -> None:
    with pytest.raises(AssetError, match="not UTF-8"):
        Members("a.zip", {"f": lambda: b"\xff"}).text("f")
