"""Progress: nothing, lines or a bar, and messages that always come through."""

from __future__ import annotations

import io
import sys

import pytest

from unfooled import watch
from unfooled.engine import Stats


class Terminal(io.StringIO):
    """A standard error that a person looks at."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def after(seconds: float, texts: int, forwards: int) -> Stats:
    stats = Stats(texts=texts, forwards=forwards)
    stats.started -= seconds
    return stats


def test_rates() -> None:
    stats = after(10, 25, 123_456)
    stats.started += 1e-9
    assert watch.rates(stats) == "2.5 texts/s, 12,346 forwards/s"
    assert watch.rates(Stats()) == "0.0 texts/s, 0 forwards/s"


def test_silence_except_for_what_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    with watch.watching("work", total=3, wanted=False) as watcher:
        watcher.batch(after(9, 1, 1))
        watcher.text(after(9, 1, 1))
        assert capsys.readouterr() == ("", "")
        watcher.say("the victim is random")
    assert capsys.readouterr() == ("", "the victim is random\n")


def test_plain_lines_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(watch.time, "perf_counter", lambda: clock[0])
    with watch.watching("greedy on toy", total=50, done=10, wanted=True) as watcher:
        stats = Stats(started=100.0)
        for second in range(1, 13):
            clock[0] += 1
            stats.texts, stats.forwards = second, 10 * second
            (watcher.text if second % 2 else watcher.batch)(stats)
        watcher.say("[b]a remark[/b]")
    assert capsys.readouterr() == (
        "",
        "greedy on toy: 15 of 50 texts, 1.0 texts/s, 10 forwards/s\n"
        "greedy on toy: 20 of 50 texts, 1.0 texts/s, 10 forwards/s\n"
        "[b]a remark[/b]\n",
    )


def test_lines_of_work_without_an_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_EVERY", 0.0)
    with watch.watching("work", total=None, wanted=True) as watcher:
        watcher.batch(after(1, 2, 3))
    assert capsys.readouterr().err.startswith("work: 2 texts, ")


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    # A name like this would be markup, and markup that does not close is an error.
    with watch.watching("greedy on [/b]", total=50, done=10, wanted=True) as watcher:
        assert isinstance(watcher, watch.Bar)
        watcher.batch(after(1, 5, 500))
        watcher.say("[/i] is said as it is")
        watcher.text(after(2, 40, 4000))
        task = watcher.progress.tasks[0]
        assert (task.completed, task.total) == (50, 50)
    shown = screen.getvalue()
    assert "greedy on [/b]" in shown
    assert "[/i] is said as it is" in shown
    assert "texts/s" in shown
