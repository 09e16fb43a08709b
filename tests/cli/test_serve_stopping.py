"""A server that stops: by a signal, while requests are sent, and with clients that only wait."""

import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli import http_server
from steelyard.cli.http_server import PredictionServer
from tests.cli.running import refused, run
from tests.cli.test_serve import PATIENCE, serving, wait_until


def test_a_connection_that_becomes_idle_while_the_server_stops(model: Path) -> None:
    with serving(model) as server:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            server.stopping = True
            server.mark(ours, http_server.IDLE)
            assert ours.recv(1) == b""
            del server._open[ours]


def test_stopping_while_a_request_is_sent(model: Path) -> None:
    """What has begun is answered; who only waits is disconnected."""
    with serving(model) as server:
        states = [http_server.IDLE, http_server.READING]
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        client = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        client.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n|a")
        wait_until(lambda: sorted(each for each, _ in [*server._open.values()]) == states)
        server.shutdown()
        drained = threading.Thread(target=server.drain)
        drained.start()
        assert idle.recv(1) == b""
        client.sendall(b" w1")
        answer = b""
        while part := client.recv(1 << 16):
            answer += part
        drained.join()
        idle.close()
        client.close()
    assert b"200 OK" in answer
    assert b"Connection: close" in answer
    assert b'"label"' in answer


def test_a_signal_while_handlers_are_set(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It came between the handler of SIGINT and that of SIGTERM once, and ended in a traceback."""
    usual = signal.signal
    early: list[int] = []

    def set_handler(number: int, handler: Any) -> Any:
        before = usual(number, handler)
        if getattr(handler, "__name__", "") == "stop" and not early:
            early.append(number)
            signal.raise_signal(number)
        return before

    monkeypatch.setattr(signal, "signal", set_handler)
    assert run("serve", model, "--port", 0).stderr.endswith("stopped after 0 requests\n")
    assert early == [signal.SIGINT]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command(model: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(number)
    serves = PredictionServer.serve_forever

    def serve_and_end(self: PredictionServer, poll_interval: float) -> None:
        thread = threading.Thread(target=os.kill, args=(os.getpid(), number))
        thread.start()
        serves(self, poll_interval)
        thread.join()

    monkeypatch.setattr(PredictionServer, "serve_forever", serve_and_end)
    said = run("serve", model, "--port", 0).stderr
    assert f"{model} answers vw lines at http://127.0.0.1:" in said
    assert said.endswith("stopped after 0 requests\n")
    assert signal.getsignal(number) == before


def test_a_port_that_is_taken(model: Path) -> None:
    with serving(model) as server:
        said = refused("serve", model, "--port", server.port)
    assert said.endswith("Address already in use; --port 0 takes a free one")
