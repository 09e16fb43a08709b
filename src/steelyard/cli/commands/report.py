"""`steelyard report`: one page about a model and the labelled rows of files."""

from pathlib import Path
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.help_examples import EXAMPLES


@click.command(epilog=EXAMPLES["report"])
@options.MODEL
@options.FILES
@click.option(
    "-o", "--output", type=options.FILE_PATH, default=Path("report.html"), metavar="PAGE", show_default=True,
    help="Where to write the page.",
)  # fmt: skip
@options.FORCE
@options.HELD_OUT
@options.EVALUATED_LABELS
@options.SCORING
def command(model: Path, files: tuple[str, ...], output: Path, *, held_out: bool, **given: Any) -> None:
    """Write a page about a model and labelled rows: how good it is, why, and where it errs.

    The page holds what evaluate says, curves, a threshold to try, what decides, the worst mistakes with
    their explanations, and what the model learned from. It is one file, which works without a network.
    Of two classes, curves are of the second, or of the first if that is clearly the rarer one and the order
    is not one that you named with train --labels.
    """
    from steelyard.cli import scoring
    from steelyard.cli.common import check_outputs
    from steelyard.io import sources
    from steelyard.report import gathering, page
    from steelyard.scoring import evaluation

    with options.errors():
        paths = sources.expand(files)
        check_outputs([output], [model, *paths], force=given["force"])
        loaded = scoring.load_learned(model, given["loss"]).for_text(given["text"])
        rows = evaluation.held_out_rows(loaded, paths) if held_out else None
        scored = scoring.score_files(loaded, paths, given, labelled=True)
        page.write(output, gathering.gather(loaded, scored, rows))
    scoring.tell_skipped(scored.stream)
    click.echo(f"wrote {output}: a page for your browser")
