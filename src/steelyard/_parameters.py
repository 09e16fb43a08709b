"""Messages that name parameters: Python words them as parameters, the command line as options.

>>> message = Message("learn them with ", Parameter("shuffle", True), "; see ", Parameter("labels"))
>>> print(message)
learn them with shuffle=True; see `labels`
>>> message.worded(lambda parameter: parameter.name.upper())
'learn them with SHUFFLE; see LABELS'
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """A parameter by its name in Python, with the value that a message speaks of, if it does."""

    name: str
    value: Any = None
    in_python: str | None = None
    """What Python has instead, where the command line has an option of this name and Python no parameter."""

    def __str__(self) -> str:
        if self.in_python is not None:
            return self.in_python
        return f"`{self.name}`" if self.value is None else f"{self.name}={self.value!r}"


def bare(name: str) -> Parameter:
    """A parameter that Python's words name without quotes."""
    return Parameter(name, in_python=name)


class Message(str):
    """Text in Python's words that knows where its parameters are, so that it can be worded differently.

    A part may be a message itself, or all the parts of one, `*message`. An f-string keeps only the text of a
    message that it includes: to add to a message, make another one of it.
    """

    __slots__ = ("parts",)
    parts: tuple[str | Parameter, ...]

    def __new__(cls, *parts: str | Parameter) -> "Message":
        flat = [part for each in parts for part in (each.parts if isinstance(each, Message) else (each,))]
        message = super().__new__(cls, "".join(map(str, flat)))
        message.parts = tuple(flat)
        return message

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.parts

    def __iter__(self) -> Iterator[Any]:
        """Its parts, not its characters: `*message` among the parts of another one keeps the parameters."""
        return iter(self.parts)

    def worded(self, word: Callable[[Parameter], str]) -> str:
        """The text, with every parameter as `word` calls it."""
        return "".join(word(part) if isinstance(part, Parameter) else part for part in self.parts)


def joined(separator: str, parts: Iterable[str | Parameter]) -> Message:
    """All of them as one message, with the separator in between."""
    return Message(*[each for part in parts for each in (separator, part)][1:])


def message_of(error: BaseException) -> Message:
    """What an error says, with the parameters that it names."""
    said = error.args[0] if error.args else ""
    return said if isinstance(said, Message) else Message(str(error))
