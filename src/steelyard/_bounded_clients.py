"""`BoundedClients`: a protocol for uvicorn that bounds how many clients keep the server waiting, and for how long.

A client that sends its request byte by byte, never completes it, sends nothing at all, or does not take its answer
is disconnected after a while. With too many connections, the one that has kept the server waiting longest is
closed for the next: so active clients are served, whoever else is connected.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedClients(H11Protocol):
    """The class for `uvicorn.Config(http=…)`; subclasses set other bounds."""

    patience = 10.0
    """Seconds for a client to complete a request, and between two parts of an answer that it takes."""
    most = 200
    """The most connections at a time."""
    _since = 0.0  # the time when the client's turn began
    _answered = False  # clients that have sent a whole request are disconnected after those that have not
    _unsent = 0
    _timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        others: set[Any] = self.connections
        there = [each for each in others if not each.transport.is_closing()]
        if len(there) > self.most:
            waiting = [each for each in there if not each._works]  # this one, at least
            min(waiting, key=lambda each: (each._answered, each._since)).transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since, self._answered = self.loop.time(), True
        super().on_response_complete()

    @property
    def _works(self) -> bool:
        """Whether it is the server's turn: the request is there, and its answer is not complete."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _watch(self) -> None:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if unsent != self._unsent or (self._works and not unsent):
            self._since = now
        elif now - self._since > self.patience:
            self.transport.abort()
            return
        self._unsent = unsent
        self._timer = self.loop.call_later(self.patience / 4.0, self._watch)
