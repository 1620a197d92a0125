"""Ctrl-C and SIGTERM keep what is done, say where, and the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_desk import Desk

from unfooled.records import read

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGINT")
# A shell has its background jobs ignore Ctrl-C, and so all that they start: these tests too.
SCRIPT = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from unfooled.cli import main; main()"
)
SLEEPY = "import pathlib, time\npathlib.Path('loading').touch()\ntime.sleep(60)\n"


def outcomes(folder: Path) -> dict[str, Any]:
    return read(folder).done


def lines(folder: Path) -> int:
    path = folder / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_ctrl_c_keeps_what_is_done_and_says_where(desk: Desk) -> None:
    texts = [f"a {word} film {i},pos" for i in range(8) for word in ("good", "fine good", "great")]
    data = desk.write("many.csv", "\n".join(["text,label", *texts]))

    def command(folder: str, victim: str) -> list[str]:
        words = ["attack", "greedy", desk.victim(victim), data, *desk.candidates]
        return [
            sys.executable,
            "-c",
            SCRIPT,
            *words,
            "--in-flight",
            "2",
            "--quiet",
            "--out",
            folder,
        ]

    assert subprocess.run(command("calm", "slow"), timeout=60, check=True, capture_output=True)
    stops = 0
    for turn in range(10):
        number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[turn % 2]
        before = lines(Path("run"))
        process = subprocess.Popen(
            command("run", "slow"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 60
        while lines(Path("run")) < before + 8 and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        if lines(Path("run")) == len(texts):  # too late to stop it
            break
        stops += 1
        assert process.returncode == code
        assert out == ""
        assert err == "unfooled: stopped; what is done is in run, the same command goes on\n"
        assert lines(Path("run")) >= before + 8
    assert stops >= 2
    assert outcomes(Path("run")) == outcomes(Path("calm"))


@pytest.mark.parametrize(
    "command", [("audit",), ("certify", "exhaustive"), ("estimate", "--radius", "1")]
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_every_run_that_is_stopped_can_go_on(
    desk: Desk, command: tuple[str, ...], number: int, code: int
) -> None:
    rows = [f"a {w} film {i},pos" for i in range(9) for w in ("good", "fine good", "great")]
    data = desk.write("many.csv", "\n".join(["text,label", *rows]))
    words = [*command, desk.victim("slow"), data, *desk.candidates, "--in-flight", "2", "-q"]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words, "--out", "run"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    known = 27 if command == ("audit",) else 0  # an audit begins with the candidates of all
    deadline = time.monotonic() + 60
    while lines(Path("run")) < known + 4 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err == "unfooled: stopped; what is done is in run, the same command goes on\n"
    kept = outcomes(Path("run"))
    assert len(kept) >= known + 4
    assert desk.run(*words, "--out", "run").code == 0
    assert dict(list(outcomes(Path("run")).items())[: len(kept)]) == kept


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_keeps_no_run_says_that_it_was_stopped(
    desk: Desk, number: int, code: int
) -> None:
    assert desk.attack("--out", "run").code == 0
    desk.write("sleepy.py", SLEEPY)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "check", "run", "python:sleepy.py:f"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not Path("loading").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.communicate(timeout=60) == ("", "unfooled: stopped\n")
    assert process.returncode == code


def test_what_is_set_for_sigterm_is_put_back(desk: Desk) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert desk.attack("--out", "run").code == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_package_is_the_command() -> None:
    words = [sys.executable, "-m", "unfooled", "--version"]
    done = subprocess.run(words, timeout=60, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("unfooled ")


def test_ctrl_c_while_the_victim_is_loaded_is_no_traceback(desk: Desk) -> None:
    desk.write("sleepy.py", SLEEPY)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "attack", "greedy", "python:sleepy.py:f", desk.data],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not Path("loading").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "unfooled: stopped; nothing was begun\n"
