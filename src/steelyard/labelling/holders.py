"""`Holders`: who has which document open, and who is here."""

import math
from collections.abc import Callable, Iterable

LEASE = 600.0  # seconds after which a document that somebody leaves open goes to another
DRAW_LEASE = 30.0  # the same for a draw of an attempt, since answers to later ones wait for it
_SILENT = 15.0  # a page that is looked at is heard of every five seconds
_GONE = 60.0  # seconds of silence after which nothing is asked ahead for a client


class Holders:
    """A client is one page in one browser. A clock may be set back: only differences count."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: dict[int, tuple[str, float]] = {}
        self._seen: dict[str, float] = {}

    def see(self, client: str) -> None:
        """The client is there; those who are gone are forgotten."""
        self._seen[client] = self._clock()
        self._seen = {each: when for each, when in self._seen.items() if self._since(when) < _GONE}

    def give(self, item: int, client: str) -> None:
        self._held[item] = client, self._clock()

    def take_back(self, item: int) -> None:
        self._held.pop(item, None)

    def leave(self, client: str) -> None:
        """A page was closed: what it had goes to whoever comes next."""
        self._seen.pop(client, None)
        self._held = {item: held for item, held in self._held.items() if held[0] != client}

    def has(self, client: str, item: int) -> bool:
        return item in self._held and self._held[item][0] == client

    def is_free(self, item: int, client: str, lease: float = LEASE) -> bool:
        """Whether nobody else has it, or has had it for longer than the lease."""
        holder, since = self._held.get(item, (client, 0.0))
        return holder == client or self._since(since) > lease

    def is_silent(self, item: int) -> bool:
        """Whether nothing was heard for a while of the client that has it: perhaps a browser that crashed."""
        client, since = self._held.get(item, ("", 0.0))
        return self._since(max(since, self._seen.get(client, since))) > _SILENT

    def count_here(self) -> int:
        return sum(self._since(when) < _GONE for when in self._seen.values())

    def count_stuck(self, items: Iterable[int]) -> int:
        """How many of the items are with clients that are gone."""
        holders = (self._held[item][0] for item in items if item in self._held)
        return sum(self._since(self._seen.get(client, math.inf)) >= _GONE for client in holders)

    def _since(self, when: float) -> float:
        return abs(self._clock() - when)
