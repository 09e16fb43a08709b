"""Whatever is summed over a stream has the same bits, however the rows are cut into chunks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor, losses
from steelyard.engine import totals
from steelyard.engine.totals import StreamTotals
from steelyard.examples import examples
from steelyard.scoring.metrics import Metrics
from steelyard.scoring.scores import Meaning
from tests.cli.running import blocks_of, run, trained, without_record
from tests.cli.test_several_classes import topics, write

RANDOM = np.random.default_rng(0)
COUNT = 300
NOISE = RANDOM.normal(size=COUNT)
WEIGHTS = np.where(RANDOM.random(COUNT) < 0.1, 0.0, RANDOM.exponential(size=COUNT))
CODES = RANDOM.integers(0, 3, COUNT)
CUTS = [1, 2, 7, 113, COUNT]


def rows_in(chunks: int) -> list[Any]:
    return np.array_split(np.arange(COUNT), chunks)


def numbers(chunks: int) -> Any:
    metrics = Metrics(Meaning(losses.by_name("quantile"), None))
    for rows in rows_in(chunks):
        metrics.add(NOISE[rows], 0.1 * CODES[rows] + NOISE[rows] ** 2, WEIGHTS[rows])
    return metrics.result()


def two_classes(chunks: int) -> Any:
    metrics = Metrics(Meaning(losses.by_name("logistic"), ["no", "yes"]))
    for rows in rows_in(chunks):
        metrics.add(NOISE[rows], np.where(CODES[rows] == 1, 1.0, -1.0), WEIGHTS[rows])
    return metrics.result()


def three_classes(chunks: int) -> Any:
    metrics = Metrics(Meaning(losses.by_name("logistic"), ["a", "b", "c"]))
    predictions = NOISE[:, np.newaxis] * [1.0, -0.3, 0.1] + np.eye(3)[CODES]
    for rows in rows_in(chunks):
        metrics.add(predictions[rows], CODES[rows].astype(float), WEIGHTS[rows])
    return metrics.result()


def stream(chunks: int) -> Any:
    found = StreamTotals()
    for rows in rows_in(chunks):
        found.add(examples(NOISE[rows, np.newaxis], NOISE[rows], WEIGHTS[rows]))
    return found.as_json(), found.labels.best_constant(losses.by_name("squared"))


@pytest.mark.parametrize("summed", [numbers, two_classes, three_classes, stream])
def test_sums(summed: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "MOST_LABELS", 40)
    found = [json.dumps(summed(chunks)) for chunks in CUTS]
    assert len(set(found)) == 1


@pytest.mark.no_cover
@pytest.mark.parametrize("more", [{}, {"l1": 0.01}, {"scaling": "plain", "l2": 0.1}])
@pytest.mark.parametrize("rate", [None, "auto"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_partial_fit(classes: int, rate: Any, more: dict[str, Any], tmp_path: Path) -> None:
    """The file of an estimator holds all that it knows; error rates of candidates among it."""
    found = set()
    for chunks in (1, 2, 50):
        known = {"classes": np.arange(classes)} if classes else {}
        labels = np.minimum(CODES, classes - 1) if classes else NOISE**2
        kind: Any = OnlineClassifier if classes else OnlineRegressor
        estimator = kind("logistic" if classes else "squared", learning_rate=rate, **more)
        for rows in rows_in(chunks):
            X = np.column_stack([NOISE, CODES == 2])[rows]
            estimator.partial_fit(X, labels[rows], sample_weight=WEIGHTS[rows], **known)
        estimator.save(tmp_path / "m")
        found.add((tmp_path / "m").read_bytes())
        assert str(estimator.weight_summary_.total) == str(np.cumsum(WEIGHTS)[-1])
    assert len(found) == 1


@pytest.mark.no_cover
@pytest.mark.parametrize("options", [(), ("--l1", 0.01), ("--class-weight", "balanced"), ("--numbers",)])
@pytest.mark.parametrize("rate", ["0.3", "auto"])
def test_files(rate: str, options: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that `train` and `evaluate` say, apart from how long it took; and the record of the training."""
    monkeypatch.setattr(totals, "MOST_LABELS", 16)
    path = write(tmp_path / "rows.tsv", topics(120))
    if options == ("--numbers",):
        lines = [f"{NOISE[k] + k % 7}\t{weight}\t{text}" for k, (_, weight, text) in enumerate(topics(120))]
        path.write_text("\n".join(["label\tweight\ttext", *lines]) + "\n")
    found = []
    for size in (1, 300, 1 << 20):
        blocks_of(size, monkeypatch)
        common = (path, "--bits", 8, "--learning-rate", rate, *options, "--holdout", 4, "--passes", 2)
        said = trained(*common, "-o", tmp_path / "m", "--force")
        evaluated = run("evaluate", tmp_path / "m", path, "--json").stdout
        said = {name: value for name, value in said.items() if "second" not in name}
        found.append((json.dumps(said), evaluated, (tmp_path / "m").read_bytes()))
    assert found[0] == found[1] == found[2]
    assert without_record(tmp_path / "m")
