"""Words for people: what a misspelt name was meant to be, and numbers with the right form of their noun.

>>> counted(1, "line"), counted(12345, "line")
('1 line', '12,345 lines')
>>> did_you_mean("hing", ["hinge", "squared"])
"; did you mean 'hinge'?"
"""

from collections.abc import Iterable

_LEAST = 3  # letters of a part by which a name is found: a single one is in many


def counted(number: int, noun: str) -> str:
    """The number and the noun, which takes an s unless there is one of it."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """The end of a message: the name that is most like what was given; nothing where none is."""
    close = closest(given, known)
    return f"; did you mean {close!r}?" if close is not None else ""


def closest(given: str, known: Iterable[str]) -> str | None:
    """Of some names the one that is most like what was given, in large or small letters."""
    import difflib  # only where something is wrong

    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), names, 1)
    if not near and len(given) >= _LEAST:
        near = [name for name in names if given.lower() in name]
    return names[near[0]] if near else None
