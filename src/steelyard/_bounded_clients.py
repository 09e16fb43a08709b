"""`BoundedClients`: a protocol for uvicorn that bounds how long and how many clients keep it waiting.

A client that sends its request byte by byte, begins one and never ends it, says nothing at all, or does not
take its answer is cut off after a while. When there are too many connections, the one that has kept the
server waiting longest makes room for the next: people who are really there are served, whoever else is
connected.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedClients(H11Protocol):
    """For `uvicorn.Config(http=…)`; other bounds are those of a subclass."""

    patience = 10.0
    """Seconds within which a request must be there as a whole, and some more of an answer must be taken."""
    most = 200
    """Connections at once."""
    _since = 0.0  # it is the client's turn since then
    _answered = False  # whoever has sent a whole request is cut off after those who have not
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
