"""Lines on standard output, said by a command whose work is worth more than what it says of it."""

import os
import sys
from collections.abc import Callable

import click

Say = Callable[[str], None]


def voice(*, keeps: bool) -> Say:
    """How a command speaks that keeps something, or that only speaks: then it ends when nobody listens."""
    return say if keeps else click.echo


def say(line: str) -> None:
    """Print a line. Once nobody reads on, as after `| head`, this and all that follow go nowhere."""
    try:
        click.echo(line)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # also what is still waiting to be written
        os.close(nowhere)
