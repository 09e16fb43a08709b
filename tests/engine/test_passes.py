"""The pass loop: figures of the first pass only, rows held out in passing, and going on in the middle."""

import copy
from typing import Any

import numpy as np
import pytest

from steelyard import Settings, losses
from steelyard.engine.passes import PassLoop
from steelyard.engine.protocol import Engine, new_engine, restore
from steelyard.engine.row_sources import RowsInChunks, RowsInMemory
from steelyard.examples import Examples
from steelyard.learner import Learner
from tests.engine import problems
from tests.engine.problems import FEATURES

SETTINGS = Settings(losses.by_name("logistic"), scaling="row_norm", learning_rate=0.3, dtype="float64")
RATES = [
    SETTINGS,
    Settings(losses.by_name("logistic"), scaling="row_norm", learning_rate=0.1, dtype="float64"),
]


def data(classes: int) -> Examples:
    rows = problems.two_classes(60)
    if classes > 2:
        return Examples(
            rows.indptr, rows.indices, rows.values, rows.dense, rows.features,
            np.arange(60.0) % classes, rows.sample_weight,
        )  # fmt: skip
    return Examples(
        rows.indptr, rows.indices, rows.values, rows.dense, rows.features,
        np.where(rows.labels > 0.5, 1.0, -1.0), rows.sample_weight,
    )  # fmt: skip


ENGINES = {
    "one model": ([SETTINGS], 2),
    "a selection": (RATES, 2),
    "one against the rest": (RATES, 3),
}
EACH = pytest.mark.parametrize(("settings", "classes"), ENGINES.values(), ids=ENGINES)


def chunks(rows: Examples, size: int) -> Any:
    return lambda: [rows.take(np.arange(k, min(k + size, len(rows)))) for k in range(0, len(rows), size)]


def numbers(engine: Engine) -> dict[str, Any]:
    state = engine.state()
    arrays = {
        f"{k}.{name}": array.tolist()
        for k, model in enumerate(state.models)
        for name, array in model.arrays().items()
    }
    assert state.error is not None
    return arrays | {"error": state.error.tolist()}


@EACH
def test_figures_are_of_the_first_pass(settings: list[Settings], classes: int) -> None:
    rows = data(classes)
    once, thrice = (new_engine(settings, classes, FEATURES) for _ in range(2))
    PassLoop(once, RowsInMemory(rows, piece=None)).run()
    PassLoop(thrice, RowsInMemory(rows, piece=None), 3).run()
    np.testing.assert_array_equal(thrice.progressive_loss, once.progressive_loss)
    np.testing.assert_array_equal(thrice.progressive_error, once.progressive_error)
    assert thrice.models()[0].clock == pytest.approx(3.0 * once.models()[0].clock)


@EACH
def test_a_run_that_goes_on_in_the_middle_is_the_same(settings: list[Settings], classes: int) -> None:
    rows = data(classes)
    source = chunks(rows, 7)
    whole = PassLoop(new_engine(settings, classes, FEATURES), RowsInChunks(source, 5, in_passing=True), 2)
    whole.run()
    seen: list[tuple[int, int]] = []

    class StoppedError(Exception):
        pass

    def stop(learned: Any) -> None:
        seen.append(first.position)
        if len(seen) == 12:
            raise StoppedError

    first = PassLoop(new_engine(settings, classes, FEATURES), RowsInChunks(source, 5, in_passing=True), 2)
    with pytest.raises(StoppedError):
        first.run(stop)
    assert first.position == (1, 21)
    again = PassLoop(
        restore(copy.deepcopy(first.engine.state())),
        RowsInChunks(chunks(rows, 11), 5, in_passing=True),
        2,
        position=first.position,
    )
    again.held_out = first.held_out
    again.run()
    assert numbers(again.engine) == numbers(whole.engine)
    assert again.held_out.weight == pytest.approx(whole.held_out.weight)
    np.testing.assert_allclose(again.held_out.loss, whole.held_out.loss, rtol=1e-12)
    np.testing.assert_allclose(again.held_out.error, whole.held_out.error, rtol=1e-12)


def test_rows_held_out_in_passing_are_predicted_before_the_next_is_learned() -> None:
    rows = data(2)
    loop = PassLoop(new_engine([SETTINGS], 2, FEATURES), RowsInChunks(chunks(rows, 9), 4, in_passing=True))
    loop.run()
    learner, lost, wrong = Learner(SETTINGS, FEATURES), 0.0, 0.0
    for k in range(60):
        row = rows.take(np.array([k]))
        if (k + 1) % 4:
            learner.learn(row)
        else:
            (prediction,) = learner.predict(row)
            weight, label = float(row.sample_weight[0]), float(row.labels[0])
            lost += weight * SETTINGS.loss.value(prediction, label)
            wrong += weight * ((prediction > 0.0) != (label > 0.0))
    assert loop.held_out.loss[0] == pytest.approx(lost, rel=1e-9)
    assert loop.held_out.error[0] == pytest.approx(wrong)
