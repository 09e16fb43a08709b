"""How files are read: the options of other modules together, and `ReadOptions` made of them."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from steelyard.cli.grouped_help import several
from steelyard.cli.options.columns import COLUMNS, TEXT_COLUMN
from steelyard.cli.options.features import BITS, INTERACTIONS, NAMES, NAMESPACES, TEXTS
from steelyard.cli.options.files import DELIMITED, ENCODING, FORMAT, ON_ERROR, THREADS
from steelyard.cli.options.labels import LABELS, WEIGHT_FACTOR
from steelyard.cli.options.own_losses import OWN_LOSS

if TYPE_CHECKING:  # a command whose help is asked for loads no kernels
    from steelyard.io.read_options import ReadOptions

TABLES = several(DELIMITED, COLUMNS, TEXTS)
READING = several(
    FORMAT, ENCODING, DELIMITED, COLUMNS, LABELS, WEIGHT_FACTOR, TEXTS, INTERACTIONS, BITS, NAMES, NAMESPACES
)  # fmt: skip
"""What all commands take that learn or convert files."""
SCORING = several(TEXT_COLUMN, ENCODING, OWN_LOSS, THREADS, ON_ERROR)
"""What all commands take that predict files."""


def read_options(given: dict[str, Any]) -> "ReadOptions":
    """From the options of `READING`."""
    from steelyard.io.read_options import ReadOptions

    names = {each.name for each in fields(ReadOptions)} - {"format"}
    return ReadOptions(format=given["format_"], **{name: given[name] for name in names & set(given)})
