"""What a sweep shows while it learns: the plan and a bar, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bar

from steelyard.sweep.search import Progress, Search


@contextmanager
def watching(search: Search, verbose: int) -> Iterator[Callable[[Progress], None] | None]:
    """With `verbose`, something to call with the progress."""
    if not verbose:
        yield None
        return
    console = Console(stderr=True)
    console.print(search.plan.describe(), highlight=False)
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("learning", total=1.0)
        yield lambda progress: bar.update(task, completed=progress.share)
