"""Options that several commands share, a module for each group, and the typed objects that they become.

| module | options |
|---|---|
| `files` | files in and out, their format and encoding, threads, errors in lines |
| `columns` | the roles of a table's columns |
| `features` | words and characters of texts, interactions, namespaces, bits |
| `labels` | labels, classes, weights of rows |
| `learning`, `own_losses` | the settings of a learner; losses and their parameters |
| `running` | passes, rows held out, what `train` saves and continues |
| `reading` | those with which files are read, together |
"""

import click
from click.core import ParameterSource

from steelyard.cli.errors import errors
from steelyard.cli.grouped_help import several
from steelyard.cli.options.columns import COUNTS, TEXT_COLUMN
from steelyard.cli.options.features import BITS, INTERACTIONS
from steelyard.cli.options.files import (
    ENCODING,
    FILE_PATH,
    FILES,
    FOLDER_PATH,
    FORCE,
    FORMAT,
    JSON,
    MODEL,
    ON_ERROR,
    THREADS,
)
from steelyard.cli.options.labels import (
    CLASS_WEIGHT,
    EVALUATED_LABELS,
    HELD_OUT,
    LABELS,
    TASK,
    WEIGHT_SCALE,
    task,
)
from steelyard.cli.options.own_losses import (
    OWN_LOSS,
    given_loss_parameters,
    loss_named,
    loss_parameter_names,
    loss_parameters,
    own_loss,
)
from steelyard.cli.options.reading import READING, SCORING, TABLES, read_options
from steelyard.cli.options.running import run_options

__all__ = [
    "BITS", "CLASS_WEIGHT", "COUNTS", "ENCODING", "EVALUATED_LABELS", "FILES", "FILE_PATH", "FOLDER_PATH",
    "FORCE", "FORMAT", "HELD_OUT", "INTERACTIONS", "JSON", "LABELS", "MODEL", "ON_ERROR", "OWN_LOSS", "READING",
    "SCORING", "TABLES", "TASK", "TEXT_COLUMN", "THREADS", "WEIGHT_SCALE", "errors",
    "given_loss_parameters", "given_names", "loss_named", "loss_parameter_names", "loss_parameters", "own_loss",
    "read_options", "run_options", "several", "task",
]  # fmt: skip


def given_names(ctx: click.Context) -> set[str]:
    """The options that the user has given."""
    return {name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE}
