"""Help under headings, and where the options of each heading come from."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from steelyard.cli import main
from steelyard.cli.grouped_help import MOST_USED, REST, GroupedCommand, several
from tests.cli.running import run

MANY = 12  # options: with more, a help without headings is a wall of text


def commands(group: click.Group = main, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


ALL = dict(commands())
GROUPED = {name: command for name, command in ALL.items() if isinstance(command, GroupedCommand)}


def option(name: str) -> click.Option:
    (found,) = [each for each in ALL["train"].params if each.name == name]
    assert isinstance(found, click.Option)
    return found


def test_commands_with_many_options_have_headings() -> None:
    for name, command in ALL.items():
        options = [each for each in command.params if isinstance(each, click.Option)]
        assert len(options) <= MANY or name in GROUPED


@pytest.mark.parametrize("name", GROUPED)
def test_every_option_is_under_one_heading(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = GROUPED[name]
    monkeypatch.setattr(command, "_help_option", None)  # click keeps the one of whoever asked first
    shown = [each.name for options in command.sections().values() for each in options]
    assert sorted(map(str, shown)) == sorted(
        str(each.name) for each in command.params if isinstance(each, click.Option)
    )
    text = run(*name.split(), "--help").stdout
    headings = [line.rstrip(":") for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == list(command.sections())
    assert text.count("-h, --help") == 1
    assert "-h, --help" in text.partition("\n\n" + headings[1])[0]


def test_the_options_of_train_that_people_use_first_come_first() -> None:
    assert isinstance(ALL["train"], GroupedCommand)
    sections = ALL["train"].sections()
    assert list(sections) == [
        MOST_USED, "Files", "Columns of tables", "Labels and weights", "Text and features",
        "Namespaces of Vowpal Wabbit text", "Learning", "Running", "Cluster",
    ]  # fmt: skip
    assert [each.name for each in sections[MOST_USED]][:2] == ["output", "label"]
    assert len(sections[MOST_USED]) == 12
    assert option("tau") in sections["Learning"]


def test_a_heading_of_the_command_is_stronger_than_that_of_the_options() -> None:
    inner = several(click.option("--a"), click.option("--b"), heading="Inner")

    @click.command(cls=GroupedCommand, headings={"First": ("b", "d")})
    @several(inner, click.option("--c"), heading="Outer")
    @click.option("--d")
    @click.option("--e", hidden=True)
    @several(click.option("--f"))
    def command() -> None:
        """Nothing."""

    assert isinstance(command, GroupedCommand)
    found = {heading: [each.name for each in options] for heading, options in command.sections().items()}
    assert found == {"First": ["b", "d"], "Inner": ["a"], "Outer": ["c"], REST: ["e", "f"]}
    shown = CliRunner().invoke(command, ["--help"]).stdout
    assert "--e" not in shown
    assert shown.index("First:") < shown.index("--help") < shown.index("Inner:") < shown.index(REST)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", GROUPED)
def test_lines_fit_the_terminal(name: str, columns: int) -> None:
    context = click.Context(GROUPED[name], info_name=f"steelyard {name}", terminal_width=columns)
    text = GROUPED[name].get_help(context).partition("Examples:")[0]
    assert columns - 6 < max(map(len, text.splitlines())) <= columns


def test_lines_are_no_longer_than_can_be_read() -> None:
    assert main.context_settings["max_content_width"] == 100
