"""Options about files: those that a command takes and writes, and how text files are read."""

from pathlib import Path

import click

from steelyard.cli.grouped_help import several
from steelyard.cli.option_types import Choice, NamedPath
from steelyard.io import formats

HEADING = "Files"

FILE_PATH = NamedPath(dir_okay=False, path_type=Path)
FOLDER_PATH = NamedPath(file_okay=False, path_type=Path)
MODEL = click.argument("model", type=FILE_PATH)
FILES = click.argument("files", nargs=-1, required=True, metavar="FILE…")

FORMAT = several(
    click.option(
        "--format", "format_", type=Choice(formats.names()), help="The files' format.  [default: detected]"
    ),
    heading=HEADING,
)
ENCODING = several(
    click.option(
        "--encoding", metavar="NAME",
        help="The encoding of text files, such as latin-1.  [default: UTF-8, or by the byte order mark]",
    ),
    heading=HEADING,
)  # fmt: skip
DELIMITED = several(
    click.option(
        "--separator", metavar="TEXT",
        help="What separates the fields of a CSV or TSV file.  [default: detected]",
    ),
    click.option(
        "--header/--no-header", default=None,
        help="Whether the file begins with column names.  [default: detected]",
    ),
    heading=HEADING,
)  # fmt: skip
THREADS = several(
    click.option(
        "--threads", type=click.IntRange(1, 64), metavar="N",
        help="Number of parsing threads.  [default: one per core, at most 4]",
    ),
    heading=HEADING,
)  # fmt: skip
ON_ERROR = several(
    click.option(
        "--on-error", type=Choice(["stop", "skip"]), default="stop", show_default=True,
        help="What to do with a line that cannot be read: stop, or skip and count it.",
    ),
    heading=HEADING,
)  # fmt: skip
FORCE = click.option(
    "--force", is_flag=True,
    help="Replace existing files. A model always replaces a model, without --force.",
)  # fmt: skip
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
