"""A classifier behind an HTTP address: JSON in, JSON out, with the standard library alone.

Asked:    POST {"texts": ["...", ...]}           or {"pairs": [["premise", "hypothesis"], ...]}
Answered: {"scores": [[...], ...], "labels": ["...", ...]}, a row for each text; labels are optional
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from unfooled.errors import InputError, VictimError
from unfooled.text import Source
from unfooled.victims.base import Floats, Part, StringVictim, checked
from unfooled.victims.callables import Labels, named

_EXPECTED = 'expected JSON like {"scores": [[0.1, 0.9], ...]} with a row for each text'
_LONGEST_WAIT = 30.0  # seconds, however long a Retry-After asks for
_LARGEST = 1 << 28  # bytes of an answer


class _Passing(Exception):
    """A failure that another attempt may cure, and how long the server wants to be left alone."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Answer(NamedTuple):
    """The status, the headers in lower case and the body of one response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HTTPVictim(StringVictim):
    """An endpoint that scores texts.

    `timeout` seconds for each attempt, `retries` further attempts after 429, 5xx, a broken connection
    or silence (waiting 0.5, 1, 2, ... seconds, or what Retry-After says), `concurrency` requests at
    a time. Proxies and redirects are not followed: what is scored is what the address says.
    """

    def __init__(
        self,
        url: str,
        labels: Labels | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 8,
        headers: Mapping[str, str] | None = None,
        batch_rows: int = 32,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{url!r} is not an address: expected http(s)://host[:port]/path")
        if timeout <= 0 or retries < 0 or concurrency < 1 or batch_rows < 1:
            raise InputError(
                f"timeout {timeout}, retries {retries}, concurrency {concurrency}, batch_rows "
                f"{batch_rows}: expected a positive time, 0 or more retries, 1 or more of the others"
            )
        self.name = self.url = url
        self.depth, self.batch_rows = concurrency, batch_rows
        self._timeout, self._retries, self._pause = timeout, retries, pause
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._headers |= dict(headers or {})
        self._down = False  # all retries failed: until it answers again it is asked only once
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="unfooled-http")
        self.labels = named(labels) if labels is not None else self._learn_labels()

    @property
    def fingerprint(self) -> None:
        return None

    def scores(self, sources: Sequence[Source]) -> Floats:
        return self._start(list(sources))()

    def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
        return self._start(
            [s for p in parts for s in p.prepared.space.sources(p.rows, unknown=self.unknown)]
        )

    def _start(self, sources: list[Source]) -> Callable[[], Floats]:
        size = self.batch_rows
        chunks = [sources[i : i + size] for i in range(0, len(sources), size)]
        futures: list[Future[Floats]] = [self._pool.submit(self._scores, c) for c in chunks]
        empty = np.empty((0, len(self.labels)))
        return lambda: np.concatenate([empty, *(future.result() for future in futures)])

    def _scores(self, sources: list[Source]) -> Floats:
        answer = self._ask(sources)
        labels = answer.get("labels")
        if labels is not None and tuple(map(str, labels)) != self.labels:
            said = ", ".join(map(str, labels))
            raise VictimError(
                f"{self.url} answered with the labels {said:.120}; expected {', '.join(self.labels)}"
            )
        return checked(answer["scores"], n=len(sources), classes=len(self.labels), name=self.url)

    def _learn_labels(self) -> tuple[str, ...]:
        """The labels of the answer to a probe; an endpoint that reads only pairs refuses the first."""
        try:
            answer = self._ask(["ok"])
        except VictimError as refusal:
            if self._down:
                raise
            try:
                answer = self._ask([("ok", "ok")])
            except VictimError:
                raise refusal from None
        labels, scores = answer.get("labels"), np.asarray(answer["scores"])
        if labels is None and scores.ndim != 2:
            raise VictimError(
                f"{self.url} answered with scores of shape {scores.shape}; {_EXPECTED}"
            )
        return named(labels if labels is not None else int(scores.shape[1]))

    # --- one question --------------------------------------------------------------------------

    def _ask(self, sources: list[Source]) -> dict[str, Any]:
        pairs = [list(source) for source in sources if not isinstance(source, str)]
        if pairs and len(pairs) < len(sources):
            raise InputError("single texts and pairs cannot be mixed in one question")
        body = json.dumps({"pairs": pairs} if pairs else {"texts": sources}).encode()
        for attempt in range(self._retries + 1):
            try:
                answer = self._answer(body)
            except _Passing as failure:
                if attempt == self._retries or self._down:
                    self._down = True
                    raise VictimError(f"{self.url} {failure}; {_EXPECTED}") from failure
                wait = 0.5 * 2**attempt if failure.wait is None else failure.wait
                self._pause(min(wait, _LONGEST_WAIT))
            else:
                self._down = False
                return answer
        raise AssertionError("the last attempt returns or raises")

    def _answer(self, body: bytes) -> dict[str, Any]:
        try:
            status, headers, content = self._post(body)
        except TimeoutError as error:
            raise _Passing(f"did not answer within {self._timeout:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise _Passing(f"cannot be reached or broke off: {reason:.120}") from error
        if status == 429 or status >= 500:
            raise _Passing(f"answered with status {status}", _wait(headers.get("retry-after")))
        if 300 <= status < 400:
            target = headers.get("location", "elsewhere")
            raise VictimError(
                f"{self.url} answered with status {status}, a redirect to {target}: give that address"
            )
        if status != 200:
            said = content[:200].decode("utf-8", "replace")
            raise VictimError(f"{self.url} answered with status {status} ({said!r}); {_EXPECTED}")
        return self._read(content)

    def _read(self, content: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(content)
        except ValueError as error:
            said = content[:80].decode("utf-8", "replace")
            raise VictimError(
                f"{self.url} answered {said!r}, which is no JSON; {_EXPECTED}"
            ) from error
        labels = answer.get("labels") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or "scores" not in answer:
            raise VictimError(f"{self.url} answered {str(answer)!r:.80}; {_EXPECTED}")
        if labels is not None and not isinstance(labels, list):
            raise VictimError(f"{self.url} answered with labels {labels!r:.60}; expected a list")
        return answer

    def _post(self, body: bytes) -> Answer:
        """One request on a connection of its own, ended when its time is up even if bytes trickle."""
        parts = urlsplit(self.url)
        https = parts.scheme == "https"
        make = http.client.HTTPSConnection if https else http.client.HTTPConnection
        ends = time.monotonic() + self._timeout
        connection = make(parts.hostname or "", parts.port, timeout=self._timeout)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body=body, headers=self._headers)
            with connection.getresponse() as response:  # it may own the socket, not the connection
                content = self._body(response, ends)
                headers = {name.lower(): value for name, value in response.getheaders()}
                return Answer(response.status, headers, content)
        finally:
            connection.close()

    def _body(self, response: http.client.HTTPResponse, ends: float) -> bytes:
        content = bytearray()
        while chunk := response.read1(1 << 16):
            content += chunk
            if time.monotonic() > ends:
                raise TimeoutError
            if len(content) > _LARGEST:
                raise VictimError(f"{self.url} answered with over {_LARGEST} bytes; {_EXPECTED}")
        if response.length:  # read1 ends in silence where the server hung up early
            raise http.client.IncompleteRead(bytes(content), response.length)
        return bytes(content)


def _wait(retry_after: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, in seconds or as a date; None without one."""
    if not retry_after:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
