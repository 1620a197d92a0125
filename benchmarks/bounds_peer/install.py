"""`python -m benchmarks.bounds_peer.install`: puts both peers into `.venv-bounds`, away from ours.

They are never a dependency: the benchmark talks to a process that runs there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv-bounds"
PEERS = ("auto_LiRPA==0.3", "bound-propagation==0.4.7")
NEEDED = ("packaging", "appdirs", "tqdm")  # by what auto_LiRPA imports
_STAMP = ".installed"


def interpreter(home: Path = HOME) -> Path:
    """The Python that has the peers; installs them when they are not there."""
    if not (home / _STAMP).exists():
        install(home)
    return home / "bin" / "python"


def install(home: Path = HOME) -> None:
    """Makes the environment anew."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
    pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet"]
    torch, numpy = version("torch").partition("+")[0], version("numpy")
    subprocess.run([*pip, f"torch=={torch}", f"numpy=={numpy}", *NEEDED], check=True)
    # auto_LiRPA 0.3 asks for torch before 1.13, for test tools and for a linter: it gets none of
    # them, and what it misses in our torch is put back where it is run.
    subprocess.run([*pip, "--no-deps", *PEERS], check=True)
    (home / _STAMP).touch()


def surroundings() -> dict[str, str]:
    """The environment variables of the process: one thread, and nothing of ours on its path."""
    rest = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return rest | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


if __name__ == "__main__":
    install()
    print(f"{', '.join(PEERS)} are in {HOME}")
