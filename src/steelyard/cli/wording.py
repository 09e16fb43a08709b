"""Messages of the rooms below, in the words of the command line: parameters as the options that set them."""

import json
import shlex
from collections.abc import Iterable

from steelyard._parameters import Message, Parameter, message_of
from steelyard.io.errors import Problem

_SPELLINGS = {"quadratic": "-q"}
_OTHER_NAMES = {"audit_size": "audit", "engine": "cluster"}
_KEYS = ("of", "largest")  # of an estimate, which is asked for by a line of JSON
_ON_ERROR = {True: "skip", False: "stop"}  # what `skip_errors` is here


def option_name(name: str) -> str:
    """The option that sets a parameter of this name."""
    name = _OTHER_NAMES.get(name, name)
    return _SPELLINGS.get(name) or "--" + name.strip("_").replace("_", "-")


def as_option(parameter: Parameter) -> str:
    """What a user would type; a switch has no value behind its name."""
    if parameter.name == "skip_errors":
        return as_option(Parameter("on_error", _ON_ERROR[parameter.value]))
    if parameter.name in _KEYS:
        return f'"{parameter.name}"' + ("" if parameter.value is None else f": {json.dumps(parameter.value)}")
    option = option_name(parameter.name)
    if parameter.value is None or parameter.value is True:
        return option
    if parameter.value is False:
        return f"--no-{option.removeprefix('--')}"
    return f"{option} {shlex.quote(str(parameter.value))}"


def in_options(text: str) -> str:
    """A message, if it is one, or a text with nothing to be worded differently."""
    return text.worded(as_option) if isinstance(text, Message) else text


def error_text(error: BaseException) -> str:
    return in_options(message_of(error))


def problem_texts(problems: Iterable[Problem]) -> list[str]:
    """What is said of lines that could not be read."""
    return [in_options(problem.message) for problem in problems]
