"""Where a lexical resource lies and what it holds: an asset by name, or the user's own path."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

from unfooled import assets
from unfooled.errors import InputError, did_you_mean

ASSETS = (
    "wordnet",
    "tagger",
    "stopwords",
    "stopwords-textfooler",
    "glove-50",
    "glove-50-counter-fitted",
    "use",
    "minilm",
)


def locate(name: str) -> Path:
    """The path of a resource: the asset of that name, else a file or folder that exists.

    An asset is not shadowed by a folder that happens to have its name; `./wordnet` is the folder.
    """
    check(name)
    return Path(assets.get(name)) if name in ASSETS else Path(name).expanduser()


def check(name: str) -> None:
    """Refuses what is neither an asset, fetched or not, nor a path that exists."""
    if name not in ASSETS and not Path(name).expanduser().exists():
        raise InputError(f"there is neither a file nor a lexical asset {name!r}; {_hint(name)}")


def digest(name: str) -> str:
    """The sha256 of a resource's content; for an asset that of its list of checksums."""
    path = locate(name)
    described = path / "asset.json"
    if described.is_file():
        sums = json.loads(described.read_text(encoding="utf-8"))["files"]
        return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()
    if path.is_file():
        return _file_digest(path)
    whole = hashlib.sha256()
    for member in sorted(p for p in path.rglob("*") if p.is_file()):
        whole.update(f"{member.relative_to(path).as_posix()}\0{_file_digest(member)}\n".encode())
    return whole.hexdigest()


def _hint(name: str) -> str:
    if "/" in name or "\\" in name or Path(name).suffix:
        return "check the path"
    return did_you_mean(name, ASSETS)


def _file_digest(path: Path) -> str:
    state = path.stat()
    return _hashed(path, (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=256)
def _hashed(path: Path, _state: tuple[int, int]) -> str:
    # Size and time are in the key so that an edited file is read again.
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
