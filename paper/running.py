"""All steps of some studies, one after another, with a bar; finished ones are left out."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paper.store import Store
from paper.study import Row, Scope, Step, Study


def run(studies: Sequence[Study], store: Store, scope: Scope, console: Console) -> dict[str, list[Row]]:
    """The rows of all their tables."""
    steps = [step for study in studies for step in study.steps(scope)]
    waiting = [step for step in steps if store.seconds(step) is None]
    if len(waiting) < len(steps):
        console.print(f"{len(steps) - len(waiting)} of {len(steps)} steps are finished already")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(steps), completed=len(steps) - len(waiting))
        for step in waiting:
            progress.update(task, description=_title(step))
            seconds = store.do(step)
            progress.advance(task)
            console.print(f"{_title(step)}: {seconds:.1f} s", highlight=False)
    return store.gather(steps)


def _title(step: Step) -> str:
    return f"{step.table}, {step.key}"
