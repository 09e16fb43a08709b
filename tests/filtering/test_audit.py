"""Samples for labelling, and what is known from labels."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.filtering import audit_filter, filter_files
from steelyard.filtering.audit import bounds
from steelyard.io.errors import InputError
from tests.filtering.corpus import GOOD, write_jsonl


def label(folder: Path, count: int | None = None, skip: int | None = None) -> int:
    """Answer the questions: wanted is what has more good words than bad ones."""
    path = folder / "_steelyard/audit.csv"
    with path.open(newline="") as file:
        table = list(csv.DictReader(file))
    for number, row in enumerate(table[:count]):
        good = sum(word in GOOD for word in row["document"].split())
        row["keep"] = "" if number == skip else "yes" if good >= 4 else "No"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["number", "keep", "document"])
        writer.writeheader()
        writer.writerows(table)
    return len(table)


def test_precision_and_recall_from_labels(models: Path, corpus: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    result = filter_files(models / "quality.model", corpus, kept, keep="p >= 0.9", audit_size=120)
    assert result.audit == kept / "_steelyard/audit.csv"
    with pytest.raises(InputError, match="no document is labelled yet"):
        audit_filter(kept)
    assert label(kept, 60, skip=3) == 120
    some = audit_filter(kept)
    assert sum(some.labelled.values()) == 59
    label(kept)
    found = audit_filter(kept)
    assert found.labelled == {"kept": 60, "rejected": 60}
    assert sum(found.documents.values()) == 450
    assert found.recall is not None
    assert some.recall is not None
    for interval, earlier in ((found.precision, some.precision), (found.recall, some.recall)):
        assert earlier.low <= interval.low <= interval.estimate <= interval.high <= earlier.high
    assert found.precision.low > 0.8
    filter_files(models / "quality.model", corpus, kept, keep="p >= 0.9", audit_size=120)
    assert audit_filter(kept) == found  # labels are not written over


def test_without_rejects_there_is_precision_only(models: Path, corpus: Path, tmp_path: Path) -> None:
    filter_files(models / "quality.model", corpus, tmp_path / "kept", audit_size=10)
    label(tmp_path / "kept")
    found = audit_filter(tmp_path / "kept")
    assert found.recall is None
    assert found.labelled == {"kept": 10}


def test_a_table_without_texts_is_shown_whole(tmp_path: Path) -> None:
    from tests.cli.running import run

    data = write_jsonl(
        tmp_path / "x.jsonl", [{"label": "ab"[k % 2], "size": k % 5 + 3 * (k % 2)} for k in range(60)]
    )
    run("train", data, "--bits", "12", "-o", tmp_path / "size.model")
    result = filter_files(tmp_path / "size.model", data, tmp_path / "kept", audit_size=3)
    assert result.audit is not None
    with result.audit.open(newline="") as file:
        assert set(json.loads(next(csv.DictReader(file))["document"])) == {"label", "size"}


def test_where_nothing_is_kept(models: Path, corpus: Path, tmp_path: Path) -> None:
    filter_files(models / "quality.model", corpus, tmp_path / "kept", keep="p > 1", audit_size=10)
    label(tmp_path / "kept")
    found = audit_filter(tmp_path / "kept")
    assert (found.precision.low, found.precision.high) == (0.0, 0.0)
    assert found.recall is not None
    assert found.recall.high == 0.0


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_bounds_hold_whenever_one_looks(share: float) -> None:
    """Of 100 populations, as many as promised have their number within the bounds."""
    random = np.random.default_rng(0)
    wanted, documents, missed = round(share * 500), 500, 0
    for _ in range(100):
        order = random.permutation(documents)[:80] < wanted
        low, high = bounds(order.tolist(), documents, 0.1)
        missed += not low <= wanted <= high
    assert missed <= 0.2 * 100


def test_bounds_know_a_small_set() -> None:
    assert bounds([True, False, True], 3, 0.05) == (2, 2)
    assert bounds([], 10, 0.05) == (0, 10)
    assert bounds([None] * 10, 10, 0.05) == (0, 10)


def test_what_is_refused(models: Path, corpus: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with pytest.raises(
        InputError, match="nowhere: there is no such folder; name the one that the filter has"
    ):
        audit_filter(tmp_path / "nowhere")
    with pytest.raises(InputError, match="has no sample; run the filter with audit_size=400"):
        audit_filter(tmp_path)
    filter_files(models / "quality.model", corpus, kept, keep="p >= 0.9", audit_size=4)
    labels = tmp_path / "labels.csv"
    for text, message in (
        ("a,b\n1,2\n", "has no column 'keep'"),
        ("number,keep\n1,maybe\n", "document 1: 'maybe' is neither yes nor no"),
        ("number,keep\n9,yes\n", "there is no document number '9'"),
    ):
        labels.write_text(text)
        with pytest.raises(InputError, match=message):
            audit_filter(kept, labels)
    with pytest.raises(InputError, match="confidence must lie"):
        audit_filter(kept, confidence=1.0)
