"""Options that several commands share, and the typed objects that they become."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from steelyard import losses
from steelyard.cli.common import restored_interrupts
from steelyard.cli.option_types import Choice, ClassWeights, NamedPath
from steelyard.cli.vw_options import NAMESPACES, QUADRATIC
from steelyard.cli.wording import error_text
from steelyard.io import formats
from steelyard.io.errors import InputError
from steelyard.losses import Loss
from steelyard.schedules import AUTO

if TYPE_CHECKING:  # a command whose help is asked for loads no kernels
    from steelyard.engine.run_options import RunOptions
    from steelyard.io.read_options import ReadOptions
    from steelyard.model import Settings

FILE_PATH = NamedPath(dir_okay=False, path_type=Path)
FOLDER_PATH = NamedPath(file_okay=False, path_type=Path)
MODEL = click.argument("model", type=FILE_PATH)
FILES = click.argument("files", nargs=-1, required=True, metavar="FILE…")
THREADS = click.option(
    "--threads", type=click.IntRange(1, 64),
    help="Number of parsing threads.  [default: one per core, at most 4]",
)  # fmt: skip
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
ON_ERROR = click.option(
    "--on-error", type=Choice(["stop", "skip"]), default="stop", show_default=True,
    help="What to do with a line that cannot be read: stop, or skip and count it.",
)  # fmt: skip
FORCE = click.option(
    "--force", is_flag=True,
    help="Replace existing files. A model always replaces a model, without --force.",
)  # fmt: skip
FORMAT = click.option(
    "--format", "format_", type=Choice(formats.names()), help="The files' format.  [default: detected]"
)

ENCODING = click.option(
    "--encoding", metavar="NAME",
    help="The encoding of text files, such as latin-1.  [default: UTF-8, or by the byte order mark]",
)  # fmt: skip
INTERACTIONS = click.option(
    "--interactions", multiple=True, metavar="A*B",
    help="Also learn products of the features of these namespaces or columns; may be repeated.",
)  # fmt: skip
BITS = click.option(
    "--bits", type=click.IntRange(1, 30), help="The model has 2^bits coefficients.  [default: 20]"
)
LABELS = click.option(
    "--labels", metavar="A,B,…",
    help="The names of the classes in the files: two, the negative one first, or more. * in the first place "
    "means every other label, as in '*,spam'.  [default: detected]",
)  # fmt: skip
TASK = click.option(
    "--classes/--numbers", "classes", default=None,
    help="Whether numeric labels are classes or numbers to predict.  [default: two different values are "
    "classes, more are numbers; --loss and --labels also decide it]",
)  # fmt: skip
EVALUATED_LABELS = click.option(
    "--labels", metavar="A,B,…",
    help="The names of the classes in these files, in the order of the model's own. * in the first place "
    "means every other label.  [default: the model's]",
)  # fmt: skip
HELD_OUT = click.option(
    "--held-out", is_flag=True,
    help="Only the rows that train --holdout kept aside. The files must be those of the training run, in the "
    "same order.",
)  # fmt: skip
WEIGHT_FACTOR = click.option(
    "--weight-factor", type=click.FloatRange(0.0, min_open=True), metavar="FACTOR", default=1.0,
    show_default=True,
    help="Multiply all weights by this: 1e-5 for survey weights in the hundreds of thousands.",
)  # fmt: skip
WEIGHT_SCALE = click.option(
    "--weight-scale", type=Choice(["auto", "as_given"]), default="auto", show_default=True,
    help="auto: if the weights of the first rows make no sense as counts (median and mean both below 1/8 or "
    "both above 16), bring all weights nearer to 1; as_given: never.",
)  # fmt: skip
NAMES = click.option(
    "--names/--no-names", default=True, show_default=True,
    help="Save the names of features, which inspect and explain show.",
)  # fmt: skip
TEXT_COLUMN = click.option(
    "--text", metavar="COLUMN", help="The column with the text, if it is not called as in training."
)
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


SCORING = options(TEXT_COLUMN, ENCODING, OWN_LOSS, THREADS, ON_ERROR)
"""What all commands take that predict files."""


def _role(name: str, text: str) -> Callable[..., Any]:
    """An option that names a column, or several of them."""
    several = name in ("text", "category", "number", "ignore")
    return click.option(f"--{name}", multiple=several, metavar="COLUMN", help=text)


def _characters(ctx: click.Context, param: click.Parameter, given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    from steelyard.io.read_options import parse_characters

    try:
        return parse_characters(given)
    except ValueError as error:
        raise click.BadParameter(f"{error_text(error)}.", ctx, param) from None


TABLES = options(
    _role("label", "Tables: the column with the label.  [default: this and the other columns are detected]"),
    _role("weight", "Tables: the column with the weight."),
    _role("propensity", "Tables: the column with the probability p of observing the row; its weight is 1/p."),
    _role("offset", "Tables: the column with a number to add to the prediction."),
    _role("tag", "Tables: the column with names for the rows, which predict prints."),
    _role("text", "Tables: a column of text. This option and the next three may be repeated."),
    _role("category", "Tables: a column of categories."),
    _role("number", "Tables: a column of numbers."),
    _role("ignore", "Tables: a column to leave out. Vowpal Wabbit text: first letters of namespaces."),
    click.option("--separator", help="What separates the fields of a CSV or TSV file.  [default: detected]"),
    click.option(
        "--header/--no-header", default=None,
        help="Whether the file begins with column names.  [default: detected]",
    ),
    click.option(
        "--words", type=click.IntRange(0, 16), default=1, show_default=True,
        help="Use runs of 1 to this many words of a text.",
    ),
    click.option(
        "--characters", callback=_characters, metavar="LEAST-MOST",
        help="Also use runs of LEAST to MOST characters, as in 3-5; with --words 0, only these.",
    ),
    click.option(
        "--repeated", type=Choice(["relative", "sublinear", "binary", "counts"]), default="relative",
        show_default=True,
        help="The value of a word that occurs n times in a text: sublinear 1 + log n, relative that divided "
        "by the length of the text, binary 1, counts n.",
    ),
)  # fmt: skip
COUNTS = options(
    _role("count", "Tables: the column with the number of examples in each row; see --positives."),
    _role("positives", "Tables: the column with the number of positive examples in each row. Such "
          "rows are learned in random order, and large counts in parts."),
)  # fmt: skip
READING = options(
    FORMAT, ENCODING, BITS, INTERACTIONS, QUADRATIC, LABELS, NAMES, WEIGHT_FACTOR, TABLES, *NAMESPACES
)


@contextmanager
def errors() -> Iterator[None]:
    """Errors in the input or the options end in a line, not in a traceback."""
    try:
        with restored_interrupts():
            yield
    except (ValueError, FloatingPointError, ImportError) as error:
        raise click.ClickException(error_text(error)) from error
    except MemoryError as error:
        raise click.ClickException(f"not enough memory ({error}); fewer --bits need less") from error
    except BrokenPipeError:  # the reader of our output has had enough: no error
        raise
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
    return click.option(f"--{name.replace('_', '-')}", name, type=float, help=f"Parameter of {takers}.")


def loss_named(name: str, parameters: dict[str, float]) -> Loss:
    """A loss by its name, or a user's own as `module:Class`."""
    own = own_loss(name)
    if own is None:
        return losses.by_name(name, **parameters)
    try:
        return own(**parameters)
    except TypeError as error:
        raise click.BadParameter(f"{name}: {error}", param_hint="--loss") from None


