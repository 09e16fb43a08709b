"""What is seen of a sweep while it runs: announcements, a bar, and what Ctrl-C does."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from steelyard.cli.common import Say
from steelyard.sweep.search import Search, SearchProgress

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


class _Stopped(KeyboardInterrupt):
    """Ctrl-C, at a moment when the state is kept."""


def announce(lines: list[str], say: Say) -> None:
    for line in (*lines, ""):
        say(line)


class Rate(ProgressColumn):
    """Rows a second, counted once for every model that learns them."""

    def render(self, task: Task) -> Text:
        rate = task.fields["learned"] / max(task.elapsed or 0.0, 1e-9)
        return Text(f"{rate / 1e6:,.2f} M rows × models/s")


@contextmanager
def watching(search: Search, state: Path | None) -> Iterator[Callable[[SearchProgress], None]]:
    """Something to call with the progress; with a state, Ctrl-C ends the run at the next good moment."""
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, before)  # whoever asks again does not want to wait

    def watch(progress: SearchProgress) -> None:
        show(progress)
        if interrupted:
            raise _Stopped

    before: Any = signal.getsignal(signal.SIGINT)
    if state is not None:
        signal.signal(signal.SIGINT, interrupt)
    try:
        with _bar(len(search.plan.rounds)) as show:
            yield watch
    except _Stopped:
        click.echo(f"interrupted: the state is in {state}, and the same command goes on from there", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(rounds: int) -> Iterator[Callable[[SearchProgress], None]]:
    """On standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        Rate(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("compiling", total=1.0, learned=0)

        def show(progress: SearchProgress) -> None:
            text = f"round {progress.number + 1} of {progress.rounds}" if rounds > 1 else "learning"
            bar.update(task, description=text, completed=progress.share, learned=progress.learned)

        yield show
