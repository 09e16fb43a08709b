"""The model that `train` saves is the one that it trained, and goes on as if never stopped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.cli.options.learning import LearnOptions
from steelyard.engine import file_training
from steelyard.engine.run_options import RunOptions
from steelyard.io.read_options import ReadOptions
from steelyard.losses import OneOf
from steelyard.scoring import loaded_model
from steelyard.settings import DTYPES, SCALINGS
from tests.cli.running import run, without_record
from tests.cli.test_several_classes import topics
from tests.support.combinations import Point, every, pairwise

AXES: dict[str, Any] = {
    "loss": [name for name in losses.names() if isinstance(losses.by_name(name).labels, OneOf)],
    "classes": [2, 3],
    "scaling": SCALINGS,
    "l1": [0.0, 0.01],
    "l2": [0.0, 0.01],
    "learning_rate": [None, 0.2, "auto"],
    "average": [None, 0, 3],
    "dtype": DTYPES,
    "passes": [1, 2],
}
FEWER = AXES | {"loss": ["logistic"], "dtype": ["float32"], "average": [None]}
OUTSIDE = ("loss", "classes", "learning_rate", "passes")


def learn_options(point: Point) -> LearnOptions:
    inside = {name: value for name, value in point.items() if name not in OUTSIDE and value is not None}
    return LearnOptions(point["loss"], {}, point["learning_rate"], inside)


def valid(point: Point) -> bool:
    """Whether there are such settings."""
    try:
        learn_options(point).settings_for("squared")
    except ValueError:
        return False
    return True


def write(path: Path, classes: int, seed: int) -> Path:
    lines = [
        f"{name if classes == 3 or name == 'art' else 'law'}\t{weight}\t{len(text) * weight}\t{text}"
        for name, weight, text in topics(60, seed)
    ]
    path.write_text("\n".join(["label\tweight\tnumber\ttext", *lines]) + "\n")
    return path


def check(point: Point, folder: Path) -> None:
    first, second = [write(folder / f"{seed}.tsv", point["classes"], seed) for seed in range(2)]
    read = ReadOptions.from_keywords(bits=8)
    training = file_training.begin(
        [str(first)], read, RunOptions(point["passes"]), learn_options(point).settings_for
    )
    training.run()
    training.save(folder / "m")
    (piece,) = training.files.rows(None).pieces(0)
    expected = training.engine.predict(piece.examples)
    loaded = loaded_model.load(folder / "m")
    np.testing.assert_array_equal(loaded.engine.predict(piece.examples), expected)
    assert loaded.content.calibration == training.calibration
    still = loaded_model.load_to_predict(folder / "m").engine.predict(piece.examples)
    np.testing.assert_allclose(still, expected, rtol=1e-5, atol=1e-6)
    if point["passes"] == 1:
        run("train", second, "--resume", folder / "m", "-o", folder / "resumed", "--force")
        whole = file_training.begin(
            [str(first), str(second)], read, RunOptions(), learn_options(point).settings_for
        )
        whole.run()
        whole.save(folder / "whole")
        assert without_record(folder / "resumed") == without_record(folder / "whole")


@pytest.mark.no_cover
@pytest.mark.parametrize("point", pairwise(AXES, valid), ids=str)
def test_pairs_of_options(point: Point, tmp_path: Path) -> None:
    check(point, tmp_path)


@pytest.mark.soak
def test_all_options(tmp_path: Path) -> None:
    for point in every(FEWER, valid):
        check(point, tmp_path)
