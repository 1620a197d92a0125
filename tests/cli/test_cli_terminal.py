"""What people see: help that teaches, narrow windows, other encodings, readers that leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_desk import Desk

COMMANDS = [
    ("attack",),
    ("candidates",),
    ("train",),
    ("merge",),
    ("assets",),
    ("assets", "list"),
    ("assets", "get"),
]


@pytest.mark.parametrize("words", [(), *COMMANDS], ids=" ".join)
@pytest.mark.parametrize("width", [40, 80])
def test_help_teaches_by_example(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for flag in ("--help", "-h"):
        done = desk.run(*words, flag)
        assert (done.code, done.err) == (0, "")
        assert "Example: unfooled " in " ".join(done.out.split())
        assert max(map(len, done.out.splitlines())) <= width


def test_examples_in_the_help_are_commands_with_options_that_exist(desk: Desk) -> None:
    """The help of `candidates` once showed an option that was called otherwise."""
    for words in COMMANDS:
        text = " ".join(desk.run(*words, "--help").out.split())
        example = text.split("Example: unfooled ")[1].split(" ╭")[0].split()
        options = [word.split("=")[0] for word in example if word.startswith("-")]
        shown = desk.run(example[0], "--help").out if words != ("attack",) else text + "--width"
        assert all(option in shown for option in options), (words, options)


def test_no_arguments_is_help(desk: Desk) -> None:
    for words in ((), ("attack",), ("assets",)):
        done = desk.run(*words)
        assert "Usage: unfooled" in done.out + done.err
        assert "Traceback" not in done.err


def test_the_version(desk: Desk) -> None:
    from unfooled import __version__

    assert desk.run("--version").out == f"unfooled {__version__}\n"


def test_a_narrow_window(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    long = desk.write("long.csv", f"text,label\n{'a rather plain and ' * 9}good film,pos\n")
    for done in (
        desk.attack("--out", "run"),
        desk.attack("--out", "run2", data=long),
        desk.attack("--out", "run3", victim="touchy"),
        desk.run("attack", "--list"),
        desk.run("candidates", "a good film " * 9, *desk.candidates),
        desk.run("assets", "list"),
    ):
        assert (done.code, done.err) == (0, "")
        lines = [line for line in done.out.splitlines() if not line.startswith("kept in ")]
        assert max(map(len, lines)) <= 40
        assert "…" not in done.out, "words are folded, not cut"


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_terminal_with_another_encoding(desk: Desk, encoding: str) -> None:
    data = desk.write("signs.csv", "text,label\n“a good film” – naïve 電影 🎬,pos\nno good,pos\n")
    script = "from unfooled.cli import main; main()"
    for words in (
        ["attack", "greedy", desk.victim(), data, *desk.candidates, "--out", f"run-{encoding}"],
        ["attack", "grædy", desk.victim(), data],
        ["--help"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode(encoding)
        assert done.returncode == (2 if "grædy" in words else 0)
        shown = (done.stdout + done.stderr).decode(encoding)
        if words[0] == "attack" and done.returncode == 0:
            assert f"[good {'→' if encoding == 'utf-8' else '?'} ok]" in shown
            assert ("電影" in shown) == (encoding == "utf-8")


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
@pytest.mark.parametrize(
    ("words", "reader"),
    [("TABLE", "head -1"), ("TABLE", "true"), ("assets list --json", "true"), ("-h", "head -1")],
)
def test_a_reader_that_leaves_is_no_news(desk: Desk, words: str, reader: str) -> None:
    table = f"attack greedy {desk.victim()} {desk.data} --candidates {desk.candidates[1]} --quiet"
    script = f"{sys.executable} -c 'from unfooled.cli import main; main()'"
    done = subprocess.run(
        f"{script} {table if words == 'TABLE' else words} | {reader}",
        shell=True, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk")
def test_a_full_disk_is_one_sentence(desk: Desk) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from unfooled.cli import main; main()", "assets", "list", "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("unfooled: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("width", [40, 50, 79])
def test_a_narrow_window_cuts_no_name_of_an_option(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in ("audit", "attack", "certify", "sweep", "train", "check", "report", "merge"):
        shown = desk.run(command, "--help").out
        assert "…" not in shown.replace("http(s)://…", ""), command
        assert "[b]" not in shown
        assert max(map(len, shown.splitlines())) <= width


def test_paragraphs_of_help_fill_their_lines(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert (
        " An attack gives the upper bound, a proof the lower one; where they meet, the   \n"
        " minimum is known exactly. PR is the share of texts within the radius that keep \n"
    ) in desk.run("audit", "--help").out
