"""What a person sees of a training."""

from __future__ import annotations

import io
import sys

import pytest

from unfooled.models.progress import watched


def story(steps: int, *, wanted: bool) -> None:
    with watched("cnn", steps=steps, wanted=wanted) as progress:
        for step in range(steps):
            progress.step(1 / (step + 1))
        progress.epoch("epoch 1/1  loss 0.5")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_one_plain_line_an_epoch(capsys: pytest.CaptureFixture[str]):
    story(3, wanted=True)
    printed = capsys.readouterr()
    assert printed.err == "epoch 1/1  loss 0.5\n"
    assert printed.out == ""


def test_silence_when_not_wanted(capsys: pytest.CaptureFixture[str]):
    story(3, wanted=False)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_and_the_line(monkeypatch: pytest.MonkeyPatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    story(3, wanted=True)
    assert "epoch 1/1  loss 0.5" in screen.getvalue()
    assert "cnn" in screen.getvalue()
    assert "\x1b[" in screen.getvalue()
