"""`PredictionServer`: HTTP for a model that answers lines, by the standard library's server.

Requests of other hosts' names are refused (a web page could have its own name point here), as are requests
that are too large; a client that is too slow, or one too many, is disconnected.
"""

import contextlib
import http
import io
import json
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from steelyard.cli.served_model import ServedModel

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
IDLE, READING, ANSWERING = "idle", "reading", "answering"
_GRACE = 10.0  # seconds that requests have to end when the server stops
_CONTENT = "application/x-ndjson; charset=utf-8"


class PredictionServer(ThreadingHTTPServer):
    """Serves until `shutdown`, after which `drain` lets requests end. Connections have a thread each."""

    daemon_threads = True  # `drain` waits for them, but not for ever
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        model: ServedModel,
        *,
        most_bytes: int,
        most_clients: int,
        timeout: float,
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.model = model
        self.most_bytes, self.client_timeout = most_bytes, timeout
        self.hosts = {*_LOOPBACK, address[0]} if address[0] in _LOOPBACK else None  # None: any
        self.began = time.monotonic()
        self.answered = 0
        self.stopping = False
        self._free = threading.Semaphore(most_clients)
        self._open: dict[Any, tuple[str, float]] = {}  # connections: what they are at, and since when
        self._changed = threading.Condition()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer would also ask the network for our name
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            body = _error("too many clients at once: try again soon")
            head = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            request.sendall(b"HTTP/1.1 503 Service Unavailable\r\n" + head.encode() + body)
            self.shutdown_request(request)
            return
        self.mark(request, IDLE)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:  # at once: where nobody is connected any more, there is room for the next
                del self._open[request]
                self._free.release()
                self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no news."""

    def mark(self, request: Any, state: str) -> None:
        """Note what a connection is at: between requests it may be closed at any moment."""
        with self._changed:
            self._open[request] = state, time.monotonic()
            if self.stopping and state == IDLE:
                _hang_up(request)

    def count(self) -> None:
        with self._changed:  # threads that add at once would lose some
            self.answered += 1

    def service_actions(self) -> None:
        """Now and then: hang up on those who send a request byte by byte."""
        late = time.monotonic() - self.client_timeout
        with self._changed:
            for request, (state, since) in self._open.items():
                if state == READING and since < late:
                    _hang_up(request)

    def drain(self) -> None:
        """When no more connections are taken: answer the requests that have begun."""
        with self._changed:
            self.stopping = True
            for request, (state, _) in self._open.items():
                if state == IDLE:
                    _hang_up(request)
            self._changed.wait_for(lambda: not self._open, _GRACE)


class _Handler(BaseHTTPRequestHandler):
    server: PredictionServer
    rfile: io.BufferedReader
    protocol_version = "HTTP/1.1"  # connections stay open
    server_version, sys_version = "steelyard", ""
    wbufsize = 1 << 16  # head and body leave together
    disable_nagle_algorithm = True

    def setup(self) -> None:
        self.request.settimeout(self.server.client_timeout)
        super().setup()

    def handle_one_request(self) -> None:
        try:
            self.rfile.peek(1)  # a request begins with its first byte, and may not take for ever from there
        except TimeoutError:
            self.close_connection = True
            return
        self.server.mark(self.request, READING)
        super().handle_one_request()
        self.server.mark(self.request, IDLE)

    def do_GET(self) -> None:
        if not self._is_welcome():
            return
        server = self.server
        if self.path == "/health":
            found = {
                "status": "ok", "model": str(server.model.path), "format": server.model.format,
                "columns": server.model.columns,
                "loads": server.model.loads, "requests": server.answered,
                "seconds": round(time.monotonic() - server.began, 3),
            }  # fmt: skip
            self._answer(http.HTTPStatus.OK, json.dumps(found).encode() + b"\n")
        elif self.path == "/predict":
            self._answer(http.HTTPStatus.METHOD_NOT_ALLOWED, _error("POST lines to /predict"), Allow="POST")
        else:
            self._answer(http.HTTPStatus.NOT_FOUND, _error("there are POST /predict and GET /health"))

    def do_POST(self) -> None:
        if not self._is_welcome():
            return
        status, size = self._size()
        if size is None:
            self.close_connection = True  # its body was not read
            most = f"a request needs a Content-Length of at most {self.server.most_bytes:,} bytes"
            self._answer(status, _error(f"{status.phrase}: {most}"))
            return
        text = self.rfile.read(size)
        self.server.mark(self.request, ANSWERING)
        if len(text) < size:
            self.close_connection = True
        elif self.path != "/predict":
            self._answer(http.HTTPStatus.NOT_FOUND, _error("there are POST /predict and GET /health"))
        else:
            body = self.server.model.answer(text)
            self.server.count()  # before the client has its answer, and may ask how many there were
            self._answer(http.HTTPStatus.OK, body)

    def _is_welcome(self) -> bool:
        given = self.headers.get("Host", "")
        name = given[1:].partition("]")[0] if given.startswith("[") else given.partition(":")[0]
        if self.server.hosts is None or name.lower() in self.server.hosts:
            return True
        self.close_connection = True
        self._answer(http.HTTPStatus.FORBIDDEN, _error(f"this is not {given!r}: use {self.server.url}"))
        return False

    def _size(self) -> tuple[http.HTTPStatus, int | None]:
        given = "" if "Transfer-Encoding" in self.headers else self.headers.get("Content-Length", "")
        if not given.isascii() or not given.isdigit():
            return http.HTTPStatus.LENGTH_REQUIRED, None
        if int(given) > self.server.most_bytes:
            return http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE, None
        return http.HTTPStatus.OK, int(given)

    def _answer(self, status: http.HTTPStatus, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", _CONTENT)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection or self.server.stopping:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Requests are not logged: a line for each would cost more than the prediction."""


def _error(message: str) -> bytes:
    return json.dumps({"error": message}, ensure_ascii=False).encode() + b"\n"


def _hang_up(request: socket.socket) -> None:
    """Whoever waits for the next request on this connection sees its end."""
    with contextlib.suppress(OSError):  # it has gone already
        request.shutdown(socket.SHUT_RD)
