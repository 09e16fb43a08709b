"""`steelyard active certify`: JSON lines out and in, until a certificate can be written, or not."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.wording import error_text
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.active.attempt import Attempt
    from steelyard.active.journal import Journal
    from steelyard.active.learner import ActiveLearner
    from steelyard.examples import Examples

_PER_ATTEMPT = 1 << 32  # rows that belong to no stream get numbers of their own, below 0
_REPLIES = "a label, a skip, an undo or an end"


@click.command()
@click.argument("file", type=options.FILE_PATH)
@click.option(
    "--journal", type=options.FILE_PATH, required=True, metavar="FILE", help="A journal of active ask."
)
@click.option("--error", type=float, metavar="TARGET", help="Certify that the error is below this.")
@click.option(
    "--precision", type=float, metavar="TARGET",
    help="Certify that the precision of the journal's positive class is at least this.",
)  # fmt: skip
@click.option(
    "--recall", type=float, metavar="TARGET",
    help="Certify that at least this share of the file's rows of the positive class has been found.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True,
    help="The risk of a wrong certificate, for all attempts with the journal together.",
)  # fmt: skip
@click.option("--most", type=click.IntRange(1), metavar="LABELS", help="Give up after so many labels.")
@click.option(
    "--plan", type=float, metavar="EXPECTED",
    help="Fix the number of labels beforehand, so that a model with this error or precision passes with a "
    "probability of 90 %.",
)  # fmt: skip
@click.option(
    "--certificate", type=options.FILE_PATH, metavar="FILE",
    help="Write the certificate to this JSON file, and next to it an HTML page to read.",
)  # fmt: skip
def command(file: Path, journal: Path, certificate: Path | None, **given: Any) -> None:
    """Certify the model of a journal on the rows of a file.

    The file has one example a line, a JSON object as in active ask. Rows are drawn from it at random; each
    line on standard output asks for the label of one, and is answered by a line on standard input:

    \b
    {"row": 17, "example": {…}, "prediction": "ham", …}   {"row": 17, "label": "ham"}
    {"row": 4, "example": {…}, "prediction": "spam", …}   {"row": 4, "skip": true}

    Rows that have a label in the journal, known by their content, are not drawn: the claim is about the rest.
    {"undo": true} takes back the last label, {"end": true} gives up. The last line says whether it is
    certified. If it is not, the labels are learned. All answers are in the journal: after an interruption,
    the same command goes on; what it has certified is not asked for again. With --recall, rows of the file
    that active ask has asked for, known by their content, are those that have been read. See
    docs/certify.md.
    """
    from steelyard.active.certification import MEASURES
    from steelyard.active.journal import Journal

    with options.errors():
        if sum(given[measure] is not None for measure in MEASURES) != 1:
            raise InputError(
                "say what to certify: --error 0.05, --precision 0.9 or --recall 0.9; one of them"
            )
        if not journal.exists():
            raise FileNotFoundError(2, "No such file", str(journal))
        with Journal(journal) as kept:
            rows = _read(file)
            if certificate is not None and certificate.exists() and _identity(certificate) is None:
                raise InputError(f"{certificate}: exists, and is not a certificate; name another file")
            attempt = _attempt(kept, rows, given)
            if not attempt.answers:
                _tell_plan(attempt)
            replies = iter(sys.stdin)
            while (row := attempt.ask_next()) is not None:
                _say(_question(attempt, row, rows[row]))
                line = next(replies, None)
                if line is None:
                    break  # it goes on with the next call
                try:
                    _answer(attempt, row, line)
                except ValueError as error:
                    _say({"error": error_text(error)})
            if certificate is not None and attempt.over:
                target = _free_path(certificate, attempt)
                attempt.save(target)
                if target != certificate:
                    click.echo(f"{certificate}: is of another attempt and stays; this is {target}", err=True)
            _say({"certified": attempt.passed, "over": attempt.over, "says": str(attempt)})


def _tell_plan(attempt: "Attempt") -> None:
    """Say how many labels it may take, before anybody begins."""
    from steelyard.active.sequential_tests import PlannedTest, plan

    test: Any = attempt.test
    if isinstance(test, PlannedTest):
        text = f"{test.plan.labels:,} labels, of which {test.plan.most_bad:,} may be wrong"
    elif attempt.measure == "recall":
        text = f"{test.forecast():,} labels if nothing more is found, more otherwise"
    elif test.least == 1:
        text = f"{test.forecast():,} labels if none is wrong"
    else:
        share = test.least / test.rows
        likely = plan(test.rows, share, share / 2, test.alpha).labels
        text = (
            f"about {likely:,} labels if the model is half as bad, {test.forecast():,} if it is never wrong"
        )
    click.echo(f"{attempt.claim}: {text}", err=True)


def _identity(path: Path) -> tuple[Any, ...] | None:
    """Fields that identify the attempt of a certificate; None if the file is no certificate."""
    try:
        kept = json.loads(path.read_bytes())
        return tuple(kept[name] for name in ("seed", "attempt", "measure", "model", "pool_checksum"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _free_path(path: Path, attempt: "Attempt") -> Path:
    """The path for the certificate of an attempt: those of others, perhaps stronger, are not replaced."""
    about = attempt.about
    own = attempt.seed, attempt.attempt, attempt.measure, about["model"], about["pool_checksum"]
    target, number = path, 1
    while target.exists() and _identity(target) != own:
        number += 1
        target = path.with_stem(f"{path.stem}-{number}")
    return target


def _read(file: Path) -> list[Any]:
    try:
        return [json.loads(line) for line in file.read_bytes().split(b"\n") if line.strip()]
    except ValueError as error:
        raise InputError(f"{file}: every line must be a JSON object: {error}") from None


def _attempt(journal: "Journal", rows: list[Any], given: dict[str, Any]) -> "Attempt":
    """The attempt that is under way, or a new one."""
    from steelyard.active.attempt import Attempt
    from steelyard.active.certification import MEASURES
    from steelyard.active.claim import Claim, Population
    from steelyard.active.learner import continue_from
    from steelyard.examples import join
    from steelyard.io import jsonl_reader

    learner = continue_from(journal)
    about: dict[str, Any] = (journal.about.read() or {})["about"]
    if about.get("pool") is not None:
        raise InputError(f"{journal.path}: asks from a pool of its own: certify where that is")
    if not rows:
        raise InputError("there is no row to draw from: the file has none")
    bits = (about["features"] - 1).bit_length()
    pool = join([jsonl_reader.hash_object(row, bits) for row in rows])
    measure = next(name for name in MEASURES if given[name] is not None)
    number = journal.attempts.count()
    last = Attempt.resume(learner, pool, _numbers(number, len(pool)), number)
    population = Population(
        pool,
        _numbers(number + 1, len(pool)),
        _read_before(learner, pool),
        about["classes"],
        about["positive"],
    )
    claim = Claim(measure, given[measure], given["alpha"], given["most"], given["plan"])
    return claim.attempt(learner, population, last, to_end='the line {"end": true}')


def _read_before(learner: "ActiveLearner", pool: "Examples") -> dict[int, tuple[int, None]]:
    """The rows of the file that the journal has, known by their content: of equal ones, as many as it has.

    None of them counts as picked at random: nobody knows from which rows they were.
    """
    from steelyard.active.stored_rows import stored

    places: dict[tuple[bytes, bytes], list[int]] = {}
    rows = stored(pool, range(len(pool)))
    for row in reversed(range(len(pool))):
        own = slice(rows.indptr[row], rows.indptr[row + 1])
        places.setdefault(_content(rows.indices[own], rows.values[own]), []).append(row)
    found: dict[int, tuple[int, None]] = {}
    for number in learner.journal.turns():
        asked = learner.journal.row(number)
        if same := places.get(_content(asked.indices, asked.values)):
            found[number] = same.pop(), None
    return found


def _content(indices: Any, values: Any) -> tuple[bytes, bytes]:
    return indices.tobytes(), values.tobytes()


def _numbers(attempt: int, rows: int) -> Any:
    import numpy as np

    return -1 - attempt * _PER_ATTEMPT - np.arange(rows)


def _question(attempt: "Attempt", row: int, example: Any) -> dict[str, Any]:
    from steelyard.active.sequential_tests import PlannedTest

    test: Any = attempt.test
    said = {
        "row": row, "example": example, "prediction": attempt.prediction(row),
        "labels": len(attempt.answers), "attempt": attempt.attempt, "labels_left": attempt.labels_left,
    }  # fmt: skip
    said |= {"found": test.found} if attempt.measure == "recall" else {"wrong": test.bad}
    if isinstance(test, PlannedTest):
        said |= {"plan": {"labels": test.plan.labels, "most_wrong": test.plan.most_bad}}
    return said


def _answer(attempt: "Attempt", row: int, line: str) -> None:
    message = json.loads(line)
    if not isinstance(message, dict):
        raise InputError(f"a line is an object: {_REPLIES}")
    if message.get("undo") is True:
        attempt.undo()
    elif message.get("end") is True:
        attempt.give_up()
    elif message.get("row") != row:
        raise InputError(f"the row is missing or is not {row}, which was asked for: {message.get('row')!r}")
    elif message.get("skip") is True:
        attempt.answer(row, None)
    elif "label" in message:
        attempt.answer(row, str(message["label"]))
    else:
        raise InputError(f"this is none of {_REPLIES}")


def _say(reply: dict[str, Any]) -> None:
    click.echo(json.dumps(reply, ensure_ascii=False))
    sys.stdout.flush()
