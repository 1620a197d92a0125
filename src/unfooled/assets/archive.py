"""Members of a zip, a tar, a folder or one file, read under limits and never unpacked by name.

An archive is foreign matter: a member whose name leaves the archive condemns all of it, links and
devices are not listed, and sizes are checked before and while reading.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from unfooled.errors import AssetError

MEMBER_LIMIT = 2 * 2**30
TOTAL_LIMIT = 4 * 2**30
COUNT_LIMIT = 200_000

_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, RuntimeError, OSError)


@dataclass(frozen=True)
class Members:
    """Named pieces of bytes: what a source gives and a converter reads."""

    origin: str
    readers: Mapping[str, Callable[[], bytes]]

    def find(self, pattern: str) -> list[str]:
        """The names that are `pattern` or end in it after a slash, sorted; `*` is a wildcard."""
        return sorted(
            name
            for name in self.readers
            if fnmatchcase(name, pattern) or fnmatchcase(name, f"*/{pattern}")
        )

    def one(self, pattern: str) -> str:
        """The name that matches; the one nearest the root when copies lie deeper."""
        names = sorted(self.find(pattern), key=lambda name: (name.count("/"), name))
        if not names:
            raise AssetError(f"{self.origin} has no member {pattern!r}")
        if len(names) > 1 and names[0].count("/") == names[1].count("/"):
            raise AssetError(f"{self.origin} has several members {pattern!r}: {', '.join(names)}")
        return names[0]

    def read(self, name: str) -> bytes:
        """The bytes of the member of exactly that name."""
        try:
            return self.readers[name]()
        except KeyError:
            raise AssetError(f"{self.origin} has no member {name!r}") from None
        except _DAMAGE as error:
            raise AssetError(f"{self.origin}, member {name!r}: {error or 'truncated'}") from error

    def text(self, pattern: str) -> str:
        """The one member that matches, decoded as UTF-8."""
        name = self.one(pattern)
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise AssetError(f"{self.origin}, member {name!r} is not UTF-8: {error}") from error


@contextmanager
def opened(path: Path) -> Iterator[Members]:
    """The members of a zip, tar or folder; any other file is its own only member."""
    if path.is_dir():
        yield from_files({p.relative_to(path).as_posix(): p for p in _plain_files(path)}, path.name)
    elif zipfile.is_zipfile(path) or tarfile.is_tarfile(path):
        with path.open("rb") as stream, _archive(stream, path.name) as members:
            yield members
    else:
        yield from_files({path.name: path}, path.name)


@contextmanager
def opened_bytes(content: bytes, origin: str) -> Iterator[Members]:
    """The members of an archive that was itself a member."""
    with _archive(io.BytesIO(content), origin) as members:
        yield members


@contextmanager
def _archive(stream: IO[bytes], origin: str) -> Iterator[Members]:
    with ExitStack() as stack:
        try:
            if zipfile.is_zipfile(stream):
                members = _zip_members(stack.enter_context(zipfile.ZipFile(stream)), origin)
            else:
                stream.seek(0)
                opened_tar = stack.enter_context(tarfile.open(fileobj=stream))
                members = _tar_members(opened_tar, origin)
        except _DAMAGE as error:
            raise AssetError(f"{origin} cannot be read as an archive: {error}") from error
        yield members


def from_files(files: Mapping[str, Path], origin: str) -> Members:
    """Members that are plain files on disk."""
    return Members(origin, {name: partial(_read_file, path) for name, path in files.items()})


def _plain_files(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink())


def _zip_members(archive: zipfile.ZipFile, origin: str) -> Members:
    guard = _Guard(origin)
    readers: dict[str, Callable[[], bytes]] = {}
    for entry in archive.infolist():
        guard.admit(entry.filename, entry.file_size)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if not entry.is_dir() and kind in (0, stat.S_IFREG):
            readers[entry.filename] = partial(_read_zip, archive, entry)
    return Members(origin, readers)


def _tar_members(archive: tarfile.TarFile, origin: str) -> Members:
    guard = _Guard(origin)
    readers: dict[str, Callable[[], bytes]] = {}
    for entry in archive:  # lazily, so that the guard sees a size before its bytes are skipped over
        guard.admit(entry.name, entry.size)
        if entry.isreg():
            readers[entry.name] = partial(_read_tar, archive, entry)
    return Members(origin, readers)


class _Guard:
    """Refuses names that leave the archive, and sums of declared sizes beyond the limits."""

    def __init__(self, origin: str) -> None:
        self.origin, self.count, self.total = origin, 0, 0

    def admit(self, name: str, size: int) -> None:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts or parts[0] == "/" or ".." in parts or parts[0].endswith(":"):
            raise AssetError(f"{self.origin} has a member that leaves the archive: {name!r}")
        self.count += 1
        self.total += size
        if size > MEMBER_LIMIT or self.total > TOTAL_LIMIT or self.count > COUNT_LIMIT:
            raise AssetError(
                f"{self.origin} is too large to open: member {name!r} brings it to "
                f"{self.total:,} bytes in {self.count:,} members"
            )


def _read_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as stream:
        return _read(stream, entry.filename)


def _read_tar(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(entry)
    if stream is None:  # only links and devices have no stream, and those were not listed
        raise AssetError(f"member {entry.name!r} is not a plain file")
    return _read(stream, entry.name)


def _read_file(path: Path) -> bytes:
    with path.open("rb") as stream:
        return _read(stream, path.name)


def _read(stream: IO[bytes], name: str) -> bytes:
    content = stream.read(MEMBER_LIMIT + 1)
    if len(content) > MEMBER_LIMIT:
        raise AssetError(f"member {name!r} is larger than {MEMBER_LIMIT:,} bytes")
    return content
