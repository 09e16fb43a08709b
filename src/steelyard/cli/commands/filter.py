"""`steelyard filter`: score the rows of many files, and write those that are kept."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.common import tell
from steelyard.cli.grouped_help import MOST_USED, GroupedCommand
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.wording import in_options, problem_texts

if TYPE_CHECKING:
    from steelyard.filtering import FilterResult

_SHOWN = 5  # commands to choose from
_HEADINGS = {
    MOST_USED: ("output", "keep", "fraction", "by", "rejects", "on_error", "as_json"),
    "A sample to label": ("audit_size", "seed"),
    "Reading and scoring": ("text", "encoding", "loss", "sample_rows", "threads"),
}


@click.command(cls=GroupedCommand, headings=_HEADINGS, epilog=EXAMPLES["filter"])
@click.argument("paths", nargs=-1, required=True, metavar="MODEL… FILE…")
@click.option(
    "-o", "--output", type=options.FOLDER_PATH, metavar="FOLDER", required=True,
    help="The folder for the outputs, one for each file. Existing outputs are not repeated.",
)  # fmt: skip
@click.option(
    "--keep", metavar="CONDITION",
    help="Which rows to keep, as in 'p >= 0.9' or \"label == 'en' or label == 'de'\".  [default: all]",
)  # fmt: skip
@click.option(
    "--fraction", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), metavar="SHARE",
    help="Keep this share of the rows, those with the best scores; a first pass over a sample finds the "
    "threshold.",
)  # fmt: skip
@click.option(
    "--by", metavar="SCORE",
    help="The score that --fraction uses, such as 'p[good]', the probability of the class good.",
)  # fmt: skip
@click.option(
    "--sample", "sample_rows", type=click.IntRange(1), metavar="ROWS", default=200_000, show_default=True,
    help="How many rows --fraction looks at.",
)  # fmt: skip
@click.option(
    "--rejects", type=options.FOLDER_PATH, metavar="FOLDER", help="A folder for the rows that are not kept."
)
@click.option(
    "--audit", "audit_size", type=click.IntRange(0), metavar="N", default=0,
    help="Draw N documents to label, from which steelyard audit estimates how good the filter is.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True, help="Random seed."
)
@options.TEXT_COLUMN
@options.ENCODING
@options.OWN_LOSS
@click.option(
    "--threads", type=click.IntRange(1, 64), metavar="N",
    help="Threads that parse, score and compress.  [default: one per core, at most 4]",
)  # fmt: skip
@options.ON_ERROR
@options.JSON
def command(
    paths: tuple[str, ...], output: Path, *, as_json: bool, loss: str | None, on_error: str, **given: Any
) -> None:
    """Score the rows of many files, and write those that are kept, with their scores.

    Name the models first, then files, patterns or folders: JSON lines, CSV, TSV, Parquet or Arrow tables,
    plain or compressed. Other files in folders are left out. Each has an output of the same name and format,
    with all its columns and new ones for the scores, named after the model: quality.model adds quality_p, the
    probability of the second of two classes; for more classes there are a label and its probability.
    Conditions use these names; with one model, just p and label. p[NAME] is the probability of a class.

    If the run is killed, run the same command again: it continues and ends with the same files. A summary of
    what was read and kept is printed, and saved in FOLDER/_steelyard/summary.json.
    """
    from steelyard import model_file
    from steelyard.cli.retelling import retell
    from steelyard.filtering import filter_files
    from steelyard.filtering.scorer import RankingNeededError
    from steelyard.io import sources
    from steelyard.io.errors import InputError

    with options.errors():
        count = next((k for k, path in enumerate(paths) if not model_file.is_model(path)), len(paths))
        if count == 0:
            if not Path(paths[0]).exists():
                raise InputError(sources.describe_missing(str(paths[0])))
            raise click.UsageError(f"{paths[0]} is not a model: the models come first, then the files.")
        if count == len(paths):
            raise click.UsageError("name the files after the models.")
        try:
            with _bar() as progress:
                result = filter_files(
                    paths[:count], paths[count:], output, skip_errors=on_error == "skip",
                    loss=options.own_loss(loss), progress=progress, tell=tell, **given,
                )  # fmt: skip
        except RankingNeededError as error:
            commands = [retell(click.get_current_context(), by=by) for by in error.rankings[:_SHOWN]]
            raise InputError(
                "\n    ".join(["which rows are the best? Type one of these:", *commands])
            ) from None
    failed = list(map(in_options, result.failed))
    for problem in [*problem_texts(result.problems), *failed]:
        click.echo(f"skipped: {problem}", err=True)
    if as_json:
        facts = {"files": result.files, "already_done": result.already_done, **result.statistics}
        facts |= {"failed": failed, "left_out": result.left_out}
        sample = None if result.audit is None else str(result.audit)
        click.echo(json.dumps(facts | {"threshold": result.threshold, "audit": sample}, ensure_ascii=False))
    else:
        for line in describe(result):
            click.echo(line)
    if result.failed:
        sys.exit(1)  # what could be read is written; the rest is told above


def describe(result: "FilterResult") -> list[str]:
    from steelyard.cli.common import aligned, fact_lines

    counts = result.statistics
    share = f" ({counts['kept'] / counts['rows']:.2%})" if counts["rows"] else ""
    chosen = result.threshold
    lines = fact_lines(
        {
            "files": f"{result.files:,}"
            + (f", {result.already_done:,} of them already done" if result.already_done else ""),
            "left out": f"{counted(len(result.left_out), 'file')} without documents, such as "
            f"{result.left_out[0]}"
            if result.left_out
            else None,
            "unreadable files": f"{len(result.failed):,}" if result.failed else None,
            "rows": f"{counts['rows']:,}",
            "kept": f"{counts['kept']:,}{share}",
            **{f"{name} is": f"the probability of {of!r}" for name, of in result.positives.items()},
            "unreadable": f"{counts['unreadable']:,}" if counts["unreadable"] else None,
            "without text": f"{counts['empty']:,}, all with the same score" if counts["empty"] else None,
            "threshold": None
            if chosen is None
            else f"{chosen['score']} >= {chosen['value']:.9g}, which {chosen['share']:.2%} reach of "
            f"{counted(chosen['rows'], 'row')} from the beginning of {counted(chosen['files'], 'file')}",
            "to label": None
            if result.audit is None
            else f"{result.audit}, then: steelyard audit {result.audit.parent.parent}",
        }
    )
    for name, found in counts["models"].items():
        if name.endswith("_p"):  # the histogram of a probability is in summary.json
            continue
        table = [[name, "rows", "kept"]]
        table += [[score, f"{rows:,}", f"{kept:,}"] for score, (rows, kept) in found.items()]
        lines += ["", *aligned(table, 1)]
    return lines


class _bar:  # noqa: N801 - it is used as a function
    """What is called as files are read: a line on a terminal, nothing elsewhere."""

    def __enter__(self) -> Any:
        return self._show if sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)

    def _show(self, path: str, position: int, rows: int) -> None:
        click.echo(f"\r\x1b[K{rows:,} rows; {path}, {position >> 20} MB", nl=False, err=True)
