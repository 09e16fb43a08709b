"""Models loaded to predict answer to the last bit as those loaded with all that they have learned."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses, model_arrays, model_file
from steelyard.engine.frozen_models import FrozenModels
from steelyard.engine.protocol import new_engine
from steelyard.examples import Examples, examples
from steelyard.model_file import ModelFile
from steelyard.scoring import loaded_model
from steelyard.settings import SCALINGS, Settings

LOGISTIC = losses.by_name("logistic")
SETTINGS = [
    *(Settings(LOGISTIC, scaling=scaling) for scaling in SCALINGS),
    Settings(LOGISTIC, l2=0.01),
    Settings(LOGISTIC, l1=0.01),
    Settings(LOGISTIC, scaling="plain", l2=0.1),
    Settings(LOGISTIC, scaling="row_norm", l1=0.001),
    Settings(LOGISTIC, average=0, bias=False, dtype="float64"),
    Settings(losses.by_name("squared")),
]


def rows(classes: int, *, sparse: bool) -> Examples:
    """Columns of numbers that do not begin at 0, and some zeros."""
    chance = np.random.default_rng(1)
    x = chance.normal(size=(300, 5)) * [1.0, 30.0, 0.01, 1.0, 2.0] + [3.0, 100.0, 0.0, 0.0, 0.0]
    x[:, 3:] = np.round(np.abs(x[:, 3:]))
    codes = (chance.integers(0, max(classes, 2), 300) * (x[:, 3] > 0)).astype(float)
    if sparse:
        x = np.hstack([x, np.zeros((300, 40))])
    return examples(x, codes if classes > 2 else 2.0 * codes - 1.0, chance.uniform(0.5, 2.0, 300))


def saved(path: Path, settings: list[Settings], classes: int, given: Examples) -> Path:
    engine = new_engine(settings, classes, given.features)
    engine.learn(given)
    model_file.save(path, ModelFile(engine.state()))
    return path


@pytest.mark.parametrize(
    ("settings", "classes", "sparse"),
    [(settings, classes, classes == 2) for settings in SETTINGS for classes in (2, 11)]
    + [(Settings(LOGISTIC), 2, False), (Settings(LOGISTIC), 3, True)],
    ids=str,
)
def test_predictions_are_the_same_to_the_bit(
    settings: Settings, classes: int, sparse: bool, tmp_path: Path
) -> None:
    given = rows(classes, sparse=sparse)
    path = saved(tmp_path / "m", [settings], classes, given)
    whole, still = loaded_model.load(path), loaded_model.load_to_predict(path)
    np.testing.assert_array_equal(still.engine.predict(given), whole.engine.predict(given))
    assert still.engine.classes == whole.engine.classes
    explained, models = loaded_model.load_to_explain(path)
    np.testing.assert_array_equal(explained.engine.predict(given), whole.engine.predict(given))
    for model, other in zip(models, whole.engine.models(), strict=True):
        np.testing.assert_array_equal(model.coefficients(), other.coefficients())
        assert model.bias == other.bias


@pytest.mark.parametrize("classes", [2, 3])
def test_settings_that_answer_together(classes: int, tmp_path: Path) -> None:
    given = rows(classes, sparse=False)
    competing = [Settings(LOGISTIC, learning_rate=rate) for rate in (0.1, 0.5, 2.0)]
    path = saved(tmp_path / "m", competing, classes, given)
    whole, (still, models) = loaded_model.load(path), loaded_model.load_to_explain(path)
    np.testing.assert_array_equal(still.engine.predict(given), whole.engine.predict(given))
    assert len(models) == len(whole.engine.models())


def test_what_only_learning_needs_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "m", [Settings(LOGISTIC)], 3, rows(3, sparse=False))
    read: list[str] = []
    honest = model_arrays.ArrayFile.read

    def noted(file: model_arrays.ArrayFile, name: str) -> Any:
        read.append(name)
        return honest(file, name)

    monkeypatch.setattr(model_arrays.ArrayFile, "read", noted)
    assert isinstance(loaded_model.load_to_predict(path).engine, FrozenModels)
    assert {"weights", "1.weights", "2.lag"} <= set(read)
    assert not [name for name in read if "squares" in name or "label_state" in name]


def test_a_file_is_mapped_a_part_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = rows(3, sparse=False)
    path = saved(tmp_path / "m", [Settings(LOGISTIC)], 3, given)
    expected = loaded_model.load_to_predict(path).engine.predict(given)
    monkeypatch.setattr(model_arrays, "_MAPPED", 1)
    np.testing.assert_array_equal(loaded_model.load_to_predict(path).engine.predict(given), expected)
