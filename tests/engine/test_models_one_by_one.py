"""Models of an engine made one by one: the same as all at once, and never all of them in memory."""

import os
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import model_file
from steelyard.engine import lane_block, protocol
from steelyard.engine.many_models import ManyModels
from steelyard.engine.protocol import Engine, new_engine
from steelyard.examples import Examples, examples
from steelyard.losses import by_name
from steelyard.model_file import ModelFile
from steelyard.settings import SCALINGS, Settings

HUBER = Settings(by_name("modified_huber"), follow_labels=False)
CLASSES, FEATURES = 20, 1 << 13


def chunk(*, met: int) -> Examples:
    """Rows of which few features, or nearly all, are met."""
    random = np.random.default_rng(0)
    matrix = sparse.random(60, met, 0.5, "csr", np.float32, random_state=random)
    matrix.resize(60, FEATURES)
    return examples(matrix, random.integers(0, CLASSES, 60).astype(np.float64))


def learned(settings: list[Settings], *, met: int = 50, known: bool = False) -> ManyModels:
    engine = new_engine(settings, CLASSES, FEATURES)
    if known:
        engine.fix_units(np.array([3, 5]))
    engine.learn(chunk(met=met))
    assert isinstance(engine, ManyModels)
    return engine


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("known", [False, True])
def test_they_are_the_models_by_number(scaling: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_block, "_TOGETHER", 1000)
    engine = learned([replace(HUBER, scaling=scaling)], known=known)
    models = engine.state().models
    assert len(models) == CLASSES
    for number, (one, other) in enumerate(zip(models, engine.models(), strict=True)):
        whole = engine.model_set.model(number)
        for name, array in whole.arrays().items():
            np.testing.assert_array_equal(array, one.arrays()[name])
            np.testing.assert_array_equal(array, other.arrays()[name])
            np.testing.assert_array_equal(array, models[number].arrays()[name])
    np.testing.assert_array_equal(models[-1].state, models[CLASSES - 1].state)


def test_those_that_learn_alone(tmp_path: Path) -> None:
    engine = learned([replace(HUBER, scaling="plain", l1=0.01)])
    for number, model in enumerate(engine.each_model()):
        expected = engine.model_set.model(number)
        np.testing.assert_array_equal(model.raw_coefficients, expected.raw_coefficients)


def peak(work: object) -> int:
    tracemalloc.start()
    try:
        work()  # type: ignore[operator]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("met", [50, FEATURES])
def test_no_second_copy_of_all_is_needed(met: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 models, never more than four at a time, with what is made of them."""
    monkeypatch.setattr(lane_block, "_TOGETHER", 64)
    learned([HUBER], met=met).predict(chunk(met=10))  # kernels are loaded
    engine = learned([HUBER], met=met)
    path, one = tmp_path / "m", next(engine.each_model())
    few = 4 * sum(array.nbytes for array in one.arrays().values())
    assert peak(lambda: model_file.save(path, ModelFile(engine.state()))) < few
    assert peak(lambda: sum(np.count_nonzero(each.raw_coefficients) for each in engine.each_model())) < few
    assert peak(lambda: engine.predict(chunk(met=10))) < 2 * FEATURES * 32 * 4, "the coefficients, no more"
    restored: list[Engine] = []
    lanes = 32 * FEATURES * 20  # in which they learn on
    assert peak(lambda: restored.append(protocol.load(path)[1])) < lanes + few
    np.testing.assert_array_equal(restored[0].predict(chunk(met=met)), engine.predict(chunk(met=met)))


def test_the_file_is_the_same_through_a_pipe(tmp_path: Path) -> None:
    """Where nobody can go back, all is written at once."""
    engine, read = learned([HUBER]), []
    model_file.save(tmp_path / "m", ModelFile(engine.state()))
    os.mkfifo(tmp_path / "pipe")
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    model_file.save(tmp_path / "pipe", ModelFile(engine.state()))
    reader.join()
    assert read == [(tmp_path / "m").read_bytes()]


def test_threads_that_predict_at_once_share_the_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, rows = learned([HUBER]), chunk(met=10)
    separate, made = engine._separate_best, []

    def slowly() -> Any:
        made.append(1)
        time.sleep(0.05)
        return separate()

    monkeypatch.setattr(engine, "_separate_best", slowly)
    with ThreadPoolExecutor(4) as pool:
        one, *others = pool.map(engine.predict, [rows] * 4)
    assert made == [1]
    for other in others:
        np.testing.assert_array_equal(one, other)
