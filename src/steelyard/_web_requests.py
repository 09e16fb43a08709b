"""Which requests a server on somebody's machine answers: none from pages of other sites.

A web page can have its own name point to this machine, which shows in Host, or send requests to an address of
this machine, which shows in Origin.
"""

import re
from collections.abc import Callable, Collection, Sequence

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z._-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_OTHER_SITES = "requests from other sites are refused"


def refusal(fields: Callable[[str], Sequence[str]], names: Collection[str] | None) -> str | None:
    """Why a request is not answered; None if it is.

    `fields` gives all values of a header field by its name in small letters. `names` are those that the
    server has; None means any.

    >>> sent = {"host": ["localhost:80@evil.example"]}
    >>> refusal(lambda name: sent.get(name, []), LOOPBACK)
    'a request needs one Host, a name and perhaps a port'
    """
    hosts = fields("host")
    found = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if found is None:
        return "a request needs one Host, a name and perhaps a port"
    host = hosts[0].lower()
    if names is not None and (found[1] or found[2]).lower() not in names:
        return f"this is not {host}: only {', '.join(sorted(names))} are answered"
    if any(origin.lower() not in (f"http://{host}", f"https://{host}") for origin in fields("origin")):
        return _OTHER_SITES
    if any(site not in ("same-origin", "none") for site in fields("sec-fetch-site")):
        return _OTHER_SITES
    return None
