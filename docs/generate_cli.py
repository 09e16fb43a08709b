"""Writes docs/cli.md from the commands themselves: `make docs`, or `python docs/generate_cli.py`."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from steelyard.cli import main

PAGE = Path(__file__).parent / "cli.md"

INTRODUCTION = """\
# The command line

`make docs` writes this page from the commands themselves, and a test fails when it is stale. How files are
read is told in [files.md](files.md), a command for every kind of file is in
[data-folder.md](data-folder.md); those who know Vowpal Wabbit start [here](from-vowpal-wabbit.md).

Results go to standard output, progress to standard error and only on a terminal. The exit code is 0, 1 where
something failed, 2 where the command was not understood. `steelyard COMMAND --help` shows what is below.
"""


SUMMARY = """\
## What `train --json` says

| key | |
|---|---|
| `examples`, `learned` | rows of this run, in its first pass; those of them with a label and a weight |
| `weight`, `progressive_loss` | in all: of a model that goes on (`--resume`) since it was begun |
| `resumed`, `run_weight`, `run_progressive_loss` | whether it went on; those two of this run |
| `best_constant`, `best_constant_loss` | the best constant for this run's labels, its loss |
| `held_out_loss`, `passes` | of the rows that `--holdout` kept back, in the last pass; passes made |
| `effective_sample_size`, `weight_warning` | rows of equal weight that this run's are worth |
| `nonzero_weights`, `names` | of the model: weights that are not zero, names met |
| `names_sharing_an_index` | the part of the names that share a weight with another |
| `skipped`, `problems`, `remarks` | lines left out, the first of them described; what else there is to say |
| `seconds`, `startup_seconds`, `rows_per_second`, `megabytes_per_second` | of this run, all passes |
| `model` | where it is kept, or null |

A run that goes on from a checkpoint counts as one with the run that was cut short.
"""


def page() -> str:
    """The whole page."""
    context = click.Context(main, info_name="steelyard")
    names = main.list_commands(context)
    contents = "\n".join(f"- [`{name}`](#steelyard-{name}): {_summary(context, name)}" for name in names)
    sections = (_section(context, name, _command(context, name), "##") for name in names)
    return "\n".join([INTRODUCTION, f"{contents}\n", *sections, SUMMARY])


def _section(parent: click.Context, name: str, command: click.Command, heading: str) -> str:
    """Of a command; of a group, also of the commands in it."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"{heading} {context.command_path}\n", f"    {usage}\n"]
    parts += [_paragraph(paragraph) for paragraph in inspect.cleandoc(command.help or "").split("\n\n")]
    rows = "".join(_rows(command, context))
    if rows:
        parts.append(f"| option | |\n|---|---|\n{rows}")
    if command.epilog:
        lines = [line.strip() for line in command.epilog.splitlines() if line.strip(" \b")]
        parts.append("```sh\n" + "\n".join(line for line in lines if line != "Examples:") + "\n```\n")
    if isinstance(command, click.Group):
        below = [(each, command.get_command(context, each)) for each in command.list_commands(context)]
        parts += [_section(context, each, found, f"{heading}#") for each, found in below if found is not None]
    return "\n".join(parts)


def _paragraph(text: str) -> str:
    """As it is to be read, or letter for letter where the help has it so."""
    if text.startswith("\b\n"):
        return "```json\n" + text.removeprefix("\b\n") + "\n```\n"
    return f"{_escaped(text)}\n"


def _rows(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            names, text = record
            yield f"| `{names.replace('|', chr(92) + '|')}` | {_escaped(' '.join(text.split()))} |\n"


def _summary(context: click.Context, name: str) -> str:
    return inspect.cleandoc(_command(context, name).help or "").splitlines()[0]


def _command(context: click.Context, name: str) -> click.Command:
    command = main.get_command(context, name)
    assert command is not None
    return command


def _escaped(text: str) -> str:
    for character in "*|<":
        text = text.replace(character, "\\" + character)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
