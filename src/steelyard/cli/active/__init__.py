"""`steelyard active`: commands that ask for labels, each in a file of its own."""

import importlib

import click

_summaries = {
    "simulate": "Try on labelled files what asking for few labels would have come to.",
    "ask": "Say of examples, line by line, whose label is wanted; learn the labels.",
}


class _Commands(click.Group):
    """Imported when they are called, as those above them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _summaries:
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_summaries.items()))


@click.command(cls=_Commands)
def command() -> None:
    """Ask for the labels that are worth their price.

    docs/active.md explains how.
    """
