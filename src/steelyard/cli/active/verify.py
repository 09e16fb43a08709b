"""`steelyard active verify`: compute a certificate anew."""

import json
from pathlib import Path

import click

from steelyard.cli import options


@click.command()
@click.argument("certificate", type=options.FILE_PATH)
def command(certificate: Path) -> None:
    """Check a certificate: its draws, its evidence and what it says.

    The draws must be those of its seed and attempt, and the answers must give the result that it states. That
    the answers are true and the predictions are the model's, no file can prove. See docs/certify.md.
    """
    from steelyard.active.certification import verify

    with options.errors():
        try:
            found = verify(json.loads(certificate.read_text(encoding="utf-8")))
        except ValueError as error:
            raise ValueError(f"{certificate}: {error}") from None
    click.echo(f"{found}; everything agrees")
