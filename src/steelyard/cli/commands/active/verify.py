"""`steelyard active verify`: compute a certificate anew."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from steelyard._parameters import message_of
from steelyard.cli import options
from steelyard.io.errors import InputError

_CHECKED = "checked: the draws are those of its seed and attempt, and its predictions and answers give this"
_UNCHECKED = (
    "not checked: that they were predicted and answered so; to compare them with the journal, "
    "add --journal FILE"
)
_COMPARED = "checked: {} has the same attempt, with these predictions and answers"
_WANTED = (
    "A certificate is the JSON file that steelyard active certify or active export writes with --certificate"
)


@click.command()
@click.argument("certificate", type=options.FILE_PATH)
@click.option(
    "--journal", type=options.FILE_PATH, metavar="FILE",
    help="Compare every field with this journal, too.",
)  # fmt: skip
def command(certificate: Path, journal: Path | None) -> None:
    """Check a certificate: its draws, its evidence and what it says.

    The draws must be those of its seed and attempt, and predictions and answers must give the result that it
    states. Whether these are what was predicted and answered at the time, only the journal shows: without
    --journal, changes after which draws and result remain the same are not noticed, such as an answer that
    was changed together with its prediction, or another digest of the model. With --journal every field is
    compared with the attempt that is stored there; what else the journal has is not checked. No file can
    prove that the answers are true. See docs/certify.md.
    """
    from steelyard.active.journal import Journal
    from steelyard.active.verification import verify, verify_with_journal

    with options.errors():
        if journal is not None and not journal.exists():
            raise FileNotFoundError(2, "No such file", str(journal))
        content = _read(certificate)
        with nullcontext() if journal is None else Journal(journal, read_only=True) as kept:
            try:
                found = verify(content) if kept is None else verify_with_journal(content, kept)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{certificate}: ", message_of(error)) from None
    click.echo(f"{found}\n{_CHECKED}")
    if journal is None:
        click.echo(_UNCHECKED)
    else:
        click.echo(_COMPARED.format(journal))


def _read(path: Path) -> Any:
    """The content of a certificate; for another file, an error that says what it seems to be."""
    from steelyard.model_file import is_model

    content = path.read_bytes()
    kinds = (
        (
            b"SQLite format 3",
            "is a journal; steelyard active export writes its certificate, with --certificate",
        ),
        (b"<!doctype html", "is a page to read; verify the JSON file beside it"),
    )
    for start, what in kinds:
        if content[: len(start)].lower() == start.lower():
            raise InputError(f"{path}: {what}. {_WANTED}")
    if is_model(path):
        raise InputError(f"{path}: is a model. {_WANTED}")
    if not content.strip():
        raise InputError(f"{path}: is empty. {_WANTED}")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}). {_WANTED}") from None
