"""A desk for the command line: a victim, data and candidates in files, and a way to run commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_desk import ROWS, TABLE, VICTIM, Desk, Done

from unfooled.cli import main


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # a python: victim adds the current folder
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*args: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["unfooled", *args])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return Done(int(end.value.code or 0), out, err)

    made = Desk(tmp_path, run)
    made.write("victim.py", VICTIM)
    made.write("table.json", json.dumps(TABLE))
    made.write("data.csv", "text,label\n" + "".join(f"{t},{y}\n" for t, y in ROWS))
    return made