def own_loss(name: str | None) -> type[Loss] | None:
    """The class meant by `module:Class`; None where no class of a user's own is meant."""
    if name is None or ":" not in name:
        return None
    module, _, cls = name.partition(":")
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        found = getattr(importlib.import_module(module), cls)
    except Exception as error:  # noqa: BLE001 - a user's file may raise anything
        raise click.BadParameter(f"{name}: {type(error).__name__}: {error}", param_hint="--loss") from None
    finally:
        sys.path.remove(folder)
    if not (isinstance(found, type) and issubclass(found, Loss)):
        raise click.BadParameter(f"{name}: not a subclass of steelyard.losses.Loss", param_hint="--loss")
    return found


CLASS_WEIGHT = click.option(
    "--class-weight", type=ClassWeights(), metavar="WEIGHTS",
    help="Multiply the weights of rows by class: balanced, or as in ham=1,spam=5.",
)  # fmt: skip


@dataclass(frozen=True)
class LearnOptions:
    """How models learn. `settings_for` completes it by the loss that fits the labels."""

    loss: str | None
    loss_parameters: dict[str, float]
    learning_rate: float | str | None
    settings: dict[str, Any]

    @classmethod
    def from_given(cls, given: dict[str, Any]) -> "LearnOptions":
        names = (
            "update",
            "scaling",
            "initial_t",
            "power_t",
            "l1",
            "l2",
            "average",
            "bias",
            "dtype",
        )
        return cls(
            given["loss"],
            given_loss_parameters(given),
            given["learning_rate"],
            {name: given[name] for name in names if given[name] is not None},
        )

    def settings_for(self, inferred: str) -> list["Settings"]:
        from steelyard.engine.auto_rate import candidates
        from steelyard.model import Settings

        loss = loss_named(self.loss or inferred, self.loss_parameters)
        auto = self.learning_rate == AUTO
        try:
            settings = Settings(
                loss=loss,
                learning_rate=None if auto else self.learning_rate,  # type: ignore[arg-type]
                **self.settings,
            )
        except TypeError as error:  # of a loss that cannot be compiled
            raise InputError(str(error)) from None
        return candidates(settings) if auto else [settings]


def read_options(given: dict[str, Any]) -> "ReadOptions":
    """From the options of `READING`."""
    from steelyard.io.read_options import ReadOptions

    names = {each.name for each in fields(ReadOptions)} - {"format"}
    return ReadOptions(format=given["format_"], **{name: given[name] for name in names & set(given)})


def task(given: dict[str, Any]) -> str | None:
    """What labels are, if the user says so: of `TASK`."""
    from steelyard.engine.file_labels import CLASSES, NUMBERS

    return {None: None, True: CLASSES, False: NUMBERS}[given["classes"]]


def run_options(given: dict[str, Any]) -> "RunOptions":
    """From those of its options that the command has."""
    from steelyard.engine.run_options import RunOptions

    names = {each.name for each in fields(RunOptions)} & set(given)
    return RunOptions(skip_errors=given["on_error"] == "skip", **{name: given[name] for name in names})


def given_names(ctx: click.Context) -> set[str]:
    """The options that the user has given."""
    return {name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE}


def loss_parameter_names() -> list[str]:
    return sorted({parameter for name in losses.names() for parameter in losses.parameters(name)})


def given_loss_parameters(given: dict[str, Any]) -> dict[str, float]:
    return {name: given[name] for name in loss_parameter_names() if given[name] is not None}
