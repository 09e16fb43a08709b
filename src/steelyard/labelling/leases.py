"""`Leases`: which client has which document open, and which clients are here."""

import math
from collections.abc import Callable, Iterable

from steelyard.active.identifiers import Item

LEASE = 600.0  # seconds after which a document that somebody leaves open goes to another
DRAW_LEASE = 30.0  # the same for a draw of an attempt, since answers to later draws wait for it
_SILENT = 15.0  # a page that is looked at sends a request every five seconds
_GONE = 60.0  # seconds of silence after which nothing is asked ahead for a client


class Leases:
    """A client is one page in one browser. A clock may be set back: only differences count."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: dict[Item, tuple[str, float]] = {}
        self._seen: dict[str, float] = {}

    def see(self, client: str) -> None:
        """Note that the client is here; forget those that are gone."""
        self._seen[client] = self._clock()
        self._seen = {name: time for name, time in self._seen.items() if self._since(time) < _GONE}

    def give(self, item: Item, client: str) -> None:
        """Let the client have the document open, from now on."""
        self._held[item] = client, self._clock()

    def take_back(self, item: Item) -> None:
        """End the lease, if there is one: the document was answered."""
        self._held.pop(item, None)

    def leave(self, client: str) -> None:
        """Free what a client has open whose page was closed."""
        self._seen.pop(client, None)
        self._held = {item: held for item, held in self._held.items() if held[0] != client}

    def has(self, client: str, item: Item) -> bool:
        return item in self._held and self._held[item][0] == client

    def is_free(self, item: Item, client: str, lease: float = LEASE) -> bool:
        """Whether nobody else has it open, or has had it for longer than the lease."""
        holder, since = self._held.get(item, (client, 0.0))
        return holder == client or self._since(since) > lease

    def is_silent(self, item: Item) -> bool:
        """Whether the client that has it open has been silent for a while: perhaps its browser crashed."""
        client, since = self._held.get(item, ("", 0.0))
        return self._since(max(since, self._seen.get(client, since))) > _SILENT

    def count_clients(self) -> int:
        """The number of clients that are here."""
        return sum(self._since(time) < _GONE for time in self._seen.values())

    def count_abandoned(self, items: Iterable[Item]) -> int:
        """The number of these items that clients have open who are gone."""
        clients = (self._held[item][0] for item in items if item in self._held)
        return sum(self._since(self._seen.get(client, math.inf)) >= _GONE for client in clients)

    def _since(self, time: float) -> float:
        return abs(self._clock() - time)
