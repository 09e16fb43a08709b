"""Clients that are slow, silent or too many are cut off, and the others are served."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import uvicorn

from steelyard._bounded_clients import BoundedClients
from steelyard.labelling.server import bind

_PLENTY = 60.0
LARGE = b"x" * (1 << 24)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads the whole request, and answers with its path, or with a lot."""
    while (message := await receive())["type"] == "http.request" and message.get("more_body"):
        pass
    if message["type"] == "http.disconnect":
        return
    body = LARGE if scope["path"] == "/large" else scope["path"].encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Impatient(BoundedClients):
    patience = 0.4
    most = 12


@contextmanager
def serving(http: type[BoundedClients]) -> Iterator[tuple[uvicorn.Server, int]]:
    with closing(bind(0)) as listening:
        config = uvicorn.Config(
            app, http=http, log_level="error", lifespan="off", ws="none", timeout_keep_alive=1000
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield server, listening.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(_PLENTY)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), _PLENTY)


def ask(client: socket.socket, path: bytes = b"/here") -> bytes:
    client.sendall(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % path)
    found = b""
    while not found.endswith(path) and (more := client.recv(1 << 16)):
        found += more
    return found


def served(port: int, path: bytes = b"/here") -> socket.socket:
    """A client that has its answer; on a busy machine it may be too slow itself, and tries again."""
    while True:
        client = connect(port)
        try:
            if ask(client, path).endswith(path):
                return client
        except ConnectionError:
            pass
        client.close()


def is_cut_off(client: socket.socket) -> bool:
    """Waits until there is nothing more to read."""
    try:
        while client.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    "begun", [
        b"", b"G", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nno",
    ],
)  # fmt: skip
def test_requests_that_never_end(begun: bytes) -> None:
    with serving(Impatient) as (_, port), closing(connect(port)) as slow:
        slow.sendall(begun)
        served(port).close()
        assert is_cut_off(slow)


def test_headers_byte_by_byte() -> None:
    """Each byte is heard, but the whole request counts."""

    def dribble(client: socket.socket) -> None:
        client.settimeout(0.01)
        while True:
            client.sendall(b"x")
            try:
                if not client.recv(1):
                    raise ConnectionError
            except TimeoutError:
                pass

    with serving(Impatient) as (_, port), closing(connect(port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        with pytest.raises(ConnectionError):
            dribble(slow)


def test_a_second_request_that_never_ends() -> None:
    with serving(Impatient) as (_, port), closing(served(port)) as slow:
        slow.sendall(b"GET / HT")
        assert is_cut_off(slow)


def test_answers_that_nobody_takes() -> None:
    with serving(Impatient) as (server, port), closing(connect(port)) as slow:
        slow.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        slow.recv(1)
        pause = threading.Event()
        for _ in range(6000):  # until the server has given it up
            if not server.server_state.connections:
                break
            pause.wait(0.01)
        assert not server.server_state.connections


def test_too_many_connections_make_room_for_those_who_come() -> None:
    class Patient(Impatient):
        patience = 1000.0

    with serving(Patient) as (server, port), closing(served(port)) as known:
        idle = [connect(port) for _ in range(60)]
        for number in range(5):
            served(port, b"/%d" % number).close()
        assert len(server.server_state.connections) <= Patient.most
        assert is_cut_off(idle[0])
        assert ask(known).endswith(b"/here")  # who was there before is still there
        assert ask(idle[-1]).endswith(b"/here")
        for each in idle:
            each.close()
