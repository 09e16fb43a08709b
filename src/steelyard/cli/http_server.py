"""`PredictionServer`: HTTP for a model that answers lines, with a thread for each client.

Requests are refused if they come from pages of other sites, are too large, or could be read in two ways
(`http_requests.py`). A client that is too slow, or one too many, is disconnected.
"""

import contextlib
import io
import json
import socket
import socketserver
import threading
import time
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from steelyard._web_requests import LOOPBACK, refusal
from steelyard.cli.http_requests import BadRequestError, RequestHead, read_head
from steelyard.cli.served_model import PART, ServedModel

IDLE, READING, ANSWERING = "idle", "reading", "answering"
_GRACE = 10.0  # seconds that requests have to end when the server stops
_PATIENCE = 2.0  # seconds that a refused client has to read why
_PIECE = 1 << 20  # bytes of an answer that a client must take in time
_ROUTES = "there are POST /predict and GET /health"


class PredictionServer(socketserver.ThreadingTCPServer):
    """Serves until `shutdown`, after which `drain` lets requests end. Connections have a thread each."""

    allow_reuse_address = True
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
        self.names = LOOPBACK if address[0] in LOOPBACK else None
        self.began = time.monotonic()
        self.answered = 0
        self.stopping = False
        self._free = threading.Semaphore(most_clients)
        self._open: dict[Any, tuple[str, float]] = {}  # connections: what they do, and since when
        self._changed = threading.Condition()
        super().__init__(address, _Connection)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        host = str(self.server_address[0])
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            body = _error("too many clients at once: try again soon")
            size = f"Content-Length: {len(body)}"
            request.sendall(_head(HTTPStatus.SERVICE_UNAVAILABLE, size, stays=False) + body)
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
        """Says nothing of clients that have gone."""

    def mark(self, request: Any, state: str) -> None:
        """Note what a connection does: between requests it may be closed at any moment."""
        with self._changed:
            self._open[request] = state, time.monotonic()
            if self.stopping and state == IDLE:
                _hang_up(request)

    def health(self) -> dict[str, Any]:
        return {
            "status": "ok", "model": str(self.model.path), "format": self.model.format,
            "columns": self.model.columns, "loads": self.model.loads, "requests": self.answered,
            "seconds": round(time.monotonic() - self.began, 3),
        }  # fmt: skip

    def count(self) -> None:
        with self._changed:  # threads that add at once would lose some
            self.answered += 1

    def service_actions(self) -> None:
        """Called now and then: hangs up on clients that send a request byte by byte."""
        late = time.monotonic() - self.client_timeout
        with self._changed:
            for request, (state, since) in self._open.items():
                if state == READING and since < late:
                    _hang_up(request)

    def drain(self) -> None:
        """Answer the requests that have begun, once no more connections are taken."""
        with self._changed:
            self.stopping = True
            for request, (state, _) in self._open.items():
                if state == IDLE:
                    _hang_up(request)
            self._changed.wait_for(lambda: not self._open, _GRACE)


class _Connection(socketserver.StreamRequestHandler):
    """One client: its requests, one after another."""

    server: PredictionServer
    request: socket.socket
    rfile: io.BufferedReader
    rbufsize = 1 << 16
    disable_nagle_algorithm = True

    def setup(self) -> None:
        self.request.settimeout(self.server.client_timeout)
        super().setup()

    def handle(self) -> None:
        with contextlib.suppress(TimeoutError):
            while self.rfile.peek(1) and self._answer_one():  # a request begins with its first byte
                self.server.mark(self.request, IDLE)

    def _answer_one(self) -> bool:
        """Answer a request; whether another one may come."""
        self.server.mark(self.request, READING)  # and may not take for ever from there
        try:
            head = read_head(self.rfile, self.server.most_bytes)
            if (why := refusal(head.values, self.server.names)) is not None:
                raise BadRequestError(HTTPStatus.FORBIDDEN, why)
        except BadRequestError as error:
            self._send(error.status, _error(str(error)), stays=False)
            self._discard()
            return False
        if head.waits:
            self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.rfile.read(head.size)
        self.server.mark(self.request, ANSWERING)
        return len(body) == head.size and self._answer(head, body)

    def _answer(self, head: RequestHead, body: bytes) -> bool:
        """Answer a whole request. The body of any request was read, whatever it asks for."""
        stays, is_get = head.stays and not self.server.stopping, head.method in ("GET", "HEAD")
        if head.path == "/predict" and head.method == "POST":
            self._predict(body, newest=head.newest, stays=stays)
        elif head.path == "/health" and is_get:
            found = json.dumps(self.server.health()).encode() + b"\n"
            self._send(HTTPStatus.OK, found, stays=stays, bodiless=head.method == "HEAD")
        else:
            known = {"/predict": "POST", "/health": "GET, HEAD"}.get(head.path)
            status = HTTPStatus.NOT_FOUND if known is None else HTTPStatus.METHOD_NOT_ALLOWED
            allowed = () if known is None else (f"Allow: {known}",)
            self._send(status, _error(_ROUTES), *allowed, stays=stays, bodiless=head.method == "HEAD")
        return stays

    def _predict(self, text: bytes, *, newest: bool, stays: bool) -> None:
        """Send long answers as they are found, and stop when the client has left."""
        parts = self.server.model.answer(text)
        if len(text) <= PART or not newest:
            body = b"".join(parts)
            self.server.count()  # before the client has its answer, and may ask how many there were
            self._send(HTTPStatus.OK, body, stays=stays)
            return
        self._send_all(_head(HTTPStatus.OK, "Transfer-Encoding: chunked", stays=stays))
        for part in filter(None, parts):
            self._send_all(b"%x\r\n%b\r\n" % (len(part), part))
        self.server.count()
        self._send_all(b"0\r\n\r\n")

    def _send(
        self, status: HTTPStatus, body: bytes, *fields: str, stays: bool, bodiless: bool = False
    ) -> None:
        head = _head(status, f"Content-Length: {len(body)}", *fields, stays=stays)
        self._send_all(head if bodiless else head + body)

    def _send_all(self, data: bytes) -> None:
        """Send piece by piece; a client must take each in time."""
        view = memoryview(data)
        for start in range(0, len(view), _PIECE):
            self.request.sendall(view[start : start + _PIECE])

    def _discard(self) -> None:
        """Read what a refused client still sends: were it left unread, the answer would be lost with it."""
        self.request.shutdown(socket.SHUT_WR)
        self.request.settimeout(_PATIENCE)
        ends = time.monotonic() + _PATIENCE
        with contextlib.suppress(OSError):
            while self.request.recv(1 << 16) and time.monotonic() < ends:
                pass


def _head(status: HTTPStatus, *fields: str, stays: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}", "Server: steelyard", f"Date: {formatdate(usegmt=True)}",
        "Content-Type: application/x-ndjson; charset=utf-8", *fields,
    ]  # fmt: skip
    return "\r\n".join([*lines, *([] if stays else ["Connection: close"]), "", ""]).encode()


def _error(message: str) -> bytes:
    return json.dumps({"error": message}, ensure_ascii=False).encode() + b"\n"


def _hang_up(request: socket.socket) -> None:
    """Close a connection, which ends a wait for its next request."""
    with contextlib.suppress(OSError):  # it has gone already
        request.shutdown(socket.SHUT_RD)
