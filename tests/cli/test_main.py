"""The group of commands itself."""

import pkgutil
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

import steelyard
from steelyard import cli
from steelyard.cli import main, options

CONTEXT = click.Context(main)


def commands() -> Iterator[str]:
    """The files of the folder that hold a command."""
    for file in pkgutil.iter_modules(cli.__path__):
        module = __import__(f"steelyard.cli.{file.name}", fromlist=["command"])
        if isinstance(getattr(module, "command", None), click.Command):
            yield file.name


def test_every_command_is_listed() -> None:
    assert sorted(main.list_commands(CONTEXT)) == sorted(commands())


@pytest.mark.parametrize("name", main.list_commands(CONTEXT))
def test_help_and_the_list_agree_about_each_command(name: str) -> None:
    overview = " ".join(CliRunner().invoke(main, ["--help"]).stdout.split())
    details = CliRunner().invoke(main, [name, "--help"])
    assert details.exit_code == 0
    command = main.get_command(CONTEXT, name)
    assert command is not None
    assert command.help is not None
    assert f"{name} {command.help.splitlines()[0]}" in overview


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["weigh"])
    assert result.exit_code == 2
    assert "No such command 'weigh'" in result.stderr


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout == f"steelyard, version {steelyard.__version__}\n"


def test_an_interrupt_that_got_lost_is_found_again() -> None:
    """Numba forgets one that comes while it takes over a pointer, and then misses an argument of its own;
    or it returns from a kernel as if nothing had happened.
    """
    with pytest.raises(KeyboardInterrupt), options.errors():
        raise TypeError("_get_wrapper_address() missing 1 required positional argument: 'sig'")
    with pytest.raises(KeyboardInterrupt), options.errors():
        raise SystemError("a kernel returned a result with an exception set") from KeyboardInterrupt()
    for other in (TypeError("something else"), SystemError("something else")):
        with pytest.raises(type(other), match="something else"), options.errors():
            raise other
