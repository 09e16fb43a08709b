"""The command line: one file a command, imported when the command is called.

So `steelyard --help` stays instant, whatever a command needs.
"""

import importlib

import click

import steelyard

_summaries = {
    "train": "Learn files in order, show how it goes, keep the model.",
    "predict": "Predict the rows of files, one a line.",
    "evaluate": "Compare predictions with labels: loss, accuracy, AUC, calibration.",
    "inspect": "Show a model: settings, counts, its largest weights by name.",
    "explain": "Show what each prediction is made of, by name.",
    "convert": "Write files of any format as ready-made rows, which are read again much faster.",
    "losses": "List the losses.",
    "demo": "Learn which package a docstring comes from, weigh some 50 times, write a report.",
}


class _Commands(click.Group):
    """A group whose commands are the files of this folder, each holding one `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _summaries:
            return None
        command: click.Command = importlib.import_module(f"steelyard.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_summaries.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(steelyard.__version__, prog_name="steelyard")
def main() -> None:
    """Online learning in which an importance weight of h means exactly h copies of the example."""
