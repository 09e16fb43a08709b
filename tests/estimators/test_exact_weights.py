"""Weights are copies wherever models are taught: in memory and in files; classes and numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor
from tests.cli.running import run

RANDOM = np.random.default_rng(0)
X = np.column_stack([RANDOM.normal(5.0, 1.0, 80), RANDOM.poisson(1.0, (80, 3)), RANDOM.normal(size=(80, 2))])
WEIGHTS = RANDOM.integers(1, 8, 80)
TURNS = np.repeat(np.arange(80), WEIGHTS)
LABELS = [
    np.where(X[:, 0] - X[:, 1] + RANDOM.normal(size=80) > 4.0, 1, 0),
    np.digitize(X[:, 0] + X[:, 4], [4.5, 5.5]),
    X[:, 0] - X[:, 1] + RANDOM.normal(size=80),
]
KINDS = ["two classes", "three classes", "numbers"]


def estimator(kind: str, **more: Any) -> Any:
    if kind == "numbers":
        return OnlineRegressor(dtype="float64", **more)
    return OnlineClassifier(dtype="float64", calibrate=False, **more)


def said(model: Any) -> Any:
    return model.predict(X) if isinstance(model, OnlineRegressor) else model.decision_function(X)


def same(one: Any, other: Any) -> None:
    np.testing.assert_allclose(said(one), said(other), rtol=0.0, atol=1e-9 * np.abs(said(one)).max())


@pytest.mark.parametrize("kind", KINDS)
def test_partial_fit(kind: str) -> None:
    """The parts of a row come in calls of their own, too."""
    y = LABELS[KINDS.index(kind)]
    classes = {} if kind == "numbers" else {"classes": np.unique(y)}
    whole, copies, parts = (estimator(kind) for _ in range(3))
    whole.partial_fit(X, y, sample_weight=WEIGHTS, **classes)
    copies.partial_fit(X[TURNS], y[TURNS], **classes)
    same(whole, copies)
    rows = np.repeat(np.arange(80), 2)
    shares = np.outer(WEIGHTS, [0.3, 0.7]).ravel()
    for chunk in np.array_split(np.arange(160), 7):
        parts.partial_fit(X[rows[chunk]], y[rows[chunk]], sample_weight=shares[chunk], **classes)
    same(whole, parts)


@pytest.mark.parametrize("more", [{}, {"l1": 1e-3}, {"l2": 0.01}, {"scaling": "normalized"}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_fit(kind: str, more: dict[str, Any]) -> None:
    y = LABELS[KINDS.index(kind)]
    whole, copies = (estimator(kind, shuffle=False, passes=1, **more) for _ in range(2))
    same(whole.fit(X, y, sample_weight=WEIGHTS), copies.fit(X[TURNS], y[TURNS]))


def write(path: Path, y: Any, rows: Any, weights: Any) -> Path:
    lines = [
        ",".join([str(y[row]), str(weight), *map(repr, X[row].tolist())])
        for row, weight in zip(rows, weights, strict=True)
    ]
    path.write_text("\n".join(["label,weight,a,b,c,d,e,f", *lines]) + "\n")
    return path


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore::steelyard.engine.totals.RowOrderWarning")  # copies come in a row
@pytest.mark.parametrize("kind", KINDS)
def test_files(kind: str, tmp_path: Path) -> None:
    """A table with a column of weights against one with copies: `fit_files`, and the command `train`."""
    y = LABELS[KINDS.index(kind)].tolist()
    weighted = write(tmp_path / "weighted.csv", y, np.arange(80), WEIGHTS)
    copied = write(tmp_path / "copied.csv", y, TURNS, np.ones(len(TURNS)))
    given = {"label": "label", "weight": "weight"}
    models = [estimator(kind, passes=1).fit_files(path, **given) for path in (weighted, copied)]
    assert models[0].progressive_loss_ != models[1].progressive_loss_
    for path in (weighted, copied):
        model = tmp_path / f"{path.stem}.model"
        said = ("--label", "label", "--weight", "weight", "--dtype", "float64", "--passes", 1)
        run("train", path, *said, "-o", model, "--numbers" if kind == "numbers" else "--classes")
        models.append(type(models[0]).load(model))
    for one, other in (models[:2], models[2:]):
        assert np.count_nonzero(one.coef_) >= 6
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=0.0, atol=1e-9 * np.abs(one.coef_).max())
        np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-9)


def columns(offset: float, spread: float) -> Any:
    return np.random.default_rng(1).normal(offset, spread, (400, 3))


@pytest.mark.parametrize("offset", [1e4, 1e7, 1.7e9])
@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_targets_far_from_0_in_float32(loss: str, offset: float) -> None:
    """What rounds is what coefficients add, not the offset: rows rest no earlier than without it."""
    rows = columns(0.0, 1.0)
    y = rows @ [1.0, 2.0, 3.0] + offset
    weights = np.random.default_rng(2).integers(1, 8, 400)
    one, copies = (OnlineRegressor(loss=loss, shuffle=False) for _ in range(2))
    one.fit(rows, y, sample_weight=weights)
    copies.fit(rows.repeat(weights, axis=0), y.repeat(weights))
    assert one.score(rows, y) > 0.98
    np.testing.assert_allclose(one.predict(rows), copies.predict(rows), rtol=0.0, atol=1e-3 + 3e-12 * offset)


@pytest.mark.parametrize("spread", [0.01, 10.0])
def test_columns_far_from_0_in_float32(spread: float) -> None:
    """With several classes, too, what is predicted is as exact as what was learned."""
    rows = columns(1000.0, spread)
    y = np.digitize((rows - 1000.0) @ [1.0, 2.0, 3.0] / spread, [-2.0, 0.0, 2.0])
    weights = np.random.default_rng(2).integers(1, 8, 400)
    one, copies = (OnlineClassifier(shuffle=False) for _ in range(2))
    p = one.fit(rows, y, sample_weight=weights).decision_function(rows)
    q = copies.fit(rows.repeat(weights, axis=0), y.repeat(weights)).decision_function(rows)
    assert np.sqrt(np.mean((p - q) ** 2) / np.mean(q**2)) < 1e-5


def test_rounding_does_not_decide_how_many_passes_there_are() -> None:
    """The sum of ten weights of 0.1 is not that of one of 1."""
    for total in range(100, 700, 100):
        whole, tenths = np.ones(total), np.full(10 * total, 0.1)
        passes = []
        for weights in (whole, tenths):
            rows = np.arange(len(weights), dtype=float)[:, np.newaxis]
            model = OnlineClassifier(shuffle=False, calibrate=False, weight_scale="as_given")
            passes.append(model.fit(rows, np.arange(len(rows)) % 2, sample_weight=weights).n_iter_)
        assert passes[0] == passes[1], total
