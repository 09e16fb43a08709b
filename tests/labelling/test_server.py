"""What the server asks of the allocator. (How it serves: test_app.py and tests/cli/test_active_label.py.)"""

import ctypes
from typing import Any

import pytest
import uvicorn

from steelyard._bounded_clients import BoundedClients
from steelyard.labelling import server
from steelyard.labelling.session import LabellingSession


def test_large_blocks_are_returned_where_there_is_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, option: int, value: int) -> None:
            asked.append((option, value))

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    server.return_large_blocks()
    assert asked == [(-3, 65536)]


def test_other_libraries_do_as_they_like(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: Any) -> Any:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    server.return_large_blocks()


def test_slow_clients_are_bounded(session: LabellingSession, monkeypatch: pytest.MonkeyPatch) -> None:
    protocols: list[type] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda own, sockets: protocols.append(own.config.http))
    monkeypatch.setattr(session, "start", lambda: None)
    server.serve(session, server.bind(0))
    assert protocols == [BoundedClients]
