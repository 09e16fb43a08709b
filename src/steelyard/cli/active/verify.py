"""`steelyard active verify`: compute a certificate anew."""

import json
from pathlib import Path

import click

from steelyard.cli import options


@click.command()
@click.argument("certificate", type=options.FILE_PATH)
@click.option(
    "--journal", type=options.FILE_PATH, metavar="FILE",
    help="Compare every answer with this journal, too.",
)  # fmt: skip
def command(certificate: Path, journal: Path | None) -> None:
    """Check a certificate: its draws, its evidence and what it says.

    The draws must be those of its seed and attempt, and the answers must give the result that it states. No
    file can prove that the answers are true and the predictions are the model's. See docs/certify.md.
    """
    from steelyard.active.journal import Journal
    from steelyard.active.verification import verify, verify_with_journal

    with options.errors():
        if journal is not None and not journal.exists():
            raise FileNotFoundError(2, "No such file", str(journal))
        try:
            content = json.loads(certificate.read_text(encoding="utf-8"))
            if journal is None:
                found = verify(content)
            else:
                with Journal(journal, read_only=True) as kept:
                    found = verify_with_journal(content, kept)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{certificate}: {error}") from None
    click.echo(f"{found}; everything agrees")
