"""The manifest of a run: what was asked, of whom, with which seed; and whether two agree."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from unfooled import __version__, fingerprints
from unfooled.canonical import canonical, dumps, loads, plain
from unfooled.errors import InputError, RunError

FORMAT: Final = 1
NAME: Final = "manifest.json"
REQUIRED: Final = ("method", "options", "seed", "fingerprints")

_WIDTH = 40  # of a value in a message
_OPENING = b'{\n  "format":'  # how a file from `write` starts
_VERSIONED = ("numpy", "torch", "transformers", "sklearn")
_EXACT_TYPES = ("float32", "float64")


def complete(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A whole manifest from what the caller knows: method, options, seed, fingerprints at least.

    Optional: `command` (the arguments as a list), `dtype` (of the victim's arithmetic), `shard`
    ("i/n"). Other fields are kept as they are and never compared.
    """
    missing = [name for name in REQUIRED if name not in fields]
    if missing:
        raise InputError(f"a manifest needs {', '.join(REQUIRED)}; missing: {', '.join(missing)}")
    for name in ("options", "fingerprints"):
        if not isinstance(fields[name], Mapping):
            raise InputError(f"the manifest's {name} are a mapping, not {fields[name]!r:.60}")
    dtype, shard = fields.get("dtype"), fields.get("shard")
    known: dict[str, Any] = {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": list(fields.get("command", sys.argv)),
        **{name: fields[name] for name in REQUIRED},
        "dtype": dtype,
        "promise": promise(dtype),
        "shard": None if shard is None else str(shard),
        "versions": versions(),
    }
    others = {name: value for name, value in fields.items() if name not in known}
    whole: dict[str, Any] = plain(known | others, "manifest")
    return whole


def promise(dtype: str | None) -> str:
    """What a run may promise about being repeated, given the arithmetic of its victim."""
    if dtype in _EXACT_TYPES:
        return "same seed, same outcomes, for any batch size, order, shard or number of workers"
    if dtype is None:
        return "same seed, same outcomes, as far as the victim gives a text the same scores"
    return f"outcomes in {dtype} may depend on the batch size; not promised to repeat exactly"


def versions() -> dict[str, str]:
    """The versions of Python, unfooled and those packages that are already imported."""
    found = {"python": platform.python_version(), "unfooled": __version__}
    for name in _VERSIONED:
        # Only what is loaded can have had a say, and asking must not import torch.
        if name in sys.modules:
            found[name] = str(sys.modules[name].__version__)
    return found


def write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Puts the manifest into the folder whole or not at all, and on the disk before any record."""
    temporary = folder / f"{NAME}.new"
    lines = ",\n".join(f"  {dumps(name)}: {dumps(value)}" for name, value in manifest.items())
    with temporary.open("w", encoding="ascii", newline="\n") as file:
        file.write("{\n" + lines + "\n}\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / NAME)
    if os.name == "posix":  # elsewhere a folder cannot be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_unwritten(folder: Path) -> bool:
    """Whether the folder has no manifest yet: none, an empty one, or the start of one of ours."""
    try:
        content = (folder / NAME).read_bytes()
        loads(content)
    except FileNotFoundError:
        return True
    except ValueError:
        # After a power cut a file may hold zeros; anything else in it may be another program's.
        return (
            not content.strip(b"\0") or content.startswith(_OPENING) or _OPENING.startswith(content)
        )
    return False


def resumed(found: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The found manifest, which says so when the run goes on under other versions."""
    history = found.get("resumed", [])
    last = history[-1] if history else found
    if last.get("versions") == now["versions"]:
        return dict(found)
    entry = {name: now[name] for name in ("created", "command", "versions")}
    return {**found, "resumed": [*history, entry]}


def load(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder; RunError when it is missing, torn or of another format."""
    path = folder / NAME
    try:
        manifest = loads(path.read_bytes())
    except FileNotFoundError:
        reason = f"it has no {NAME}" if folder.is_dir() else "there is no such folder"
        raise RunError(f"{folder} is not a run: {reason}") from None
    except NotADirectoryError:
        raise RunError(f"{folder} is not a run: it is a file, and a run is a folder") from None
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RunError(f"{path} is empty or damaged ({error}); give another --out") from error
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise RunError(f"{path} was not written by unfooled: it has no field 'format'")
    if manifest["format"] != FORMAT:
        raise RunError(
            f"{path} has format {_short(canonical(manifest['format']))}, and this version of "
            f"unfooled reads format {FORMAT}; use the version that wrote it"
        )
    missing = [name for name in REQUIRED if name not in manifest]
    if missing:
        raise RunError(f"{path} is damaged: it has no {', '.join(missing)}; give another --out")
    for name in ("options", "fingerprints"):
        if not isinstance(manifest[name], dict):
            raise RunError(
                f"{path} is damaged: its {name} are a mapping, not {_short(canonical(manifest[name]))}"
            )
    return manifest


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], *, shards: bool = True
) -> list[str]:
    """What keeps two manifests from being one run: "field old, not new" for each such field."""
    fields = ["method", "seed", "dtype", *(["shard"] if shards else [])]
    found = [_differ(old.get(name), new.get(name), name=name) for name in fields]
    before, after = _leaves(old["options"]), _leaves(new["options"])
    for path in sorted(before.keys() | after.keys()):
        name = ".".join(("options", *path))
        found.append(_differ(before.get(path, _ABSENT), after.get(path, _ABSENT), name=name))
    known, given = old["fingerprints"], new["fingerprints"]
    for name in sorted(known.keys() | given.keys()):
        found.append(
            _unlike_fingerprint(known.get(name), given.get(name), name=f"{name} fingerprint")
        )
    return [sentence for sentence in found if sentence]


_ABSENT: Final = object()


def _differ(old: object, new: object, *, name: str) -> str:
    one, other = ("absent" if value is _ABSENT else canonical(value) for value in (old, new))
    if one == other:
        return ""
    if max(len(one), len(other)) > _WIDTH:  # show where two long values part
        pairs = enumerate(zip(one, other, strict=False))
        parting = next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
        start = max(0, parting - 8)
        one, other = (("…" if start else "") + text[start:] for text in (one, other))
    return f"{name} {_short(one)}, not {_short(other)}"


def _unlike_fingerprint(old: object, new: object, *, name: str) -> str:
    if fingerprints.same(old, new):
        return ""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True), 1):
            if not fingerprints.same(one, other):  # the rows before differ by noise at most
                return _differ(one, other, name=f"{name}, scores of probe {number}:")
    return _differ(old, new, name=name)


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _leaves(value: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    if isinstance(value, Mapping) and value:
        inner = (_leaves(item, (*path, key)) for key, item in value.items())
        return {key: leaf for leaves in inner for key, leaf in leaves.items()}
    return {path: value} if path else {}
