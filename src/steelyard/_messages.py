"""Parts of messages: suggestions for misspelt names, and numbers with singular or plural nouns.

>>> counted(1, "line"), counted(12345, "line")
('1 line', '12,345 lines')
>>> did_you_mean("hing", ["hinge", "squared"])
"; did you mean 'hinge'?"
"""

from collections.abc import Iterable
from itertools import islice

_LEAST = 3  # letters: a shorter part occurs in many names
_LONGEST = 60  # letters of a name; a row that was taken for the names of columns has more
_MOST = 50  # names

_EXACT = "it is gone, since a weight of h is exactly h copies with every setting; leave it out"
GONE = {"rates": _EXACT, "l2_flow": _EXACT}
"""Settings of earlier releases, which old files still name, and what to say to whoever gives one."""


def counted(number: int, noun: str) -> str:
    """The number and the noun, with an s unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """The end of a message that suggests the most similar name; empty if none is similar."""
    close = closest(given, known)
    return f"; did you mean {shortened(close)!r}?" if close is not None else ""


def shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def listed(names: Iterable[str]) -> str:
    """The first names, each cut short if it is long."""
    first = list(islice(names, _MOST + 1))
    return ", ".join([*map(shortened, first[:_MOST]), *["…"] * (len(first) > _MOST)])


def closest(given: str, known: Iterable[str]) -> str | None:
    """The known name most similar to the given one, regardless of case."""
    import difflib  # only needed for errors

    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), names, 1)
    if not near and len(given) >= _LEAST:
        near = [name for name in names if given.lower() in name]
    return names[near[0]] if near else None
