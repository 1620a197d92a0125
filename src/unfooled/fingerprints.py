"""Fingerprints: whether two runs had the same victim, the same data and the same candidates.

Files and values get an exact sha256. A victim behind a function or a URL has no bytes to hash, so
its fingerprint is its scores on fixed probe texts, compared within a tolerance: a hash of rounded
scores would change whenever float noise pushes one score over a rounding boundary.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unfooled.canonical import digest, plain
from unfooled.errors import InputError, VictimError
from unfooled.text import Example, Source

Fingerprint = str | list[list[float | str]]
"""An exact "sha256:..." string, or one row of scores per probe text ("inf", "nan" as text)."""

TOLERANCE = 1e-4  # relative above 1: far over float32 noise, far under another model's difference

# Part of the format: other probes make old fingerprints differ, so change `manifest.FORMAT` too.
PROBES = (
    "A warm, funny and moving film.",
    "The plot is dull and the acting is worse.",
    "It is not bad at all.",
    "Two men are playing football in the park.",
    "Nobody is outside.",
    "Shares fell sharply after the bank reported a loss.",
    "Scientists discover a new planet beyond the solar system.",
    "I would never watch this again, even for free.",
    "The quick brown fox jumps over the lazy dog",
    "ok",
    "WHAT A GREAT GAME!!!",
    "The service was slow, but the food was excellent and the price was fair.",
)
PAIR_PROBES = tuple(zip(PROBES, (*PROBES[5:], *PROBES[:5]), strict=True))


def probe_fingerprint(scores: Callable[[list[Any]], Any], *, pairs: bool = False) -> Fingerprint:
    """The victim's scores on the probe texts (or pairs), (probes, classes).

    The probes are scored twice. A victim that contradicts itself beyond the tolerance cannot be
    known by its scores; its fingerprint says "randomised" and only the number of classes.
    """
    probes: Sequence[Source] = PAIR_PROBES if pairs else PROBES
    first, second = _scores(scores, probes), _scores(scores, probes)
    rows = _rows(first)
    if not same(rows, _rows(second)):
        return f"randomised: {first.shape[1]} classes"
    return rows


def value_fingerprint(value: object) -> str:
    """The exact fingerprint of options or any other JSON value."""
    return f"sha256:{digest(value, 'the value to fingerprint')}"


def examples_fingerprint(examples: Iterable[Example]) -> str:
    """The exact fingerprint of a data set: texts, labels and names, in whatever order."""
    parts = (
        digest([example.id, example.label, example.text.source, example.text.editable])
        for example in examples
    )
    return value_fingerprint(sorted(parts))


def path_fingerprint(path: str | os.PathLike[str]) -> str:
    """The exact fingerprint of a file, or of a folder's files: relative names and contents.

    Names that start with a dot (caches, version control) are left out of folders. A file is read
    again within one process only when its size or time of change differs.
    """
    path = Path(path)
    if path.is_file():
        return f"sha256:{_file_hash(path)}"
    if not path.is_dir():
        raise InputError(f"{path} is neither a file nor a folder, so it has no fingerprint")
    files = {file.relative_to(path).as_posix(): _file_hash(file) for file in _files(path)}
    if not files:
        raise InputError(f"{path} is an empty folder, so it has no fingerprint")
    return value_fingerprint(files)


def identity(fingerprint: Fingerprint, name: str) -> str:
    """What stands for the victim in record keys: its hash, or its name where it has none.

    Keys must be the same on every machine that works on a shard, so probe scores, with their float
    noise, cannot enter them. The manifests still compare the scores before runs are joined.
    """
    exact = isinstance(fingerprint, str) and fingerprint.startswith("sha256:")
    return str(fingerprint) if exact else name


def same(first: object, second: object) -> bool:
    """Whether two JSON values are equal, with numbers that are not integers within TOLERANCE."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= TOLERANCE * max(1.0, abs(first), abs(second))
    return type(first) is type(second) and first == second


def _scores(
    scores: Callable[[list[Any]], Any], probes: Sequence[Source]
) -> NDArray[np.float64]:  # (probes, classes)
    answer = np.asarray(scores(list(probes)), dtype=np.float64)
    if answer.ndim != 2 or len(answer) != len(probes) or not answer.shape[1]:
        raise VictimError(
            f"the victim answered {len(probes)} probe texts with an array of shape {answer.shape}; "
            f"expected ({len(probes)}, classes)"
        )
    if np.isnan(answer).any(axis=1).all():
        raise VictimError(f"the victim's scores of all {len(probes)} probe texts are NaN")
    return answer


def _rows(scores: NDArray[np.float64]) -> list[list[float | str]]:
    """Scores as JSON values; a probe may be a text that the victim has no finite scores for."""
    return [["nan" if value != value else plain(value) for value in row] for row in scores.tolist()]


def _files(folder: Path) -> list[Path]:
    found = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in names if not name.startswith(".")]
    return found


def _raise(error: OSError) -> None:
    raise InputError(f"{error.filename} cannot be read: {error.strerror}") from error


_hashes: dict[tuple[str, int, int], str] = {}  # (path, size, time of change) -> sha256


def _file_hash(file: Path) -> str:
    try:
        status = file.stat()
        key = (str(file.resolve()), status.st_size, status.st_mtime_ns)
        if key not in _hashes:
            with file.open("rb") as content:
                _hashes[key] = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        _raise(error)
    return _hashes[key]
