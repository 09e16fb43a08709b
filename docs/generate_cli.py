"""Writes docs/cli.md from the commands themselves: `make docs`, or `python docs/generate_cli.py`."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from steelyard.cli import main
from steelyard.cli.grouped_help import GroupedCommand

PAGE = Path(__file__).parent / "cli.md"

INTRODUCTION = """\
# The command line

`make docs` writes this page from the commands themselves, and a test fails when it is stale. See also how
[files are read](files.md), a [command for every kind of file](data-folder.md), the [glossary](glossary.md),
and the page for those who [know Vowpal Wabbit](from-vowpal-wabbit.md).

Results go to standard output. Progress goes to standard error, and is shown on a terminal only. The exit code
is 0 for success, 1 for a failure, 2 for a command that was not understood. `steelyard COMMAND --help` prints
the text below.
"""


SUMMARY = """\
## The output of `train --json`

| key | |
|---|---|
| `examples`, `learned` | rows in the first pass of this run; those of them with a label and a weight |
| `weight`, `progressive_loss`, `progressive_error` | totals, since the model was begun; error for classes |
| `resumed`, `run_weight`, `run_progressive_loss` | whether a model was resumed; this run alone |
| `classes` | the classes, or null for numbers |
| `best_constant`, `best_constant_loss` | the best constant for the labels of this run, and its loss |
| `most_frequent_class`, `most_frequent_class_error` | instead of the constant, with more than two classes |
| `held_out_loss`, `held_out_error` | on the rows of `--holdout`, in the last pass |
| `learning_rate`, `power_t`, `auto` | the schedule in use, and whether `--learning-rate auto` chose it |
| `calibrated`, `passes` | whether probabilities are calibrated; the number of passes |
| `effective_sample_size`, `weight_warning` | how many rows of equal weight these are worth |
| `nonzero_weights`, `names` | coefficients that are not zero; names of features seen |
| `names_sharing_an_index` | the share of the names whose coefficient is also that of another name |
| `skipped`, `problems`, `remarks` | lines that could not be read; the first of them; other remarks |
| `seconds`, `startup_seconds`, `rows_per_second`, `megabytes_per_second` | of this run, all passes |
| `model` | where the model is saved, or null |

An interrupted run and the run that continues its checkpoint count as one.
"""


def page() -> str:
    """The whole page."""
    context = click.Context(main, info_name="steelyard")
    names = main.list_commands(context)
    contents = "\n".join(f"- [`{name}`](#steelyard-{name}): {_summary(context, name)}" for name in names)
    sections = (_section(context, name, _command(context, name), "##") for name in names)
    return "\n".join([INTRODUCTION, f"{contents}\n", *sections, SUMMARY])


def _section(parent: click.Context, name: str, command: click.Command, heading: str) -> str:
    """The section of a command; for a group, with its commands."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"{heading} {context.command_path}\n", f"    {usage}\n"]
    parts += [_paragraph(paragraph) for paragraph in inspect.cleandoc(command.help or "").split("\n\n")]
    for title, options in _tables(command).items():
        rows = "".join(_rows(options, context))
        parts += [f"{title}| option | |\n|---|---|\n{rows}"] if rows else []
    if command.epilog:
        lines = [line.strip() for line in command.epilog.splitlines() if line.strip(" \b")]
        parts.append("```sh\n" + "\n".join(line for line in lines if line != "Examples:") + "\n```\n")
    if isinstance(command, click.Group):
        below = [(each, command.get_command(context, each)) for each in command.list_commands(context)]
        parts += [_section(context, each, found, f"{heading}#") for each, found in below if found is not None]
    return "\n".join(parts)


def _paragraph(text: str) -> str:
    """Text, or a code block where the help asks for one with \\b."""
    if text.startswith("\b\n"):
        return "```json\n" + text.removeprefix("\b\n") + "\n```\n"
    return f"{_escaped(text)}\n"


def _tables(command: click.Command) -> dict[str, list[click.Option]]:
    """The options by what stands above their table: the heading, where the help has headings."""
    if isinstance(command, GroupedCommand):
        return {f"**{heading}**\n\n": options for heading, options in command.sections().items()}
    return {"": [each for each in command.params if isinstance(each, click.Option)]}


def _rows(options: list[click.Option], context: click.Context) -> Iterator[str]:
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            names, text = record
            # A bar would end the cell; written so, GitHub and the site show it, and may break the line there.
            code = f"<code>{names.replace('|', '&#124;<wbr>')}</code>" if "|" in names else f"`{names}`"
            yield f"| {code} | {_escaped(' '.join(text.split()))} |\n"


def _summary(context: click.Context, name: str) -> str:
    return inspect.cleandoc(_command(context, name).help or "").splitlines()[0]


def _command(context: click.Context, name: str) -> click.Command:
    command = main.get_command(context, name)
    assert command is not None
    return command


def _escaped(text: str) -> str:
    for character in "*|":
        text = text.replace(character, "\\" + character)
    return text.replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
