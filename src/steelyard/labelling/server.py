"""The page served by uvicorn, to this machine only."""

import socket

import uvicorn

from steelyard.io.errors import InputError
from steelyard.labelling.app import LabellingApp
from steelyard.labelling.session import LabellingSession

HOST = "127.0.0.1"


def bind(port: int) -> socket.socket:
    """A socket at this port of the loopback address."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
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
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:  # uvicorn raises the signal again once it has stopped
        pass
    finally:
        session.close()
        listening.close()
