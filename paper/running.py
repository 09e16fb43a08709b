"""Runs the steps of some studies one after another, with a progress bar; skips finished ones."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from paper.store import Store
from paper.study import Row, Scope, Step, Study
from paper.time_left import TimeLeft, format_seconds


def run(studies: Sequence[Study], store: Store, scope: Scope, console: Console) -> dict[str, list[Row]]:
    """Run what is not finished; returns the rows of all tables."""
    steps = [step for study in studies for step in study.steps(scope)]
    store.check(steps)
    waiting = [step for step in steps if store.seconds(step) is None]
    if len(waiting) < len(steps):
        console.print(f"{len(steps) - len(waiting)} of {len(steps)} steps are finished already")
    remaining = TimeLeft(_before(store, steps))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Left()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(steps), completed=len(steps) - len(waiting), ends=None)
        for done, step in enumerate(waiting):
            left = remaining.seconds(waiting[done:])
            ends = None if left is None else time.monotonic() + left
            progress.update(task, description=_title(step), ends=ends)
            seconds = _do(step, store)
            remaining.learn(step, seconds)
            progress.advance(task)
            console.print(f"{_title(step)}: {seconds:.1f} s", highlight=False)
    return store.gather(steps)


class _Left(ProgressColumn):
    """The time left, counted down between estimates."""

    def render(self, task: Task) -> Text:
        ends = task.fields["ends"]
        return Text("" if ends is None else f"about {format_seconds(max(0.0, ends - time.monotonic()))} left")


def _do(step: Step, store: Store) -> float:
    try:
        return store.do(step)
    except Exception as error:
        error.add_note(f"This was the step {_title(step)!r}. All steps finished before it are kept.")
        raise


def _before(store: Store, steps: Sequence[Step]) -> dict[tuple[str, str], float]:
    found = {(step.table, step.key): store.about(step).get("seconds") for step in steps}
    return {which: seconds for which, seconds in found.items() if isinstance(seconds, float)}


def _title(step: Step) -> str:
    return f"{step.table}, {step.key}"
