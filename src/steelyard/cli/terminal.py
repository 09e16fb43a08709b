"""What reaches a terminal: names and texts from files cannot steer it. Pipes and files get every byte."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Colours, and on the side of progress bars also their moves within and above the line. Everything else that
# begins with ESC, and every other control character, is shown as its escape.
_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
_MOVES = re.compile(r"(\x1b\[[0-9;]*[mKA]|\x1b\[\?25[lh]|\r)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str, *, moves: bool = False) -> str:
    """Control characters as their escapes, apart from those that draw.

    >>> visible("a title: \\x1b]0;mine\\x07")
    'a title: \\\\x1b]0;mine\\\\x07'
    """
    own = _MOVES if moves else _COLOURS
    parts = own.split(text)
    parts[::2] = [_CONTROL.sub(lambda found: ascii(found[0])[1:-1], part) for part in parts[::2]]
    return "".join(parts)


def visible_bytes(text: bytes) -> bytes:
    """The same for UTF-8 that is written as it is."""
    return visible(text.decode("utf-8", "backslashreplace")).encode()


class _Terminal(io.TextIOWrapper):
    moves = False

    def write(self, text: str, /) -> int:
        super().write(visible(text, moves=self.moves))
        return len(text)


@contextmanager
def guarded_terminals() -> Iterator[None]:
    """While a command runs, standard output and error are guarded where they are terminals."""
    replaced: dict[str, tuple[Any, _Terminal]] = {}
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.isatty():
            stream.flush()
            terminal = _Terminal(
                stream.buffer, encoding=stream.encoding, errors="backslashreplace", line_buffering=True
            )
            terminal.moves = name == "stderr"
            replaced[name] = stream, terminal
            setattr(sys, name, terminal)
    try:
        yield
    finally:
        for name, (stream, terminal) in replaced.items():
            terminal.detach()
            setattr(sys, name, stream)
