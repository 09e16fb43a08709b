"""What is seen of a simulation while it runs: a bar on standard error, if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def ticking(total: int) -> Iterator[Callable[[], None]]:
    """Something to call after each of so many trials."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    columns = TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
