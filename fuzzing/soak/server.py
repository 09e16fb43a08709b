"""`serve`: requests in flight when it ends are answered whole or not at all, and the port is free again."""

import contextlib
import functools
import socket
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from signal import SIGKILL, SIGTERM, Signals

from fuzzing.soak import circumstances
from fuzzing.soak.circumstances import Trials
from fuzzing.soak.processes import Child, start
from steelyard.cli.http_server import PredictionServer
from steelyard.cli.served_model import ServedModel

_CLIENTS = 6


class PredictionService:
    def __init__(self, model: Path, table: Path) -> None:
        self._model = model
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        lines = table.read_bytes().splitlines(keepends=True)
        self._bodies = [b"".join(lines[at : at + 20]) for at in range(0, 200, 20)]
        self._answers: list[bytes] = []

    def begin(self, folder: Path) -> None:
        served = ServedModel(self._model, None, lambda line: None)
        served.warm_up()
        self._answers = [b"".join(served.answer(body)) for body in self._bodies]
        PredictionServer(("127.0.0.1", 0), served, most_bytes=1, most_clients=1, timeout=1.0).server_close()

    def start(self, before: Callable[[], object] = lambda: None) -> Child:
        """One that answers: it is started at once after the last one, at the same port."""
        child = start(["serve", self._model, "--port", self.port], before=before)
        ends = time.monotonic() + 20.0
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5.0).close()
            except ConnectionError:
                assert time.monotonic() < ends, child.said()
                time.sleep(0.005)
            else:
                return child

    def request(self, number: int) -> bytes:
        body = self._bodies[number]
        head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def kill(self, folder: Path, chance: Random, next_signal: Callable[[], Signals]) -> None:
        child, which = self.start(), next_signal()
        with contextlib.ExitStack() as clients:
            waiting = []
            for _ in range(chance.randrange(1, _CLIENTS)):
                number, client = chance.randrange(len(self._bodies)), socket.socket()
                clients.enter_context(client).settimeout(20.0)
                client.connect(("127.0.0.1", self.port))
                request = self.request(number)
                whole = chance.random() < 0.8
                client.sendall(request if whole else request[: chance.randrange(len(request))])
                waiting.append((number, client, whole))
            time.sleep(chance.choice([0.0, chance.uniform(0.0, 0.02)]))
            child.kill(which)
            for number, client, whole in waiting:
                with contextlib.suppress(OSError):  # it has ended, and cannot be told that this was all
                    client.shutdown(socket.SHUT_WR)
                found = _read(client)
                if whole:
                    assert self._is_right(found, number, may_be_cut=which is SIGKILL), found
                else:  # a head without its last lines is one that lacks them, which is told
                    assert not found or found.startswith(b"HTTP/1.1 4"), found
        code = child.wait_after(which)
        served = "Ctrl-C stops it" in child.said()  # it takes connections before it has said so
        assert not served or code == (-which if which is SIGKILL else 0), (code, child.said())

    def trials(self, folder: Path) -> Trials:
        """It writes nothing: neither keeps it from answering."""
        found: dict[str, Callable[[], object]] = {"full disk": functools.partial(circumstances.full_disk, 0)}
        if circumstances.can_be_bound(folder):
            self._model.parent.chmod(0o755)
            self._model.chmod(0o644)
            found["read-only"] = circumstances.unprivileged
        return {name: functools.partial(self._answers_all_the_same, before) for name, before in found.items()}

    def _answers_all_the_same(self, before: Callable[[], object], folder: Path, chance: Random) -> None:
        child, number = self.start(before), chance.randrange(len(self._bodies))
        with socket.create_connection(("127.0.0.1", self.port), timeout=20.0) as client:
            client.sendall(self.request(number))
            client.shutdown(socket.SHUT_WR)
            assert self._is_right(_read(client), number, may_be_cut=False)
        child.kill(SIGTERM)
        assert child.wait() == 0, child.said()

    def _is_right(self, found: bytes, number: int, *, may_be_cut: bool) -> bool:
        head, _, body = found.partition(b"\r\n\r\n")
        answered = head.startswith(b"HTTP/1.1 200 ") and body == self._answers[number]
        return not found or answered or may_be_cut


def _read(client: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := client.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)
