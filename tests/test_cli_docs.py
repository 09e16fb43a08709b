"""The reference of the command line is that of the command line."""

import click
import pytest

from docs import generate_cli
from steelyard.cli import main

CONTEXT = click.Context(main)


def section(name: str) -> str:
    _, _, rest = generate_cli.PAGE.read_text(encoding="utf-8").partition(f"## steelyard {name}\n")
    return rest.partition("\n## ")[0]


def test_the_page_is_as_it_would_be_written_now() -> None:
    assert generate_cli.PAGE.read_text(encoding="utf-8") == generate_cli.page(), (
        "docs/cli.md is stale: make docs (or: python docs/generate_cli.py)"
    )


@pytest.mark.parametrize("name", main.list_commands(CONTEXT))
def test_the_page_has_every_command_and_option(name: str) -> None:
    command = main.get_command(CONTEXT, name)
    assert command is not None
    assert command.help is not None
    text = section(name)
    assert command.help.splitlines()[0] in text
    for parameter in command.params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if isinstance(parameter, click.Option):
                assert option in text, f"docs/cli.md lacks {option} of {name}: make docs"
