"""An endpoint that misbehaves in every way."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from unfooled.errors import InputError, VictimError
from unfooled.space import Space
from unfooled.text import Text
from unfooled.victims import Part, load
from unfooled.victims.http import HTTPVictim

Act = Callable[[Any, dict[str, Any]], None]


def reply(handler: Any, body: Any, *, status: int = 200, **headers: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def good(handler: Any, asked: dict[str, Any]) -> None:
    """Scores are the lengths of the texts; of a pair those of both."""
    if "pairs" in asked:
        scores = [[len(a), len(b)] for a, b in asked["pairs"]]
    else:
        scores = [[len(text), 1] for text in asked["texts"]]
    reply(handler, {"scores": scores, "labels": ["no", "yes"]})


class Server:
    """A server that plays a list of acts, then behaves."""

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.handle(self)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/score?version=2"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def handle(self, handler: Any) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            self.asked.append(body)
            self.headers.append(
                {k.lower(): v for k, v in handler.headers.items()} | {"path": handler.path}
            )
            act = self.acts.pop(0) if self.acts else good
        try:
            act(handler, body)
        except OSError:
            handler.close_connection = True  # the client has hung up, as some tests want

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(5)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def client(server: Server, *acts: Act, **options: Any) -> tuple[HTTPVictim, list[float]]:
    """A victim with its labels known, before the acts start, and the waits it makes."""
    waits: list[float] = []
    settings = {
        "timeout": 5.0,
        "retries": 2,
        "labels": ["no", "yes"],
        "pause": waits.append,
    } | options
    labels = settings.pop("labels")
    server.acts = list(acts)
    return HTTPVictim(server.url, labels, **settings), waits


def status(code: int, **headers: str) -> Act:
    return lambda handler, _: reply(handler, {"error": "no"}, status=code, **headers)


def say(body: Any) -> Act:
    return lambda handler, _: reply(handler, body)


def hang_up(handler: Any, _: Any) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def half(handler: Any, _: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"scores": [[1')
    handler.close_connection = True


def test_scores_labels_and_the_request(server: Server) -> None:
    made = load(server.url, headers={"Authorization": "Bearer x"})
    assert made.labels == ("no", "yes")
    assert made.scores(["abc", "ü\ud800"]).tolist() == [[3, 1], [2, 1]]
    assert made.scores([("a", "bcd")]).tolist() == [[1, 3]]
    assert made.scores([]).shape == (0, 2)
    assert server.asked[1:] == [{"texts": ["abc", "ü\ud800"]}, {"pairs": [["a", "bcd"]]}]
    assert server.headers[0]["path"] == "/score?version=2"
    assert server.headers[0]["authorization"] == "Bearer x"
    assert made.fingerprint is None


def test_labels_can_be_given_counted_or_learned_from_pairs(server: Server) -> None:
    assert HTTPVictim(server.url, ["a", "b"]).labels == ("a", "b")
    assert server.asked == []
    server.acts = [say({"scores": [[1, 2, 3]]})]
    assert HTTPVictim(server.url).labels == ("0", "1", "2")
    server.acts = [status(422)]
    assert HTTPVictim(server.url).labels == ("no", "yes")
    assert server.asked[-1] == {"pairs": [["ok", "ok"]]}


def test_rows_are_sent_in_bounded_requests_at_once(server: Server) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def slow(handler: Any, asked: dict[str, Any]) -> None:
        # Counted before the answer goes out: after it the client may well have sent the next.
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        good(handler, asked)

    made, _ = client(server, *[slow] * 20, concurrency=3, batch_rows=2)
    space = Space("good film", {0: ("fine", "great", "acceptable"), 1: ("story",)})
    prepared = made.prepare(space)
    rows = np.concatenate(list(space.enumerate()))
    handles = [made.submit([Part(prepared, rows)]) for _ in range(2)]
    expected = [len(str(space.text(row))) for row in rows]
    assert [handle()[:, 0].tolist() for handle in handles] == [expected, expected]
    assert most == made.depth == 3
    assert max(len(asked["texts"]) for asked in server.asked) == 2


def test_pairs_of_a_space(server: Server) -> None:
    made, _ = client(server)
    space = Space(Text.pair("ab", "good film"), {0: ("fine",)})
    part = Part(made.prepare(space), np.array([[1]], dtype=np.int16))
    assert made.submit([part])().tolist() == [[2, 9]]


@pytest.mark.parametrize("act", [status(500), status(503), status(429), hang_up, half])
def test_passing_failures_are_tried_again(server: Server, act: Act) -> None:
    made, waits = client(server, act, act)
    assert made.scores(["abc"]).tolist() == [[3, 1]]
    assert waits == [0.5, 1.0]
    assert len(server.asked) == 3


def test_retry_after_is_honoured_and_bounded(server: Server) -> None:
    soon = formatdate(time.time() + 20, usegmt=True)
    made, waits = client(
        server,
        status(429, Retry_After="7"),
        status(503, Retry_After=soon),
        status(503, Retry_After="86400"),
        status(503, Retry_After="whenever"),
        retries=4,
    )
    made.scores(["x"])
    assert waits[0] == 7
    assert 15 < waits[1] <= 20
    assert waits[2:] == [30, 4]


def test_a_dead_server_is_given_up_and_then_asked_only_once(server: Server) -> None:
    made, waits = client(server, *[status(500)] * 4)
    with pytest.raises(VictimError, match=r"127\.0\.0\.1.*status 500.*expected JSON"):
        made.scores(["x"])
    assert waits == [0.5, 1.0]
    with pytest.raises(VictimError, match="status 500"):
        made.scores(["x"])
    assert len(server.asked) == 4
    assert made.scores(["abc"]).tolist() == [[3, 1]]


def test_silence_and_trickles_end_in_time(server: Server) -> None:
    gone = threading.Event()

    def silent(handler: Any, _: Any) -> None:
        gone.wait(3)

    def trickle(handler: Any, _: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _tick in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            if gone.wait(0.05):
                return

    for act in (silent, trickle):
        made, _ = client(server, act, timeout=0.3, retries=0)
        began = time.monotonic()
        with pytest.raises(VictimError, match=r"within 0\.3 s"):
            made.scores(["x"])
        assert time.monotonic() - began < 2
    gone.set()


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (status(404), "status 404"),
        (status(400), r"status 400 .*error"),
        (status(302, Location="http://elsewhere.test/"), "redirect to http://elsewhere.test/"),
        (say(b"<html>"), "no JSON"),
        (say(b"\xff\xfe"), "no JSON"),
        (say([[1, 2]]), "expected JSON"),
        (say({"probabilities": [[1, 2]]}), "expected JSON"),
        (say({"scores": [[1, 2], [3, 4]]}), r"shape \(2, 2\)"),
        (say({"scores": [[1, 2, 3]]}), r"shape \(1, 3\)"),
        (say({"scores": [["a", "b"]]}), "expected numbers"),
        (say({"scores": [[1, None]]}), "expected numbers"),
        (say({"scores": {"a": 1}}), "shape"),
        (say({"scores": [[1, 2]], "labels": ["yes", "no"]}), "labels yes, no"),
        (say({"scores": [[1, 2]], "labels": "yes"}), "expected a list"),
    ],
)
def test_wrong_answers_are_not_tried_again(server: Server, act: Act, said: str) -> None:
    made, waits = client(server, act)
    with pytest.raises(VictimError, match=said):
        made.scores(["x"])
    assert waits == []
    assert len(server.asked) == 1


def test_nobody_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    waits: list[float] = []
    with pytest.raises(VictimError, match="cannot be reached"):
        HTTPVictim(f"http://127.0.0.1:{port}/", retries=1, pause=waits.append)
    assert waits == [0.5]


def test_proxies_of_the_environment_are_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    made, _ = client(server)
    assert made.scores(["abc"]).tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("http:///path", {}, "not an address"),
        ("ftp://host/", {}, "not an address"),
        ("http://host/", {"timeout": 0}, "timeout 0"),
        ("http://host/", {"retries": -1}, "retries -1"),
        ("http://host/", {"concurrency": 0}, "concurrency 0"),
    ],
)
def test_bad_options(url: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        HTTPVictim(url, 2, **options)


def test_texts_and_pairs_do_not_mix(server: Server) -> None:
    made, _ = client(server)
    with pytest.raises(InputError, match="mixed"):
        made.scores(["a", ("b", "c")])
