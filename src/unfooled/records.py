"""A run is a folder: manifest.json and records.jsonl, one line per text and method.

The key of a record is a hash of example, method, options and victim. So resuming is set
difference, sharding is by key, and merging is concatenation. What a record says about time is not
an outcome: the fields in TIMING may differ when the same work is done twice.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self, TypeVar

from unfooled import manifest as manifests
from unfooled.canonical import dumps, loads
from unfooled.errors import InputError, RunError
from unfooled.fingerprints import same
from unfooled.keys import Shard, record_key, rng_for

if sys.platform != "win32":
    import fcntl

__all__ = ["Run", "Shard", "merge", "read", "record_key", "rng_for"]

Folder = str | os.PathLike[str]
Record = dict[str, Any]
T = TypeVar("T")

NAME: Final = "records.jsonl"
CANDIDATES: Final = "candidates"  # the method of records that only say what was allowed
TIMING: Final = frozenset({"seconds", "started", "finished", "worker"})

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class Run:
    """A run folder: what is recorded in it and, when opened for writing, the only one to add to it.

    A record is in the file once `append` returns; a process killed later does not lose it. On
    Windows nothing keeps a second process out of the folder.
    """

    def __init__(self, folder: Path, manifest: Record, *, descriptor: int | None = None) -> None:
        self.folder = folder
        self.manifest = manifest
        self.repaired = 0  # torn last lines found on opening: 0 or 1
        self._records: dict[str, Record] = {}
        self._descriptor = descriptor

    @classmethod
    def open(cls, folder: Folder, manifest: Mapping[str, Any], *, resume: bool = True) -> Run:
        """The run in this folder, new or resumed; RunError when it was made with anything else."""
        folder, asked = Path(folder), manifests.complete(manifest)
        descriptor = _claim(folder)
        try:
            run = cls(folder, _agree(folder, asked, resume=resume), descriptor=descriptor)
            run._load()
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                raise RunError(f"cannot open a run in {folder}: {error.strerror}") from error
            raise
        return run

    @property
    def done(self) -> Mapping[str, Record]:
        """The records so far by key: what need not be done again."""
        return MappingProxyType(self._records)

    def records(self) -> list[Record]:
        """The records in the order in which they were written."""
        return list(self._records.values())

    def rebuilt(self, record: Record, by: Callable[[Record], T]) -> T:
        """What a record described; RunError names one that lacks a field or has another kind of value."""
        try:
            return by(record)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            what = f"has no {error}" if isinstance(error, KeyError) else f"cannot be read: {error}"
            raise RunError(
                f"{self.folder / NAME} is damaged: the record with the key {record['key']} {what}; "
                "delete that line, and its text is done again"
            ) from error

    def append(self, record: Mapping[str, Any]) -> None:
        """Writes one record as one line; afterwards killing the process cannot lose it."""
        if self._descriptor is None:
            raise RunError(f"{self.folder} is not open for writing: use Run.open, and before close")
        line = dumps(record, "record").encode("ascii")
        written: Record = loads(line)  # what a later reader sees, and not shared with the caller
        key = written.get("key")
        if not isinstance(key, str) or not key:
            raise InputError(f"a record needs its key, a string, not {key!r:.40}")
        if key in self._records:
            raise RunError(f"{self.folder} already has a record with the key {key}")
        start = os.fstat(self._descriptor).st_size
        try:
            self._records[key] = written
            _write(self._descriptor, line + b"\n")
        except BaseException as error:  # a full disk or an interrupt must not leave half a line
            self._records.pop(key, None)
            os.ftruncate(self._descriptor, start)
            if isinstance(error, OSError):
                raise RunError(f"cannot write to {self.folder / NAME}: {error.strerror}") from error
            raise

    def close(self) -> None:
        """Puts the records on the disk and lets other processes open the run."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _load(self) -> None:
        path, whole = self.folder / NAME, 0
        if not path.exists():  # only a folder copied without it
            return
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                record, torn = _parse(line), not line.endswith(b"\n")
                if record is not None:
                    self._take(record, number)
                elif not torn:
                    raise RunError(
                        f"{path}, line {number} is damaged: {line[:40]!r}; "
                        "delete that line, and its text is done again"
                    )
                if torn:
                    self.repaired = 1
                    self._mend(whole, complete=record is not None)
                    break
                whole += len(line)

    def _take(self, record: Record, number: int) -> None:
        key = record["key"]
        if key in self._records:
            earlier = list(self._records).index(key) + 1  # every line before is one record
            raise RunError(
                f"{self.folder / NAME}, line {number} repeats the key {key} of line {earlier}; "
                "delete one of the two"
            )
        self._records[key] = record

    def _mend(self, whole: int, *, complete: bool) -> None:
        """Ends the file on a whole line; a reader that may not write only passes over the rest."""
        if self._descriptor is None:
            return
        if complete:  # all that is missing is the end of the line
            _write(self._descriptor, b"\n")
        else:
            os.ftruncate(self._descriptor, whole)


