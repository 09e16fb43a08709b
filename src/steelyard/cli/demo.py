"""`steelyard demo`: a weight of 50 next to fifty copies, as a table and as a picture."""

from importlib.util import find_spec
from pathlib import Path

import click
from rich.console import Console

from steelyard import files
from steelyard.cli import comparison, tables

DEFAULT_OUTPUT = Path("weight-50.png")
SUFFIXES = (".png", ".svg")


def _checked(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Refuse what cannot become a picture before anything is computed or printed."""
    if path is None:
        return None
    if path.suffix.lower() not in SUFFIXES:
        raise click.BadParameter(f"{str(path)!r} must end in {' or '.join(SUFFIXES)}.", ctx, param)
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(path.parent)!r}; make it first.", ctx, param)
    return path


@click.command
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_checked,
    help=f"Where to save the picture: a file ending in {' or '.join(SUFFIXES)}.  [default: {DEFAULT_OUTPUT}]",
)
def command(output: Path | None) -> None:
    """Show what an importance weight of 50 does, next to fifty copies.

    Prints a table of every update for a few losses, and saves a picture that shows the same for
    weights from 1 to 100. The picture needs matplotlib; the table does not.
    """
    tables.show(Console(), [comparison.rows(loss) for loss in comparison.LOSSES])
    click.echo()
    if find_spec("matplotlib") is not None:
        _save_picture(output or DEFAULT_OUTPUT)
        return
    advice = 'The picture needs matplotlib: pip install "steelyard[plot]"'
    if output is not None:
        raise click.ClickException(f"{output} was not written. {advice}")
    click.echo(advice)


def _save_picture(path: Path) -> None:
    from steelyard.cli import pictures

    try:
        with files.replacing(path) as temporary:
            pictures.save(temporary, path.suffix.lower())
    except OSError as error:
        raise click.ClickException(f"could not write {path}: {error.strerror or error}") from error
    click.echo(f"The picture is in {path}")
