"""Files of a project: its documents as a table, RIS, or tasks of Label Studio or Prodigy; its certificate."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np

from steelyard import _atomic_files
from steelyard._messages import counted
from steelyard.active.attempt import best_of, past_attempts
from steelyard.active.certification import Certification
from steelyard.active.label_store import in_force, majority_label
from steelyard.estimators.active import ActiveClassifier
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.labelling import exchange
from steelyard.labelling.corpus import TABLE
from steelyard.labelling.exchange import Outcome
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import RECALL
from steelyard.scoring.records import GivenRows
from steelyard.scoring.table_files import holds_tables, open_table

SUFFIXES = {".ris": "ris", ".json": "label-studio"}
_AT_ONCE = 10_000


def outcomes(project: Project, feed: LearnerFeed) -> Iterator[Outcome]:
    """Every document in the order of the files; equal ones have the same label."""
    entries = in_force(project.store.labels())
    predictions = list(feed.predictions())
    for item, document in project.store.documents():
        own = entries.get(item, {})
        label = majority_label({name: entry.label for name, entry in own.items()})
        agreeing = [entry for entry in own.values() if entry.label == label]
        last = max(agreeing, key=lambda entry: entry.time, default=None)
        yield Outcome(
            document, label, bool(own) and label is None, None if last is None else last.annotator,
            None if last is None else last.time, *predictions[item],
        )  # fmt: skip


def write(project: Project, feed: LearnerFeed, path: Path, kind: str | None = None) -> None:
    """Write all documents; without a `kind`, by the suffix: .csv, .tsv, .jsonl, .parquet, .arrow, .xlsx, …"""
    kind = kind or SUFFIXES.get(path.suffix.lower(), TABLE)
    if kind == TABLE:
        if not holds_tables(path):
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


def _write_table(project: Project, feed: LearnerFeed, path: Path) -> None:
    """The columns that the documents had, and what is known and expected of each."""
    given = project.settings
    assert project.spec.columns is not None
    own = [name for name in project.spec.columns.names if name != exchange.ORIGINAL]
    rows = GivenRows(own if given.kind == TABLE else ["id", *own])
    shown = [name for name in given.classes if name == given.positive or len(given.classes) > 2]
    added = ["answer", "annotator", "answered_at", "prediction", *(f"probability_{name}" for name in shown)]
    names = [name if name not in rows.names else f"{name}_2" for name in added]
    numeric = [False] * 4 + [True] * len(shown)
    nothing = cast(Block, None)  # there is no block of bytes behind these rows
    found = outcomes(project, feed)
    with open_table(path, rows, names, numeric) as table:
        while some := list(islice(found, _AT_ONCE)):
            fields = ({"id": each.document.id} | each.document.fields for each in some)
            rows.values = [[values.get(name) for name in rows.names] for values in fields]
            cells = zip(*(_cells(each, shown) for each in some), strict=True)
            kinds = [float if number else object for number in numeric]
            columns = [np.array(column, kind) for column, kind in zip(cells, kinds, strict=True)]
            table.write(nothing, len(some), columns)


def _cells(outcome: Outcome, shown: list[str]) -> tuple[str | float | None, ...]:
    time = outcome.time
    answered = None if time is None else datetime.fromtimestamp(time, UTC).isoformat("T", "seconds")
    probabilities = (outcome.probabilities[name] for name in shown)
    return outcome.label, outcome.annotator, answered, outcome.prediction, *probabilities


def write_certificate(project: Project, path: Path, classifier: ActiveClassifier) -> Certification:
    """Write the strongest certificate that holds now, or else the last one, as JSON and as a page to read."""
    assert classifier.pool_ is not None
    ended, now = past_attempts(project.journal), len(classifier.learner_.labelled)
    found = best_of(ended, project.settings.measure, now, len(classifier.pool_))
    if found is None:
        raise InputError(
            f"{project.path}: there is no certificate, so nothing was written; the page offers to make one"
        )
    found.save(path)
    return found


def outdated(found: Certification, classifier: ActiveClassifier) -> str | None:
    """What a certificate does not cover, since it happened later; None if nothing has happened."""
    assert classifier.pool_ is not None
    happened, learned = [], len(classifier.learner_.labelled) - found.model_answers
    if learned > 0 and found.measure != RECALL:  # recall holds whatever the model learns
        happened.append(f"the model has learned {counted(learned, 'label')}, so its predictions have changed")
    if added := len(classifier.pool_) - found.pool_size:
        happened.append(f"{counted(added, 'document')} {'was' if added == 1 else 'were'} added")
    if not happened or not found.passed:
        return None
    began = counted(found.model_answers, "label")
    return (
        f"it was certified after {began}; since then {' and '.join(happened)}: "
        "for what is there now, begin another certificate in the page"
    )
