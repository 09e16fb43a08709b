"""The model is a function of the answers."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.active.identifiers import ReadPlace
from steelyard.active.labelled_rows import LabelledRows, RefitPlan, _spread, average, last_refit
from steelyard.active.stored_rows import sparse_row
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Model, Settings
from tests.active.streams import FEATURES, SETTINGS, rows, stream


def labelled(count: int, **given: object) -> LabelledRows:
    chunk, labels = stream(count)
    found = LabelledRows(SETTINGS, FEATURES, RefitPlan(**given))  # type: ignore[arg-type]
    for place in range(count):
        found.rows.add(*sparse_row(chunk, place))
        found.answer(ReadPlace(place), labels[place], probability=0.05)
    return found


def test_refits_come_with_a_tenth_more() -> None:
    points = sorted({last_refit(count) for count in range(100)})
    assert points[:25] == [*range(21), 22, 24, 26, 28]
    assert last_refit(99) == 94


def test_without_orders_each_answer_is_learned_once() -> None:
    chunk, labels = stream(50)
    learner = Learner(SETTINGS, FEATURES)
    learner.learn(examples(rows(50)[0].astype(np.float64), labels))
    found = labelled(50, orders=0)
    np.testing.assert_array_equal(found.models[0].raw_coefficients, learner.model.raw_coefficients)
    assert found.final[0] is found.models[0]
    np.testing.assert_allclose(Learner(model=found.models[0]).predict(chunk), learner.predict(chunk))


def test_it_does_not_matter_when_the_model_is_looked_at() -> None:
    often = LabelledRows(SETTINGS, FEATURES, RefitPlan())
    chunk, labels = stream(50)
    for place in range(50):
        often.rows.add(*sparse_row(chunk, place))
        often.answer(ReadPlace(place), labels[place], 1.0)
        assert often.models[0].clock == place + 1
    seldom = labelled(50)
    np.testing.assert_array_equal(seldom.models[0].pairs, often.models[0].pairs)
    np.testing.assert_array_equal(seldom.models[0].state, often.models[0].state)
    assert seldom.final is seldom.final


def test_undoing_all_leaves_nothing() -> None:
    found = labelled(3)
    assert found.models[0].clock == 3.0
    for _ in range(3):
        found.undo()
    assert found.models[0].clock == 0.0
    assert found.final[0].clock == 0.0
    assert not found.models[0].raw_coefficients.any()


@pytest.mark.parametrize(("weights", "clock"), [("none", 10.0), ("capped", 100.0), ("importance", 200.0)])
def test_training_weights(weights: str, clock: float) -> None:
    assert labelled(10, weights=weights).models[0].clock == pytest.approx(clock)


def test_an_average_settles_l1_and_l2() -> None:
    settings = Settings(losses.by_name("modified_huber"), scaling="plain", l1=1e-3, l2=0.1, dtype="float64")
    matrix, labels = rows(60)
    learners = [Learner(settings, FEATURES) for _ in range(3)]
    for number, learner in enumerate(learners):
        learner.learn(examples(matrix, labels), np.random.default_rng(number).permutation(60))
    chunk = examples(matrix)
    expected = np.mean([learner.predict(chunk) for learner in learners], axis=0)
    mean = average([learner.model for learner in learners])
    np.testing.assert_allclose(Learner(model=mean).predict(chunk), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": "all"}, "one of 'none', 'capped', 'importance'; got 'all'"),
        ({"cap": 0.5}, "is 1 or more; got 0.5"),
        ({"orders": 65}, "0 to 64 orders; got 65"),
    ],
)
def test_trainings_that_make_no_sense(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RefitPlan(**given)  # type: ignore[arg-type]


def test_models_in_units_of_their_own_have_no_mean() -> None:
    with pytest.raises(ValueError, match="units of their own: use scaling='normalized'"):
        LabelledRows(Settings(losses.by_name("modified_huber")), 3, RefitPlan())


@pytest.mark.parametrize("scaling", ["normalized", "plain"])
def test_a_refit_learns_few_of_many_features(scaling: str) -> None:
    small = Model(Settings(scaling=scaling), 2)
    small.raw_coefficients[...] = 1.0, 2.0
    whole = _spread(small, np.array([1, 3], np.int32), 5)
    np.testing.assert_array_equal(whole.coefficients(), [0.0, 1.0, 0.0, 2.0, 0.0])
