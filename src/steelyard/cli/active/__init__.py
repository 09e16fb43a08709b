"""`steelyard active`: the commands of active learning, each in a file of its own."""

import importlib

import click

_summaries = {
    "simulate": "Simulate active learning on labelled files.",
    "ask": "Ask for labels of a stream: JSON lines in, JSON lines out.",
}


class _Commands(click.Group):
    """Commands are imported when they are called."""

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
    """Active learning: choose the examples whose labels are worth asking for.

    See docs/active.md.
    """
