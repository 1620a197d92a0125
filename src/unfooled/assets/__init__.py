"""Data sets, word lists, vectors and models by name, fetched once and kept for offline use.

>>> "mr" in names(), info("glove-50").licence
(True, 'PDDL-1.0')
"""

from __future__ import annotations

from pathlib import Path

from unfooled.assets import store
from unfooled.assets.catalogue import CATALOGUE, Asset
from unfooled.assets.store import home
from unfooled.errors import InputError, did_you_mean

__all__ = ["Asset", "get", "home", "info", "installed", "names"]


def names() -> tuple[str, ...]:
    """Every asset there is."""
    return tuple(CATALOGUE)


def info(name: str) -> Asset:
    """What an asset is, its licence and its sources."""
    try:
        return CATALOGUE[name]
    except KeyError:
        raise InputError(f"no asset {name!r}; {did_you_mean(name, CATALOGUE)}") from None


def installed(name: str) -> bool:
    """Whether the asset is in `home()` already, so that `get` needs no network."""
    return store.installed(info(name), home())


def get(name: str, *, file: Path | str | None = None, progress: bool = True) -> Path:
    """The asset's folder; the first call fetches, converts and checks it.

    `file` names the asset's archive (or the raw file, folder or archive with the same members)
    for a machine without a network; then no other source is tried. An asset that is already
    there is left as it is: every source gives the same bytes.
    """
    asset, root = info(name), home()
    if store.installed(asset, root):
        return root / asset.name
    given = None if file is None else Path(file)
    return store.install(asset, root, file=given, shown=progress)
