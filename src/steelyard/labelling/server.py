"""The page served by uvicorn, to this machine only."""

import signal
import socket
import sys

import uvicorn

from steelyard.io.errors import InputError
from steelyard.labelling.app import LabellingApp
from steelyard.labelling.session import LabellingSession

HOST = "127.0.0.1"
_SWITCH = 5e-4  # seconds: a reply passes through several threads, each of which may wait for the learner's


def bind(port: int) -> socket.socket:
    """A socket at this port of the loopback address."""
    # With the protocol named, asyncio sends small packets at once (TCP_NODELAY); else each reply takes 40 ms.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # a browser that is quicker than the server waits
    except OSError as error:
        found.close()
        raise InputError(f"port {port}: {error.strerror}; --port 0 takes a free one") from None
    return found


def serve(session: LabellingSession, listening: socket.socket) -> None:
    """Answer until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        LabellingApp(session).starlette(), log_level="error", access_log=False, lifespan="off",
        server_header=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    session.start()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    # uvicorn raises the signal again once it has stopped; by then there is nothing left to do.
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        sys.setswitchinterval(usual)
        session.close()
        listening.close()