def read(folder: Folder) -> Run:
    """The run in this folder, to be looked at; it may still be growing under another process."""
    run = Run(Path(folder), manifests.load(Path(folder)))
    run._load()
    return run


def merge(folders: Iterable[Folder], out: Folder) -> Run:
    """One run, open in `out`, with the records of all; merging again adds only what is new.

    The manifests must agree in all but the shard. A key that occurs twice must have the same
    outcome both times (scores within `fingerprints.TOLERANCE`, TIMING aside).
    """
    parts = [read(folder) for folder in folders]
    if not parts:
        raise InputError("nothing to merge: give at least one run folder")
    first = parts[0]
    for part in parts[1:]:
        found = manifests.differences(first.manifest, part.manifest, shards=False)
        if found:
            raise RunError(
                f"{part.folder} cannot be merged with {first.folder}, made with other settings: "
                f"{'; '.join(found)}. Merge shards of one run only"
            )
    history = [
        {name: part.manifest.get(name) for name in ("shard", "created", "command", "versions")}
        for part in parts
    ]
    merged = Run.open(out, first.manifest | {"shard": None, "merged": history})
    try:
        for part in parts:
            _add(merged, part)
    except BaseException:
        merged.close()
        raise
    return merged


def _add(merged: Run, part: Run) -> None:
    for record in part.records():
        known = merged.done.get(record["key"])
        if known is None:
            merged.append(record)
            continue
        fields = sorted((known.keys() | record.keys()) - TIMING)
        unlike = [name for name in fields if not same(known.get(name), record.get(name))]
        if unlike:
            raise RunError(
                f"{part.folder} has another outcome than {merged.folder} for the key "
                f"{record['key']}: {', '.join(unlike)} differ. The victim is not deterministic, "
                "or one of the files was edited; do that text again in one run"
            )


def _claim(folder: Path) -> int:
    """A descriptor that appends to the folder's records, locked against other processes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = {entry.name for entry in folder.iterdir()}
        if held and not held & {NAME, manifests.NAME}:
            raise RunError(f"{folder} is not empty and holds no run: give another --out")
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        raise RunError(f"cannot write a run into {folder}: {error.strerror}") from error
    if sys.platform == "win32":
        return descriptor
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RunError(
            f"{folder} is in use by another process: wait for it, or give another --out"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            raise RunError(f"cannot lock {folder / NAME}: {error.strerror}") from error
        warnings.warn(
            f"the file system of {folder} has no locks: do not run two processes in it at once",
            stacklevel=3,
        )
    return descriptor


def _agree(folder: Path, asked: Record, *, resume: bool) -> Record:
    """The manifest that holds: the asked one, written, in a new folder; else the one found."""
    # The manifest is written before any record: a folder without records has nothing to lose, one
    # with records but no manifest is not ours to repair.
    if not (folder / NAME).stat().st_size and manifests.is_unwritten(folder):
        manifests.write(folder, asked)
        return asked
    found = manifests.load(folder)
    if not resume:
        raise RunError(f"{folder} already holds a run: resume it, or give another --out")
    unlike = manifests.differences(found, asked)
    if unlike:
        raise RunError(
            f"{folder} cannot be resumed, it was made with other settings: {'; '.join(unlike)}. "
            "Give the same options, or another --out"
        )
    held = manifests.resumed(found, asked)
    if held != found:
        manifests.write(folder, held)
    return held


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:  # one call, unless the disk is nearly full
        rest = rest[os.write(descriptor, rest) :]


def _parse(line: bytes) -> Record | None:
    try:
        record = loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None
