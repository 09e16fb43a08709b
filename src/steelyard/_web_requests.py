"""Refuse requests from pages of other sites to a server on a user's machine.

A web page can let its own name point to this machine, which shows in Host, or send requests to an address of this
machine, which shows in Origin.
"""

import re
from collections.abc import Callable, Collection, Sequence

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z._-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_OTHER_SITES = "requests from other sites are refused"


def refusal(fields: Callable[[str], Sequence[str]], names: Collection[str] | None) -> str | None:
    """Return why a request is refused; None if it is answered.

    `fields` gives all values of a header field by its lower-case name. `names` are the names of the server; None
    means any.

    >>> sent = {"host": ["localhost:80@evil.example"]}
    >>> refusal(lambda name: sent.get(name, []), LOOPBACK)
    'a request needs one Host, a name and perhaps a port'
    """
    hosts = fields("host")
    match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if match is None:
        return "a request needs one Host, a name and perhaps a port"
    host = hosts[0].lower()
    if names is not None and (match[1] or match[2]).lower() not in names:
        return f"this is not {host}: only {', '.join(sorted(names))} are answered"
    if any(origin.lower() not in (f"http://{host}", f"https://{host}") for origin in fields("origin")):
        return _OTHER_SITES
    if any(site not in ("same-origin", "none") for site in fields("sec-fetch-site")):
        return _OTHER_SITES
    return None
