"""Serves the page with uvicorn, to this machine only."""

import ctypes
import gc
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

import uvicorn

from steelyard._bounded_clients import BoundedClients
from steelyard._parameters import Parameter
from steelyard.io.errors import InputError
from steelyard.labelling.app import LabellingApp
from steelyard.labelling.session import LabellingSession

HOST = "127.0.0.1"
_MMAP_THRESHOLD, _LARGE = -3, 1 << 16  # glibc's name for the option, and bytes
_SWITCH = 5e-4  # seconds: a reply passes through several threads, each of which may wait for the learner's


def bind(port: int) -> socket.socket:
    """A socket that listens at this port of the loopback address."""
    # With the protocol named, asyncio sends small packets at once (TCP_NODELAY); else each reply takes 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # a browser that is quicker than the server waits
    except OSError as error:
        listening.close()
        free = Parameter("port", 0)
        raise InputError(f"port {port}: {error.strerror}; ", free, " takes a free one") from None
    return listening


def return_large_blocks() -> None:
    """Have glibc give the memory that an estimate needs for a moment back to the system.

    Otherwise it would keep blocks that are a little too small for the next estimate, which needs more.
    """
    with suppress(AttributeError, OSError, TypeError):  # of another C library
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


def serve(session: LabellingSession, listening: socket.socket) -> None:
    """Answer until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        LabellingApp(session).starlette(), log_level="error", access_log=False, lifespan="off",
        server_header=False, timeout_graceful_shutdown=2, http=BoundedClients, ws="none",
    )  # fmt: skip
    return_large_blocks()
    gc.collect()
    gc.freeze()  # what was loaded stays: no answer waits while the collector goes through all of it
    session.start()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    server = uvicorn.Server(config)

    def stop(*_: Any) -> None:
        """Handles a signal that comes before uvicorn waits for it, or after uvicorn has stopped."""
        server.should_exit = True

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.setswitchinterval(usual)
        gc.unfreeze()
        session.close()
        listening.close()
