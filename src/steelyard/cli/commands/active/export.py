"""`steelyard active export`: what people said and what the model expects, as a file."""

from pathlib import Path

import click

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice
from steelyard.io.errors import InputError

_KINDS = ("table", "ris", "label-studio", "prodigy")
_ANOTHER = (
    "has learned the answers and, of all other documents, what the page predicts, since model files have no "
    "weights of rare words; a certificate is about the predictions that -o FILE writes"
)


@click.command(epilog=EXAMPLES["active export"])
@click.argument("journal", type=options.FILE_PATH)
@click.option("-o", "--output", type=options.FILE_PATH, metavar="FILE",
              help="All documents with answers, predictions and probabilities: .csv, .tsv, .jsonl, .parquet, "
              ".arrow, .xlsx, .ris, or .json for Label Studio.")  # fmt: skip
@click.option("--as", "kind", type=Choice(_KINDS), help="What reads the file.  [default: by the suffix]")
@click.option(
    "--model", type=options.FILE_PATH, metavar="FILE", help="Save the model, for all other commands."
)
@click.option("--certificate", type=options.FILE_PATH, metavar="FILE",
              help="Save the certificate, for steelyard active verify.")  # fmt: skip
@options.FORCE
def command(
    journal: Path, output: Path | None, kind: str | None, model: Path | None, certificate: Path | None,
    force: bool,
) -> None:  # fmt: skip
    """Write all labels of a JOURNAL to a file, with predictions; and the model and the certificate.

    The source file is not needed, and others may be labelling meanwhile. Equal documents have the same label.
    """
    from steelyard.cli.common import check_outputs
    from steelyard.labelling import export
    from steelyard.labelling.learner_feed import LearnerFeed
    from steelyard.labelling.project import Project

    with options.errors():
        if output is None and model is None and certificate is None:
            raise InputError("say what to write: -o FILE, --model FILE or --certificate FILE")
        if not journal.exists():
            raise InputError(f"{journal}: there is no such file")
        with Project(journal, read_only=True) as project:
            if not project.begun or project.journal.about.read() is None:
                raise InputError(
                    f"{journal}: has no documents, since a program keeps it: steelyard active label makes "
                    "journals that have, and in Python history_ has the answers"
                )
            page = None if certificate is None else certificate.with_suffix(".html")
            check_outputs([output, model, certificate, page], [journal], force=force)
            classifier = project.classifier()
            if certificate is not None:
                found = export.write_certificate(project, certificate, classifier)
                if (since := export.outdated(found, classifier)) is not None:
                    click.echo(f"note: {certificate}: {since}", err=True)
            if output is not None:
                export.write(project, LearnerFeed(project, classifier), output, kind)
                click.echo(f"{output}: {counted(project.store.count(), 'document')}", err=True)
            if model is not None:
                project.save_model(model, classifier)
                if project.settings.tfidf:
                    click.echo(f"note: {model}: {_ANOTHER}", err=True)
