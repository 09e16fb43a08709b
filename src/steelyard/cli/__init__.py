"""The command line: one file a command, imported when the command is called.

So `steelyard --help` stays instant, whatever a command needs.
"""

import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

import steelyard
from steelyard._messages import GONE, did_you_mean
from steelyard.cli.fasttext_options import refuse
from steelyard.cli.terminal import guarded_terminals

_summaries = {
    "train": "Learn files in order, show progress, save the model.",
    "sweep": "Learn files with many settings at once, and compare.",
    "predict": "Predict the rows of files, one line for each, or a table with predictions added.",
    "filter": "Score the rows of many files, and write those that are kept, with their scores.",
    "audit": "Estimate the precision and recall of a filter from a labelled sample.",
    "serve": "Answer rows over HTTP, until Ctrl-C or SIGTERM.",
    "evaluate": "Compare predictions with labels: loss, accuracy, confusion table, F1, AUC, calibration.",
    "report": "Write a page about a model and labelled rows: how good it is, why, and where it errs.",
    "inspect": "Show a model: settings, figures, and the largest coefficients of every class, by name.",
    "explain": "Show which features contribute most to each prediction, by name.",
    "merge": "Merge several models, each trained on a part of the rows, into one.",
    "convert": "Write files of any format as a binary file that loads much faster.",
    "export": "Write a model for programs without steelyard: JSON, JavaScript, ONNX.",
    "active": "Active learning: choose the examples whose labels are worth asking for.",
    "losses": "List the losses.",
    "demo": "Learn who survived the Titanic from a weighted sample, and write pages about it.",
}

_GONE: dict[tuple[str | None, str], str] = {
    (
        "simulate",
        "--grid",
    ): "it is gone: it was the paper's experiment, which python -m paper --only active runs in "
    "a checkout of steelyard; without it, simulate compares strategies as ActiveClassifier learns",
}
"""Options of earlier releases by command, and what to do instead."""


_WIDEST_HELP = 100  # characters of a line: longer ones are hard to read


@contextmanager
def _flags_of_others(arguments: list[str]) -> Iterator[None]:
    """Answers unknown flags with what to type here: all those of Vowpal Wabbit at once, and some of other
    commands.
    """
    try:
        yield
    except click.NoSuchOption as error:
        from steelyard.cli.vw_options import answer

        known = [] if error.ctx is None else [name for each in error.ctx.command.params for name in each.opts]
        instead = answer(error.option_name, known)
        gone = GONE.get(error.option_name.removeprefix("--").replace("-", "_"))
        command = None if error.ctx is None else error.ctx.info_name
        gone = gone or _GONE.get((command, error.option_name))
        if gone is not None:
            said = f"No such option {error.option_name!r}: {gone}"
            raise click.NoSuchOption(error.option_name, said, ctx=error.ctx) from None
        if error.option_name in ("--json", "--jsonl") and "--output-format" in known:
            said = f"No such option {error.option_name!r}: use --output-format jsonl"
            raise click.NoSuchOption(error.option_name, said, ctx=error.ctx) from None
        if instead is None:
            raise
        said = f"No such option {error.option_name!r}, a flag of Vowpal Wabbit: {instead}"
        flags = dict.fromkeys(each.partition("=")[0] for each in arguments if each.startswith("-"))
        for flag in [each for each in flags if each not in (error.option_name, *known)]:
            further = answer(flag, known)
            said += "" if further is None else f"\n{flag}: {further}"
        raise click.NoSuchOption(error.option_name, said, ctx=error.ctx) from None


@contextmanager
def _tidy_when_terminated() -> Iterator[None]:
    """Lets SIGTERM unwind a command as Ctrl-C does, so that no temporary file stays behind."""
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    )
    came = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        sys.exit(128 + number)

    if ours:
        signal.signal(signal.SIGTERM, end)
    try:
        yield
    except Exception as error:
        if came:  # Numba answers it with an error of its own, as `restored_interrupts` says of Ctrl-C
            raise SystemExit(128 + signal.SIGTERM) from error
        raise
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Commands(click.Group):
    """A group whose commands are the files of a folder, each holding one `command`."""

    def __init__(self, *, folder: str, summaries: dict[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._folder, self._summaries = folder, summaries
        self._arguments: list[str] = []

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._summaries:
            return None
        command: click.Command = importlib.import_module(f"{self._folder}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self._summaries and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self._summaries)
            if Path(args[0]).is_file():
                hint = f"; to learn a file: steelyard train {args[0]}"
            ctx.fail(f"No such command {args[0]!r}{hint or '.'}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        self._arguments = list(args)
        refuse(self._arguments, ctx)
        with _flags_of_others(self._arguments):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _flags_of_others(self._arguments), _tidy_when_terminated():
            return super().invoke(ctx)

    def main(self, *args: Any, **extra: Any) -> Any:
        with guarded_terminals():  # around everything: errors are printed last
            return super().main(*args, **extra)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))


@click.command(
    cls=Commands,
    folder=f"{__name__}.commands",
    summaries=_summaries,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST_HELP},
)
@click.version_option(steelyard.__version__, prog_name="steelyard")
def main() -> None:
    """Online learning in which an importance weight of h means exactly h copies of the example."""
