"""A sweep over one shuffle of one data set."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from paper import data, feature_values, sweeping
from steelyard import OnlineClassifier
from tests.paper.fakes import ROWS, small_data


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)


def test_every_point_of_the_grid_has_a_row() -> None:
    grid: dict[str, list[Any]] = {"update": ["explicit", "invariant"], "learning_rate": [0.5, 1e30]}
    rows = sweeping.run_sweep("spam", 1, OnlineClassifier("squared", scaling="row_norm"), grid)
    assert [(row["update"], row["learning_rate"]) for row in rows] == [
        ("explicit", 0.5),
        ("explicit", 1e30),
        ("invariant", 0.5),
        ("invariant", 1e30),
    ]
    assert [row["diverged"] for row in rows] == [False, True, False, False]
    assert {(row["data"], row["loss"], row["shuffle"], row["tested"]) for row in rows} == {
        ("enron-spam", "squared", 1, ROWS // 5)
    }
    assert float(rows[2]["accuracy"]) > 0.7
    assert 0.0 < float(rows[2]["progressive_error"]) < 0.5


def test_shuffles_differ_and_are_the_same_again() -> None:
    first, again, other = (sweeping.load_shuffled("rcv1", shuffle)[1] for shuffle in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_rows_can_be_fewer_and_are_tf_idf_where_the_paper_has_it() -> None:
    matrix, labels, every = sweeping.load_shuffled("astro", 0, most=50)
    assert every == 5
    assert matrix.shape[0] == len(labels) == 50
    lengths = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    assert np.isclose(lengths[lengths > 0.0], 1.0).all()
    counts = sweeping.load_shuffled("astro", 0, most=50, features=feature_values.OTHER).matrix
    assert (counts.data == counts.data.round()).all()
    kinds = [feature_values.describe(place, feature_values.AS_PAPER) for place in ("rcv1", "astro", "spam")]
    assert kinds == ["tf-idf", "tf-idf", "counts"]
    assert not feature_values.has_other("rcv1")


def test_a_step_depends_on_data_and_on_what_is_said() -> None:
    assert sweeping.collect_inputs("rcv1", rows=3).keys() == {"data", "sweeping", "rows"}


def official(monkeypatch: pytest.MonkeyPatch, learned: int, tested: int) -> None:
    """One feature, which tells the label; in the official test set, the opposite of it."""
    signs = np.where(np.arange(learned + tested) % 2 == 0, 1.0, -1.0)
    labels = np.concatenate([signs[:learned], -signs[learned:]])
    found = data.Data("made-up", True, sparse.csr_matrix(signs[:, None]), labels, first_test=learned)
    monkeypatch.setattr(data, "load", lambda place: found)
    feature_values.matrix.cache_clear()


@pytest.mark.parametrize(
    ("learned", "tested", "most", "every", "used"),
    [
        (100, 20, None, 6, 20),  # as many rows between two of the test as there are
        (103, 20, None, 6, 20),  # three rows are left out
        (30, 100, None, 2, 30),  # no more of the test than there is to learn
        (100, 100, 50, 5, 10),
        (100, 4, 50, 12, 4),
    ],
)
def test_an_official_test_set_is_tested_and_never_learned(
    monkeypatch: pytest.MonkeyPatch, learned: int, tested: int, most: int | None, every: int, used: int
) -> None:
    official(monkeypatch, learned, tested)
    matrix, labels, found = sweeping.load_shuffled("rcv1", 3, most)
    assert (found, len(labels)) == (every, every * used)
    agree = matrix.toarray().ravel() == labels
    assert agree.reshape(used, every)[:, :-1].all()
    assert not agree[every - 1 :: every].any()
    classifier = OnlineClassifier("squared", scaling="row_norm", fit_intercept=False)
    (row,) = sweeping.run_sweep("rcv1", 3, classifier, {"update": ["invariant"]}, most=most)
    assert (row["tested"], row["accuracy"]) == (used, 0.0)
