"""Options that give the columns of a table their roles."""

from collections.abc import Callable
from typing import Any

import click

from steelyard.cli.grouped_help import several

HEADING = "Columns of tables"
_SEVERAL = ("text", "category", "number", "ignore")


def _role(name: str, text: str) -> Callable[..., Any]:
    """An option that names a column, or several of them."""
    return click.option(f"--{name}", multiple=name in _SEVERAL, metavar="COLUMN", help=text)


COLUMNS = several(
    _role("label", "The column with the label.  [default: this and the other columns are detected]"),
    _role("weight", "The column with the weight."),
    _role("propensity", "The column with the probability p of observing the row; its weight is 1/p."),
    _role("offset", "The column with a number to add to the prediction."),
    _role("tag", "The column with names for the rows, which predict prints."),
    _role("text", "A column of text; may be repeated."),
    _role("category", "A column of categories; may be repeated."),
    _role("number", "A column of numbers; may be repeated."),
    _role("ignore", "A column to leave out; may be repeated. Vowpal Wabbit text: first letters of "
          "namespaces."),
    heading=HEADING,
)  # fmt: skip
COUNTS = several(
    _role("count", "The column with the number of examples in each row; see --positives."),
    _role("positives", "The column with the number of positive examples in each row. Such rows are learned "
          "in random order, and large counts in parts."),
    heading=HEADING,
)  # fmt: skip
TEXT_COLUMN = click.option(
    "--text", metavar="COLUMN", help="The column with the text, if it is not called as in training."
)
