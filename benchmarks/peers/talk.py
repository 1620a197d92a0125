"""A process that reads one request a line and answers one line, both JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self


@dataclass
class Talk:
    """A script of a peer, run by the interpreter that has the peer; ends with the `with` block."""

    python: Path
    script: Path
    surroundings: Mapping[str, str]
    _process: subprocess.Popen[str] = field(init=False)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [self.python, "-P", self.script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=self.surroundings,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        if kind is not None:
            self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, **request: Any) -> Any:
        """The answer to a request; `do` says what is wanted."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(
                f"the process of the peer ended at {request['do']!r}; its errors are above"
            )
        return json.loads(line)
