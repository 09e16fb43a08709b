"""Parts of messages: suggestions for misspelt names, and numbers with singular or plural nouns.

>>> counted(1, "line"), counted(12345, "line")
('1 line', '12,345 lines')
>>> did_you_mean("hing", ["hinge", "squared"])
"; did you mean 'hinge'?"
"""

from collections.abc import Iterable

_LEAST = 3  # letters: a shorter part occurs in many names


def counted(number: int, noun: str) -> str:
    """The number and the noun, with an s unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """The end of a message that suggests the most similar name; empty if none is similar."""
    close = closest(given, known)
    return f"; did you mean {close!r}?" if close is not None else ""


def closest(given: str, known: Iterable[str]) -> str | None:
    """The known name most similar to the given one, regardless of case."""
    import difflib  # only needed for errors

    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), names, 1)
    if not near and len(given) >= _LEAST:
        near = [name for name in names if given.lower() in name]
    return names[near[0]] if near else None
