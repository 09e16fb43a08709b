"""Commands as a user would type them, in messages that say what to type."""

import shlex
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.wording import option_name


def retell(ctx: click.Context, **further: str) -> str:
    """The command as it was given, with further options."""
    given = options.given_names(ctx)
    words: list[str] = []
    for parameter in ctx.command.params:
        value = ctx.params.get(str(parameter.name))
        if isinstance(parameter, click.Argument):
            words += map(str, value if isinstance(value, tuple) else [value])
        elif parameter.name in given and parameter.name not in further:
            words += option_words(parameter, value)
    for name, text in further.items():
        words += [option_name(name), text]
    return shlex.join(["steelyard", *ctx.command_path.split()[1:], *words])


def option_words(parameter: click.Parameter, value: Any) -> list[str]:
    """An option and its value, as they are typed."""
    if isinstance(value, bool):
        return [parameter.opts[0] if value else parameter.secondary_opts[0]]
    if parameter.multiple:
        return [word for each in value for word in (parameter.opts[0], str(each))]
    shown = "-".join(map(str, value)) if isinstance(value, tuple) else f"{value}"
    if isinstance(value, dict):
        shown = ",".join(f"{name}={shown_number(number)}" for name, number in value.items())
    return [parameter.opts[0], shown]


def shown_number(value: Any) -> str:
    """A number with as few digits as tell it from all others."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
