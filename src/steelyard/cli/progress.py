"""What a user sees of a run: the table of progressive validation, bars on a terminal, and what Ctrl-C does."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from steelyard.cli.common import Say
from steelyard.engine.file_training import FileTraining
from steelyard.engine.passes import LearnedPiece
from steelyard.sweep.search import SearchProgress

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal

_HEADINGS = (
    ("average", "since", "example", "example", "current", "current", "current"),
    ("loss", "last", "counter", "weight", "label", "predict", "features"),
)
_ROW = "{:>10} {:>10} {:>10} {:>12} {:>9} {:>9} {:>9}"


class Rates(ProgressColumn):
    """Rows and megabytes a second."""

    def render(self, task: Task) -> Text:
        elapsed = max(task.elapsed or 0.0, 1e-9)
        rows = task.fields.get("rows", 0) / elapsed
        return Text(f"{rows:,.0f} rows/s  {task.completed / elapsed / 1e6:,.0f} MB/s")


class Watcher:
    """Prints a line at 1, 2, 4, 8, … examples, and moves the bar."""

    def __init__(self, training: FileTraining, bar: Progress, *, table: bool, say: Say) -> None:
        self._training, self._bar, self._table, self._say = training, bar, table, say
        self._task = bar.add_task("", total=None, rows=0)
        self._next = 1
        loss, weight = training.engine.progress_sums()  # of a model that goes on, not nothing
        best = training.engine.best
        self._last = float(loss[best]), float(weight[best])
        if table:
            for headings in _HEADINGS:
                self._print(_ROW.format(*headings))

    def __call__(self, learned: LearnedPiece) -> None:
        if self._table and learned.pass_number == 0:
            self._lines(learned)
        stream = self._training.files.stream
        assert stream is not None
        text = f"pass {learned.pass_number + 1}" if learned.pass_number else ""
        self._bar.update(
            self._task, description=text, completed=stream.position, total=stream.size, rows=stream.rows
        )

    def _lines(self, learned: LearnedPiece) -> None:
        examples, predictions = learned.examples, learned.predictions
        if self._next > learned.first + len(examples) or predictions is None:
            return
        weights = examples.sample_weight[:, np.newaxis]
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite loss is shown as one
            values = self._training.engine.row_losses(predictions, np.nan_to_num(examples.labels))
            losses = learned.loss_before + np.cumsum(np.where(weights > 0.0, weights * values, 0.0), axis=0)
            totals = learned.weight_before + np.cumsum(weights, axis=0)
        while self._next <= learned.first + len(examples):
            row = self._next - learned.first - 1
            if row >= 0:
                best = int(np.argmin(losses[row]))  # of several settings, the one that would answer here
                self._line(learned, row, best, float(losses[row, best]), float(totals[row, best]))
            self._next *= 2

    def _line(self, learned: LearnedPiece, row: int, best: int, loss: float, weight: float) -> None:
        since = _ratio(loss - self._last[0], weight - self._last[1])
        self._last = loss, weight
        label, predicted = self._label_and_prediction(learned, row, best)
        self._print(
            _ROW.format(
                fitted(_ratio(loss, weight), 6, 10),
                fitted(since, 6, 10),
                self._next,
                fitted(weight, 1, 12),
                label,
                predicted,
                int(learned.examples.indptr[row + 1] - learned.examples.indptr[row]),
            )
        )

    def _label_and_prediction(self, learned: LearnedPiece, row: int, best: int) -> tuple[str, str]:
        """Numbers, or with more than two classes their names."""
        assert learned.predictions is not None
        label, predictions = learned.examples.labels[row], learned.predictions[row]
        names = self._training.class_names
        if names is None or len(names) <= 2:
            shown = "unknown" if np.isnan(label) else fitted(label, 4, 9)
            return shown, fitted(predictions[best], 4, 9)
        predicted = int(predictions[best * len(names) : (best + 1) * len(names)].argmax())
        shown = "unknown" if np.isnan(label) else str(names[int(label)])
        return shown[:9], str(names[predicted])[:9]

    def _print(self, line: str) -> None:
        if not self._bar.disable and sys.stdout.isatty():
            self._bar.console.print(line, highlight=False, markup=False)
        else:
            self._say(line)


def fitted(number: float, decimals: int, width: int) -> str:
    """The number with so many decimals, or as many as the column has room for."""
    for some in range(decimals, -1, -1):
        text = f"{number:.{some}f}"
        if len(text) <= width:
            return text
    return f"{number:.{width - 7}g}"


def bar(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error, if that is a terminal."""
    hidden = not sys.stderr.isatty()
    return Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), *columns, transient=True,
        console=Console(stderr=True, quiet=hidden), redirect_stdout=False, disable=hidden,
    )  # fmt: skip


def _ratio(loss: float, weight: float) -> float:
    return loss / weight if weight > 0.0 else 0.0


class _Stopped(KeyboardInterrupt):
    """Ctrl-C was pressed, and the state of the run is saved."""


class ModelRate(ProgressColumn):
    """Rows a second, counted once for every model that learns them."""

    def render(self, task: Task) -> Text:
        rate = task.fields["learned"] / max(task.elapsed or 0.0, 1e-9)
        return Text(f"{rate / 1e6:,.2f} M rows × models/s")


@contextmanager
def watching_search(state: Path | None) -> Iterator[Callable[[SearchProgress], None]]:
    """Yields what to call with the progress. With a state, Ctrl-C ends the run once the state can be saved."""
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, before)  # whoever asks again does not want to wait

    def watch(progress: SearchProgress) -> None:
        text = f"round {progress.number + 1} of {progress.rounds}" if progress.rounds > 1 else "learning"
        shown.update(task, description=text, completed=progress.share, learned=progress.learned)
        if interrupted:
            raise _Stopped

    before: Any = signal.getsignal(signal.SIGINT)
    if state is not None:
        signal.signal(signal.SIGINT, interrupt)
    try:
        with bar(TaskProgressColumn(), ModelRate()) as shown:
            task = shown.add_task("compiling", total=1.0, learned=0)
            yield watch
    except _Stopped:
        click.echo(f"interrupted: the state is in {state}; the same command continues from there", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, before)
