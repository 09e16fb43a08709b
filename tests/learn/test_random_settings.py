"""Settings that Hypothesis draws: kernels against the slow twin, and rows in chunks against all at once."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import losses, updates
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import SCALINGS, Settings
from tests.support.naive import NaiveLearner
from tests.support.splits import FEATURES, broken, rows


@st.composite
def drawn(draw: Any) -> Settings:
    loss = losses.by_name(draw(st.sampled_from(losses.names())))
    update = draw(st.sampled_from(["invariant", "invariant", *updates.names_for(loss)]))
    scaling = draw(st.sampled_from(SCALINGS))
    tame = update in ("explicit", "second_order")  # these may diverge
    more: dict[str, Any] = {}
    if scaling == "standardized":
        more["average"] = draw(st.sampled_from([0, 1, 8]))
    return Settings(
        loss, update, scaling, 0.001 if tame else draw(st.sampled_from([0.01, 0.5, 5.0])),
        draw(st.sampled_from([0.3, 10.0])), draw(st.sampled_from([0.0, 0.5, 1.0])),
        draw(st.sampled_from([0.0, 1e-3])), draw(st.sampled_from([0.0, 0.05])), draw(st.booleans()),
        "float64",
        follow_labels=draw(st.booleans()), follow_classes=draw(st.booleans()), **more,
    )  # fmt: skip


@settings(max_examples=60)
@given(drawn(), st.integers(0, 50), st.booleans())
def test_agrees_with_the_slow_twin(chosen: Settings, seed: int, dense: bool) -> None:
    matrix, labels, rng = rows(chosen.loss, seed, 24)
    weights = broken(rng, 24)
    naive, learner = NaiveLearner(chosen, FEATURES), Learner(chosen, FEATURES)
    expected = naive.learn(matrix, labels, weights)
    found = learner.learn(examples(matrix.toarray() if dense else matrix, labels, weights, loss=chosen.loss))
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * size)
    answers = matrix @ naive.coefficients() + naive.intercept()
    np.testing.assert_allclose(learner.predict(examples(matrix)), answers, rtol=0.0, atol=1e-9 * size)
    np.testing.assert_allclose(learner.model.clock, naive.clock, rtol=1e-12)


@settings(max_examples=60)
@given(drawn(), st.integers(0, 50), st.lists(st.integers(0, 24), max_size=6), st.booleans())
def test_chunks_of_any_size(chosen: Settings, seed: int, cuts: list[int], dense: bool) -> None:
    """Bit for bit, with weights that leave epochs open between chunks."""
    matrix, labels, rng = rows(chosen.loss, seed, 24)
    weights = broken(rng, 24)
    form = matrix.toarray() if dense else matrix
    whole, pieces = Learner(chosen, FEATURES), Learner(chosen, FEATURES)
    whole.learn(examples(form, labels, weights, loss=chosen.loss))
    for part in np.split(np.arange(24), sorted(cuts)):
        pieces.learn(examples(form[part], labels[part], weights[part], loss=chosen.loss))
        pieces.predict(examples(form))
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, pieces.model.arrays()[name], err_msg=name)
