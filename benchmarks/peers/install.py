"""`python -m benchmarks.peers.install`: puts TextAttack into `.venv-peers`, away from our environment.

It is never a dependency: the benchmarks talk to a process that runs there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import unfooled as uf

PEER = "textattack==0.3.11"
ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv-peers"
_STAMP = ".installed"


def interpreter(home: Path = HOME) -> Path:
    """The Python that has TextAttack; installs it when it is not there."""
    if not (home / _STAMP).exists():
        install(home)
    return home / "bin" / "python"


def install(home: Path = HOME) -> None:
    """Makes the environment anew."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
    python = home / "bin" / "python"
    # torch first, by pip and in our version, so that the resolver finds it there and both sides
    # compute the same. numpy likewise: how it orders equal values is its own affair.
    torch = version("torch").partition("+")[0]
    _pip(python, f"torch=={torch}", "uv")
    # flair is what TextAttack asks for in any version: left alone, a resolver that is told of numpy
    # goes back to one that has to be compiled.
    peers = [PEER, "flair==0.15.1", f"numpy=={version('numpy')}"]
    subprocess.run(
        [home / "bin" / "uv", "pip", "install", "--quiet", "--python", python, *peers], check=True
    )
    prepare(home)
    (home / _STAMP).touch()


def prepare(home: Path) -> None:
    """Puts on disk what TextAttack would download when it is imported."""
    (home / "cache").mkdir(exist_ok=True)
    (home / "cache" / "post_install_check_3").touch()  # its mark that downloads are done
    words = home / "nltk_data" / "corpora" / "stopwords"  # NLTK looks in its environment's folder
    words.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(uf.assets.get("stopwords")) / "english.txt", words / "english")


def surroundings(home: Path = HOME) -> dict[str, str]:
    """The environment variables of a process of the peer: one thread, no hub, our sources."""
    return os.environ | {
        "TA_CACHE_DIR": str(home / "cache"),
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "ignore",
    }


def _pip(python: Path, *names: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *names], check=True)


if __name__ == "__main__":
    install()
    print(f"{PEER} is in {HOME}")
