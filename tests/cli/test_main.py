"""The group of commands itself."""

import pkgutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import click
import pytest
from click.testing import CliRunner

import steelyard
import steelyard.cli as cli_package
from steelyard.cli import commands, main, options

CONTEXT = click.Context(main)


def command_files() -> Iterator[str]:
    """The files of the folder that hold a command."""
    for file in pkgutil.iter_modules(commands.__path__):
        module = __import__(f"steelyard.cli.commands.{file.name}", fromlist=["command"])
        if isinstance(getattr(module, "command", None), click.Command):
            yield file.name


def test_every_command_is_listed() -> None:
    assert sorted(main.list_commands(CONTEXT)) == sorted(command_files())


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
    """Numba may swallow one where it calls Python from within, and raise something else later."""
    before = signal.getsignal(signal.SIGINT)

    def lose(interrupt: bool) -> None:
        with options.errors(), options.errors():
            if interrupt:
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
            raise consequence

    for consequence in (TypeError("missing argument 'sig'"), SystemError("a result with an exception set")):
        with pytest.raises(KeyboardInterrupt):
            lose(interrupt=True)
        with pytest.raises(type(consequence)):
            lose(interrupt=False)
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupts_are_left_alone_where_they_are_ignored_or_belong_to_another_thread() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with options.errors():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(CliRunner().invoke, main, ["inspect", "missing"]).result().exit_code == 1


def test_a_lost_sigterm_ends_the_command_all_the_same() -> None:
    def fail(*, terminated: bool) -> None:
        with cli_package._tidy_when_terminated():
            if terminated:
                with suppress(SystemExit):  # as Numba does, which goes on with an error of its own
                    signal.raise_signal(signal.SIGTERM)
            raise TypeError("an error")

    with pytest.raises(SystemExit, match="143"):
        fail(terminated=True)
    with pytest.raises(TypeError, match="an error"):
        fail(terminated=False)
