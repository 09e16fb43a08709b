"""Options that several commands share, and what they have in common with the losses they speak of."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from steelyard import losses
from steelyard.io.formats import FORMATS
from steelyard.losses import Loss

FILES = click.argument("files", nargs=-1, required=True, metavar="FILE…")
THREADS = click.option(
    "--threads", type=click.IntRange(1, 64), help="Threads that parse.  [default: one a core, at most 4]"
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
ON_ERROR = click.option(
    "--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
    help="What to do at a line that cannot be read: stop, or skip it and count.",
)  # fmt: skip
FORMAT = click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="The files' format.  [default: as they look]"
)

INTERACTIONS = click.option(
    "--interactions", multiple=True, metavar="A*B",
    help="Also learn products of features of these namespaces or columns; may be repeated.",
)  # fmt: skip
BITS = click.option("--bits", type=click.IntRange(1, 30), help="The model has 2^bits weights.  [default: 20]")
LABELS = click.option(
    "--labels", metavar="NEGATIVE,POSITIVE",
    help="The two classes as the files call them; * for anything else, as in '*,spam'.",
)  # fmt: skip
NAMES = click.option(
    "--names/--no-names", default=True, show_default=True,
    help="Keep the features' names, so that the model can be read.",
)  # fmt: skip

# Shown at the end of each command's help.
EXAMPLES = {
    name: "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    for name, lines in {
        "train": (
            "steelyard train rows.vw -o rows.model",
            "steelyard train part-*.svm.gz --loss logistic --passes 3 --holdout 10",
            "zcat log.gz | steelyard train - --format vw --json",
            "steelyard train reviews.tsv.xz --interactions 'user*item' -o reviews.model",
            "steelyard train more.vw --resume rows.model -o rows.model",
        ),
        "predict": (
            "steelyard predict rows.model new.vw > predictions.txt",
            "steelyard predict spam.model mail.tsv --as probability -o chances.txt",
        ),
        "evaluate": (
            "steelyard evaluate rows.model test.vw",
            "steelyard evaluate rows.model 'test-*.svm.gz' --json",
        ),
        "inspect": ("steelyard inspect rows.model", "steelyard inspect rows.model --top 30 --json"),
        "explain": ("steelyard explain rows.model new.vw --rows 3 --top 8",),
    }.items()
}
OWN_LOSS = click.option(
    "--loss", metavar="MODULE:CLASS", help="The loss, for a model that was trained with your own."
)


def options(*given: Callable[..., Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, in this order in the help."""

    def decorate(command: Any) -> Any:
        for option in reversed(given):
            command = option(command)
        return command

    return decorate


READING = options(FORMAT, BITS, INTERACTIONS, LABELS, NAMES)


@contextmanager
def errors() -> Iterator[None]:
    """What is wrong with the input or the options is said in a line, not in a traceback."""
    try:
        yield
    except (ValueError, FloatingPointError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{where}{error.strerror or error}") from error


def loss_parameters() -> Callable[[Any], Any]:
    """An option for every parameter that some loss has, such as --tau."""
    takers: dict[str, dict[str, float]] = {}
    for name in losses.names():
        for parameter, default in losses.parameters(name).items():
            takers.setdefault(parameter, {})[name] = default
    return options(*(_parameter_option(name, of) for name, of in takers.items()))


def _parameter_option(name: str, of: dict[str, float]) -> Callable[..., Any]:
    takers = ", ".join(f"{loss} loss (default {default:g})" for loss, default in of.items())
    return click.option(f"--{name.replace('_', '-')}", name, type=float, help=f"Of {takers}.")


def loss_named(name: str, parameters: dict[str, float]) -> Loss:
    """A loss by its name, or a user's own as `module:Class`."""
    if ":" not in name:
        return losses.by_name(name, **parameters)
    module, _, cls = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), cls)
    except (ImportError, AttributeError) as error:
        raise click.BadParameter(f"{name}: {error}", param_hint="--loss") from None
    finally:
        sys.path.pop(0)
    loss: Loss = found(**parameters)
    return loss
