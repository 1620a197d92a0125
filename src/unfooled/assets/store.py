"""The folder of converted assets: built aside, checked, then put in place in one step."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from unfooled.assets.archive import Members, opened
from unfooled.assets.catalogue import CATALOGUE, Asset, ingredients
from unfooled.assets.sources import Built, Convert, Index, sha256_of
from unfooled.errors import AssetError, InputError, MissingExtra

RECORD = "asset.json"


def home() -> Path:
    """The folder that keeps assets: `UNFOOLED_HOME`, or `unfooled` in the user's cache folder."""
    given = os.environ.get("UNFOOLED_HOME")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("unfooled", appauthor=False))


def installed(asset: Asset, root: Path) -> bool:
    """Whether the asset lies in `root` whole: same files, same checksums, no size changed.

    A built one has other checksums on other machines; it must be made of the same things.
    """
    folder = root / asset.name
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        sums = {name: entry["sha256"] for name, entry in record["files"].items()}
        if asset.built is None:
            same = sums == dict(asset.files)
        else:
            same = record["sha256"] == ingredients(asset.built) and set(sums) == set(
                asset.built.files
            )
        return same and all(
            (folder / name).stat().st_size == entry["bytes"]
            for name, entry in record["files"].items()
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return False


def install(asset: Asset, root: Path, *, file: Path | None, shown: bool) -> Path:
    """The asset's folder, built from the file given or else from the first source that works."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AssetError(f"cannot make the asset folder {root}: {error}") from error
    with _alone(asset.name, root):
        if not installed(asset, root):  # another process may have finished it while we waited
            with tempfile.TemporaryDirectory(prefix=f".building-{asset.name}.", dir=root) as work:
                if asset.built is not None:
                    _refuse(file, asset)
                    _from_assets(asset, asset.built, root=root, work=Path(work), shown=shown)
                elif file is None:
                    _from_sources(asset, root, work=Path(work), shown=shown)
                else:
                    _from_file(asset, root, work=Path(work), file=file)
    return root / asset.name


def _from_assets(asset: Asset, built: Built, *, root: Path, work: Path, shown: bool) -> None:
    folders = {n: install(CATALOGUE[n], root, file=None, shown=shown) for n in built.needs}
    content = built.make(folders, shown=shown)
    if set(content) != set(built.files):
        raise AssetError(
            f"the recipe of {asset.name!r} made {', '.join(sorted(content))}, "
            f"expected {', '.join(sorted(built.files))}"
        )
    digest = ingredients(built)
    _keep(asset, root, work=work, content=content, source=str(built), digest=digest)


def _refuse(file: Path | None, asset: Asset) -> None:
    if file is not None and asset.built is not None:
        raise InputError(
            f"asset {asset.name!r} comes from no file: it is built from "
            f"{' and '.join(asset.built.needs)}; give the files of those, then get it without --file"
        )


def _from_sources(asset: Asset, root: Path, *, work: Path, shown: bool) -> None:
    failures: list[str] = []
    missing: MissingExtra | None = None
    for number, source in enumerate(asset.sources):
        attempt = work / str(number)
        attempt.mkdir()
        try:
            with source.open(attempt, shown=shown) as (members, digest):
                content = _converted(source.convert, members)
            _keep(asset, root, work=work, content=content, source=str(source), digest=digest)
            return
        except MissingExtra as error:
            missing = missing or error
            failures.append(f"{source}: {error}")
        except AssetError as error:
            failures.append(f"{source}: {error}")
    reasons = "; ".join(failures)
    advice = f"give the archive yourself: unfooled assets get {asset.name} --file PATH"
    failed = AssetError(f"asset {asset.name!r} could not be fetched. {reasons}. You can {advice}")
    if missing is not None:  # the remedy is one command away, so it is what the user should read
        raise missing from failed
    raise failed


def _from_file(asset: Asset, root: Path, *, work: Path, file: Path) -> None:
    if not file.exists():
        raise InputError(f"asset {asset.name!r}: there is no file {file}")
    digest = sha256_of(file) if file.is_file() else ""
    archives = [s.archive for s in asset.sources if isinstance(s, Index)]
    with opened(file) as members:
        for source in asset.sources:
            if all(map(members.find, source.members)):
                content = _converted(source.convert, members)
                break
        else:
            wanted = " or ".join(f"{a.project} {a.version} {a.form}" for a in archives)
            raise AssetError(
                f"{file.name} does not hold asset {asset.name!r}: expected {wanted} "
                f"(sha256 {', '.join(a.sha256 for a in archives)}), or its members "
                f"{', '.join(asset.sources[0].members)}; the file has sha256 {digest or 'none'}"
            )
    _keep(asset, root, work=work, content=content, source=f"file {file.name}", digest=digest)


def _converted(convert: Convert, members: Members) -> dict[str, bytes]:
    try:
        return convert(members)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise AssetError(f"{members.origin} is not in the expected form: {error!r}") from error


def _keep(
    asset: Asset,
    root: Path,
    *,
    work: Path,
    content: Mapping[str, bytes],
    source: str,
    digest: str,
) -> None:
    """Writes the folder aside and moves it in place; nothing stays when a checksum is wrong."""
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    pinned = asset.files if asset.built is None else sums
    for name in sorted(set(sums) | set(pinned)):
        if sums.get(name) != pinned.get(name):
            raise AssetError(
                f"wrong checksum: {name} has sha256 {sums.get(name, 'none')}, "
                f"expected {pinned.get(name, 'no such file')}"
            )
    ready = work / "ready"
    for name, data in content.items():
        path = ready / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    record = {
        "name": asset.name,
        "kind": asset.kind,
        "licence": asset.licence,
        "source": source,
        "sha256": digest,
        "files": {n: {"sha256": sums[n], "bytes": len(content[n])} for n in sorted(sums)},
    }
    (ready / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    _place(ready, root / asset.name, asset=asset)


def _place(ready: Path, target: Path, *, asset: Asset) -> None:
    if target.exists():  # incomplete or from an older catalogue; `work` takes it to the grave
        target.replace(ready.with_name("old"))
    try:
        ready.replace(target)
    except OSError:
        # Where files cannot be locked another process may have been quicker; its copy is as good.
        if not installed(asset, target.parent):
            raise


@contextmanager
def _alone(name: str, root: Path) -> Iterator[None]:
    """Lets one process at a time build an asset, so that it is fetched once.

    Correctness does not hang on it: without locks (Windows) both build and one wins in `_place`.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (root / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Nobody else builds this asset now, so what lies here was left by a process that died.
        for left in root.glob(f".building-{name}.*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
