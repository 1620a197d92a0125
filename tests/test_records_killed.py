"""Runs that are killed at random moments end like runs that are not.

The program under test is a row of COMMANDS: a function from the run folder to a command line that
does the whole work into that folder, resuming what is there. Nothing else here knows the program.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unfooled.records import TIMING, read

KILLS = 21
TORN = 200  # bytes that a torn line made here has at most
PATIENCE = 60.0  # seconds for one start, on a machine that does other things as well

# Texts in another order each time; every tenth record is so long that a kill can land inside it.
WORKER = """
import os, random, sys, time
from unfooled.records import Run, record_key, rng_for
manifest = {"method": "m", "options": {"radius": 2}, "seed": 7, "fingerprints": {"victim": "v"}}
numbers = list(range(150))
random.SystemRandom().shuffle(numbers)
with Run.open(sys.argv[1], manifest) as run:
    for number in numbers:
        key = record_key(example=str(number), method="m", options={"radius": 2}, victim="v")
        if key not in run.done:
            rng = rng_for(7, key)
            time.sleep(0.002)
            text = "na\\u00efve " * (100_000 if number % 10 == 0 else 3)
            row = rng.integers(9, size=4)
            run.append({"key": key, "text": text, "row": row, "seconds": time.time()})
"""


def worker(folder: Path) -> list[str]:
    return [sys.executable, "-c", WORKER, str(folder)]


# The real command line on a victim that takes its time, two texts at once: every moment between
# the start of Python and the last record is one at which a kill can come.
VICTIM = """
import time
LABELS = ["neg", "pos"]
WEIGHTS = {"good": 1.0, "fine": 0.8, "nice": 0.5, "ok": -0.5}
def score(texts):
    time.sleep(0.004)
    return [[0.0, sum(WEIGHTS.get(word, 0.0) for word in text.split())] for text in texts]
"""
TEXTS = ("a good film", "a fine good film", "a nice film", "no film", "fine good nice film")


def command_line(folder: Path) -> list[str]:
    desk = folder.parent
    victim, data, table = desk / "victim.py", desk / "data.csv", desk / "table.json"
    if not table.exists():
        victim.write_text(VICTIM)
        rows = [f"{text} {number},pos" for number in range(12) for text in TEXTS]
        data.write_text("\n".join(["text,label", *rows, ""]))
        table.write_text('{"good": ["nice", "ok"], "fine": ["ok"], "film": ["movie"]}')
    start = [sys.executable, "-c", "from unfooled.cli import main; main()", "attack", "beam"]
    options = ["--candidates", f"table:{table}", "--in-flight", "2", "--max-swaps", "2", "--quiet"]
    return [*start, f"python:{victim}:score", str(data), *options, "--out", str(folder)]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "worker": worker,
    "command line": command_line,
}


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        key: {name: value for name, value in record.items() if name not in TIMING}
        for key, record in read(folder).done.items()
    }


def whole_lines(folder: Path) -> bytes:
    path = folder / "records.jsonl"
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def kill_once(command: list[str], folder: Path, *, chance: random.Random, most: int) -> bool:
    """Starts the command and kills it: while it starts, or after a few of its next `most` lines.

    False when the command came to its end before the kill did.
    """
    path = folder / "records.jsonl"
    begin, goal = len(whole_lines(folder)), chance.randint(1, max(1, most))
    early = chance.random() < 0.2
    moment = time.monotonic() + (chance.uniform(0, 0.3) if early else PATIENCE)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and time.monotonic() < moment:
        if not early and path.exists():
            with path.open("rb") as file:
                file.seek(begin)
                new = file.read()
            if new.count(b"\n") + (len(new) > TORN and not new.endswith(b"\n")) >= goal:
                break
        time.sleep(0.0002)
    process.send_signal(signal.SIGKILL)
    return process.wait(PATIENCE) == -signal.SIGKILL


def tear(folder: Path, chance: random.Random) -> None:
    """Leaves what a kill inside a write leaves: the beginning of a line."""
    line = whole_lines(folder).splitlines(keepends=True)[0].replace(b'"key":"', b'"key":"torn', 1)
    with (folder / "records.jsonl").open("ab") as file:
        file.write(line[: chance.randrange(1, min(len(line) - 2, TORN))])


def kill_to_the_end(
    command: list[str], folder: Path, *, chance: random.Random, kills: int, records: int
) -> int:
    """Kills the command up to `kills` times, then lets it finish; the number of kills that hit."""
    before, hit = b"", 0
    while hit < kills:
        left = records - before.count(b"\n")
        if not kill_once(command, folder, chance=chance, most=left // (kills - hit + 1)):
            break
        hit += 1
        after = whole_lines(folder)
        assert after.startswith(before), "a recorded line was lost or changed"
        before = after
        torn = before and (folder / "records.jsonl").stat().st_size > len(before)
        if before and not torn and chance.random() < 0.3:
            tear(folder, chance)
    subprocess.run(command, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    assert whole_lines(folder).startswith(before), "a recorded line was lost or changed"
    return hit


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_killed_many_times_ends_like_one_that_was_not(name: str, tmp_path: Path) -> None:
    calm, kills = tmp_path / "calm", 0
    subprocess.run(COMMANDS[name](calm), check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    expected = outcomes(calm)
    seed = random.SystemRandom().randrange(10**9)
    print(f"chance seeded with {seed}")  # shown by pytest when the test fails
    chance = random.Random(seed)
    for attempt in range(10):  # a busy machine may let the work end before enough kills hit
        folder = tmp_path / f"killed-{attempt}"
        kills += kill_to_the_end(
            COMMANDS[name](folder),
            folder,
            chance=chance,
            kills=KILLS - kills,
            records=len(expected),
        )
        assert outcomes(folder) == expected
        assert (folder / "records.jsonl").read_bytes().count(b"\n") == len(expected)
        assert read(folder).repaired == 0
        if kills >= KILLS:
            break
    assert kills >= 20
