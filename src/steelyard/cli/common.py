"""What commands have in common: the clock, interrupts, lines on standard output, output files."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Optional

import click

from steelyard._messages import counted, did_you_mean
from steelyard.cli.wording import in_options
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.features import Names
    from steelyard.io.stream import Stream

Say = Callable[[str], None]

_MOST_NAMESPACES = 10  # that are listed
_MOST_PROBLEMS = 3
_NOTICEABLE = 1.1  # steps are so much longer where the rarer class has less than 29 % of the weight


def seconds_since_start() -> float:
    """How long this process has been running; where the system does not say, its processor time."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - float(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, IndexError, ValueError):
        return time.process_time()


@contextmanager
def restored_interrupts() -> Iterator[None]:
    """Turns an error that follows a lost Ctrl-C into that Ctrl-C.

    Where Numba calls Python from within (to take over a pointer, to build what a kernel returns), it
    answers an interrupt with errors of its own, of several kinds and with chains of several lengths. So
    whether one came is noted when it comes, and any error after that is its consequence.
    """
    handler: Any = signal.getsignal(signal.SIGINT)
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        handler(number, frame)

    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


def printer(*, keeps: bool) -> Say:
    """How a command prints. One that saves a result goes on when nobody reads; any other ends then."""
    return say if keeps else click.echo


def say(line: str) -> None:
    """Print a line. Once nobody reads on, as after `| head`, this and all that follow go nowhere."""
    try:
        click.echo(line)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # also what is still waiting to be written
        os.close(nowhere)


def tell(line: str) -> None:
    """Print a line on standard error, beside the results."""
    click.echo(in_options(line), err=True)


def check_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[str | Path], *, force: bool = False
) -> None:
    """Refuse outputs that cannot be written, or would replace an input or what steelyard has not made.

    Models, report pages and empty files may be replaced, and with `force` any file.
    """
    for output in filter(None, outputs):
        folder = output.parent
        if not folder.is_dir():
            raise InputError(f"{output}: there is no folder {str(folder)!r}; make it first")
        if not os.access(folder, os.W_OK):
            raise InputError(f"{output}: the folder {str(folder)!r} may not be written to")
        if output.is_file() and any(Path(each).is_file() and output.samefile(each) for each in inputs):
            raise InputError(
                f"{output}: is read, and would be replaced by what is written; name another file"
            )
        if output.is_file() and not force and not _is_ours(output):
            raise InputError(f"{output} already exists; name another file, or replace it with --force")


def _is_ours(path: Path) -> bool:
    """Whether it is empty, a report page or a model, which steelyard can make again."""
    from steelyard import model_file
    from steelyard.report import BEGINNING

    with path.open("rb") as file:
        beginning = file.read(len(BEGINNING))
    return beginning in (b"", BEGINNING) or model_file.is_model(path)


def steps_fact(class_steps: float) -> str | None:
    """How much longer the steps of learning are because one of two classes is rare; None if hardly."""
    if class_steps < _NOTICEABLE:
        return None
    return f"learning rate × {class_steps:.1f} (one class is rare: docs/estimators.md, the default scaling)"


def fact_lines(facts: dict[str, str | None]) -> list[str]:
    """A line for each fact; None stands for nothing to say."""
    return [f"{name:<22} {value}" for name, value in facts.items() if value is not None]


def skips_and_notes(result: dict[str, Any], notes: list[str]) -> list[str]:
    """The end of a report: lines that could not be read, if any, and what else there is to say."""
    lines = []
    if result["skipped"]:
        such = ", such as" if result["skipped"] > _MOST_PROBLEMS else ":"
        lines.append(f"skipped {counted(result['skipped'], 'line')} that could not be read{such}")
        lines += [f"  {problem}" for problem in result["problems"][:_MOST_PROBLEMS]]
    return lines + [f"note: {note}" for note in notes]


def aligned(table: Sequence[Sequence[str]], left: int) -> list[str]:
    """The lines of a table, its first columns flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    line = "  ".join(f"{{:{'<' if place < left else '>'}{width}}}" for place, width in enumerate(widths))
    return [line.format(*row).rstrip() for row in table]


def unused_interactions(stream: "Stream", names: Optional["Names"]) -> list[str]:
    """A line for each namespace of --interactions that no row has, with the names of those that exist."""
    if not stream.unmet:
        return []
    met = {} if names is None else dict.fromkeys(map(_namespace, names.by_index().values()))
    met.pop("", None)
    some = ", ".join([*met][:_MOST_NAMESPACES]) + (", …" if len(met) > _MOST_NAMESPACES else "")
    there = f" (there are {some})" if met else ""
    return [
        f"--interactions: no row has a namespace {name!r}, so nothing was crossed with it"
        f"{did_you_mean(name, met)}{there}"
        for name in stream.unmet
    ]


def _namespace(feature: str) -> str:
    """The namespace of `namespace^name`; a product is named by its parts, with a * in between."""
    return feature.partition("*")[0].rpartition("^")[0]
