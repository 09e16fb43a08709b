"""Surveys and costs, from tiny files."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from paper.studies.weighted import sets
from tests.paper.weighted_rows import separable

ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Single, Clerk, None, White, Male, {gain}, 0, 40, Cuba, {label}\n"
)
CREDIT = "{id},{late},0.7,45,2,0.8,{income},13,0,6,0,{children}\n"
HEADER = "id,late,revolving,age,times30,debt,income,lines,times90,estate,times60,children\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    sets.load.cache_clear()
    return tmp_path


def write(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def test_surveys(folder: Path) -> None:
    rows = [ADULT.format(gain=gain, label=label) for gain, label in ((0, "<=50K"), (7, ">50K"))]
    write(folder / "adult.data.gz", "".join(rows))
    write(folder / "adult.test.gz", "|1x3 Cross validator\n" + ADULT.format(gain=0, label=">50K.") + "\n")
    found = sets.load("adult")
    assert found.labels.tolist() == [-1.0, 1.0, 1.0]
    assert found.weights.tolist() == [77516.0] * 3
    assert found.matrix.sum(axis=1).ravel().tolist() == [[13.0] * 3]  # weight and label are no features
    first, second, third = found.matrix.toarray()
    assert (first == third).all()
    assert not (first == second).all()
    assert len(sets.digest("adult")) == 2


def test_costs(folder: Path) -> None:
    rows = [
        CREDIT.format(id=1, late=1, income=2000, children=1),
        CREDIT.format(id=2, late=0, income=2000, children="NA"),
        CREDIT.format(id=3, late=0, income="NA", children=1),
        CREDIT.format(id=4, late=1, income=1e6, children=1),
        CREDIT.format(id=5, late=0, income=0, children=1),
    ]
    write(folder / "credit-costs.csv.gz", HEADER + "".join(rows))
    found = sets.load("credit-costs")
    assert found.labels.tolist() == [1.0, -1.0, -1.0, 1.0, -1.0]
    assert found.weights.tolist() == pytest.approx([4500.0, 600.0, 600.0, 18750.0, 100.0])
    assert (found.matrix.sum(axis=1) == 10.0).all()


def test_bins() -> None:
    numbers = np.array([0.0] * 90 + list(range(1, 11)) + [np.nan])
    codes = sets.bins(numbers)
    assert len(set(codes[90:100])) == 10  # those that are not 0 are told apart
    assert len(set(codes[:90])) == 1
    assert codes[100] not in codes[:100]
    assert (np.diff(codes[90:100]) > 0).all()


def test_categories_and_indicators() -> None:
    colours, sizes = sets.categories(["red", "blue", "red"]), sets.categories(["s", "s", "l"])
    assert colours.tolist() == [0, 1, 0]
    matrix = sets.indicators([colours, sizes]).toarray()
    assert matrix.tolist() == [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]


def test_drawn_weights() -> None:
    source = separable(4000)
    weights = sets.draw_weights(source, 1000.0, seed=0).weights
    assert weights.min() >= 1.0
    assert weights.max() <= 1000.0
    shares = [np.mean((weights >= low) & (weights < 10.0 * low)) for low in (1.0, 10.0, 100.0)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)
    assert (weights == sets.draw_weights(source, 1000.0, seed=0).weights).all()
    assert (weights != sets.draw_weights(source, 1000.0, seed=1).weights).any()
    assert (sets.draw_weights(source, 1.0, seed=0).weights == 1.0).all()
