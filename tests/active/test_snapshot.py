"""A snapshot stays as it is, and is judged as the learner was at that moment."""

import threading

import numpy as np
import pytest

from steelyard.active.evaluation import Evaluation
from tests.active.streams import answered, answered_from, learner, stream


@pytest.mark.parametrize("pool", [False, True])
def test_a_snapshot_is_judged_as_the_learner_was(pool: bool) -> None:
    chunk, labels = stream(400, noise=0.5)
    if pool:
        asking = learner(strategy="margin", rate=0.5, audit=0.2, pool=chunk)
        answered_from(asking, labels, 60)
    else:
        asking = answered(learner(rate=0.3), chunk.take(np.arange(200)), labels)
    before, answers = Evaluation(asking, 400).estimate(), asking.answered
    frozen = asking.snapshot()
    models = [model.raw_coefficients.copy() for model in asking.labelled.models]
    if pool:
        answered_from(asking, labels, 100)
    else:
        answered(asking, chunk.take(np.arange(200, 400)), labels[200:])
    asking.undo()
    assert asking.answered > answers
    assert frozen.snapshot() is frozen
    assert (frozen.answered, len(frozen.labelled.places)) == (answers, len(frozen.labelled))
    assert Evaluation(frozen, 400).estimate() == before != Evaluation(asking, 400).estimate()
    for model, coefficients in zip(frozen.labelled.models, models, strict=True):
        np.testing.assert_array_equal(model.raw_coefficients, coefficients)


def test_it_is_judged_while_the_learner_goes_on() -> None:
    chunk, labels = stream(600, noise=0.5)
    asking = answered(learner(rate=0.3), chunk.take(np.arange(300)), labels)
    expected, frozen = Evaluation(asking).estimate(), asking.snapshot()
    found = []
    with asking.lock:  # which nobody who judges a snapshot waits for
        judge = threading.Thread(target=lambda: found.append(Evaluation(frozen).estimate()))
        judge.start()
        answered(asking, chunk.take(np.arange(300, 600)), labels[300:])
        judge.join(60.0)
    assert found == [expected]


def test_a_learner_without_a_pool_has_none_to_ask_from() -> None:
    with pytest.raises(ValueError, match="has no pool to ask from"):
        learner().ask_from_pool()
