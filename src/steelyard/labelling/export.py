"""Everything a project has, as a file: tables, RIS, tasks of Label Studio or Prodigy; and its certificate."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import cast

from steelyard import _atomic_files
from steelyard._messages import counted
from steelyard.active.attempt import PastAttempt, best_of, past_attempts
from steelyard.active.label_store import in_force, settled
from steelyard.estimators.active import ActiveClassifier
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.table_records import Records, Row
from steelyard.io.table_writers import open_writer, writes_tables
from steelyard.labelling import exchange
from steelyard.labelling.corpus import TABLE
from steelyard.labelling.exchange import Outcome
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import RECALL, Project

SUFFIXES = {".ris": "ris", ".json": "label-studio"}
_AT_ONCE = 10_000


def outcomes(project: Project, feed: LearnerFeed) -> Iterator[Outcome]:
    """Every document in the order of the files; equal ones have the same label."""
    labels = in_force(project.store.labels())
    expected = list(feed.predictions())
    for item, document in project.store.documents():
        own = labels.get(item, {})
        label = settled({name: each.label for name, each in own.items()})
        by = [each for each in own.values() if each.label == label]
        last = max(by, key=lambda each: each.time, default=None)
        yield Outcome(
            document, label, bool(own) and label is None, None if last is None else last.annotator,
            None if last is None else last.time, *expected[item],
        )  # fmt: skip


def write(project: Project, feed: LearnerFeed, path: Path, kind: str | None = None) -> None:
    """The kind is that of the suffix: .csv, .tsv, .jsonl, .parquet, .arrow, .xlsx, .ris, .json."""
    kind = kind or SUFFIXES.get(path.suffix.lower(), TABLE)
    if kind == TABLE:
        if not writes_tables(path):
            raise InputError(
                f"{path}: the suffix says the format: .csv, .jsonl, .parquet, .xlsx, .ris or .json"
            )
        _write_table(project, feed, path)
        return
    if project.settings.kind != kind:
        raise InputError(
            f"{path}: the documents came from a {project.settings.kind} file, of which no {kind} file can be "
            "made; write .csv, .jsonl or .parquet"
        )
    classes = project.settings.classes
    if kind == "ris" and len(classes) > 2:
        raise InputError(f"{path}: notes of RIS files know two classes; write .csv, .jsonl or .parquet")
    with _atomic_files.replacing(path) as temporary:
        exchange.by_name(kind).write(outcomes(project, feed), classes, temporary)


class _Documents(Records):
    """The columns that the documents had; the rows are given one block after another."""

    def __init__(self, project: Project) -> None:
        super().__init__(project.spec, [])
        assert project.spec.columns is not None
        own = [name for name in project.spec.columns.names if name != exchange.ORIGINAL]
        self.names = tuple(own if project.settings.kind == TABLE else ["id", *own])
        self.latest: list[Row] = []

    def rows(self, block: Block) -> list[Row]:
        return self.latest

    def row(self, outcome: Outcome) -> Row:
        fields = {"id": outcome.document.id} | outcome.document.fields
        return [fields.get(name) for name in self.names]


def _write_table(project: Project, feed: LearnerFeed, path: Path) -> None:
    records = _Documents(project)
    given = project.settings
    chances = [name for name in given.classes if name == given.positive or len(given.classes) > 2]
    added = ["answer", "annotator", "answered_at", "prediction", *(f"probability_{name}" for name in chances)]
    names = [name if name not in records.names else f"{name}_2" for name in added]
    nothing = cast(Block, None)  # there is no block of bytes behind these rows
    found = outcomes(project, feed)
    with open_writer(path, records, names, [False] * 4 + [True] * len(chances)) as writer:
        while some := list(islice(found, _AT_ONCE)):
            records.latest = [records.row(each) for each in some]
            cells = [_cells(each, chances) for each in some]
            writer.write(nothing, list(map(list, zip(*cells, strict=True))))


def _cells(each: Outcome, chances: list[str]) -> tuple[str | float | None, ...]:
    when = None if each.time is None else datetime.fromtimestamp(each.time, UTC).isoformat("T", "seconds")
    shown = (float(f"{each.chances[name]:.9g}") for name in chances)
    return each.label, each.annotator, when, each.prediction, *shown


def write_certificate(project: Project, path: Path, classifier: ActiveClassifier) -> PastAttempt:
    """The strongest certificate that holds now, or else the last one, as JSON and as a page to read."""
    assert classifier.pool_ is not None
    ended, now = past_attempts(project.journal), len(classifier.learner_.labelled)
    found = best_of(ended, project.settings.measure, now, len(classifier.pool_))
    if found is None:
        raise InputError(
            f"{project.path}: there is no certificate, so nothing was written; the page offers to make one"
        )
    found.attempt.save(path)
    return found


def outdated(found: PastAttempt, classifier: ActiveClassifier) -> str | None:
    """What has happened since a certificate passed that its claim does not cover; None if nothing has."""
    assert classifier.pool_ is not None
    happened, learned = [], len(classifier.learner_.labelled) - found.model_answers
    if learned > 0 and found.attempt.measure != RECALL:  # that is about what was found, whatever the model
        happened.append(f"the model has learned {counted(learned, 'label')}, so its predictions have changed")
    if added := len(classifier.pool_) - found.attempt.pool_size:
        happened.append(f"{counted(added, 'document')} {'was' if added == 1 else 'were'} added")
    if not happened or not found.attempt.passed:
        return None
    began = counted(found.model_answers, "label")
    return (
        f"it was certified after {began}; since then {' and '.join(happened)}: "
        "for what is there now, begin another certificate in the page"
    )
