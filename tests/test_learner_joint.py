"""What the joint flow promises: with L2, too, a weight of h is h copies, and nothing explodes."""

import numpy as np
import pytest
from scipy import sparse

from steelyard import OnlineClassifier, OnlineRegressor, losses
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.model import Settings
from tests.streams import labels_for, stream
from tests.test_learner import LOSSES, numbers, repeated, trained

TIMES = np.array([2, 1, 50, 3, 1, 10_000, 7, 1, 1, 300, 2, 5])


@pytest.mark.no_cover
@pytest.mark.parametrize("power_t", [0.0, 0.5])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weight_h_is_h_copies(loss: Loss, scaling: str, bias: bool, power_t: float) -> None:
    """To 1e-8 (most to 1e-11), for weights from 2 to 10,000, in one step or in uneven parts."""
    matrix, labels, _ = stream(loss, seed=3, rows=12)
    for l2 in (1e-4, 0.05):
        settings = Settings(
            loss, "invariant", scaling, 0.5, 10.0, power_t, l2=l2, bias=bias, dtype="float64", l2_flow="joint"
        )
        weighted = trained(settings, examples(matrix, labels, TIMES, loss=loss))
        copies = trained(settings, examples(*repeated(matrix, labels, TIMES)))
        in_parts = trained(
            settings, examples(*repeated(matrix, labels, np.full(12, 2)), np.outer(TIMES, [0.3, 0.7]).ravel())
        )
        scale = np.abs(numbers(weighted)[:-1]).max()
        for other in (copies, in_parts):
            np.testing.assert_allclose(numbers(other), numbers(weighted), rtol=1e-8, atol=1e-8 * scale)


def test_splitting_is_not_exact_and_that_is_why() -> None:
    loss = losses.by_name("logistic")
    matrix, labels, _ = stream(loss, seed=3, rows=12)
    settings = Settings(loss, "invariant", "plain", 0.5, l2=0.05, dtype="float64")
    weighted, copies = (
        numbers(trained(settings, chunk))
        for chunk in (examples(matrix, labels, TIMES), examples(*repeated(matrix, labels, TIMES)))
    )
    assert np.abs(weighted - copies).max() > 1e-3


@pytest.mark.no_cover
@pytest.mark.parametrize("l2", [1e-8, 1e-3, 10.0])
@pytest.mark.parametrize("rate", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_large_weights_never_explode(loss: Loss, scaling: str, rate: float, l2: float) -> None:
    """5 % of the weights are 10⁵."""
    rng = np.random.default_rng(8)
    matrix = sparse.random_array((100, 20), density=0.3, rng=rng, format="csr")
    sample_weight = np.where(rng.random(100) < 0.05, 1e5, 1.0)
    learner = Learner(Settings(loss, "invariant", scaling, rate, l2=l2, l2_flow="joint"), 20)
    predictions = learner.learn(examples(matrix, labels_for(loss, rng, 100), sample_weight, loss=loss))
    assert np.isfinite(predictions).all()
    assert np.isfinite(learner.model.state).all()
    assert np.abs(learner.model.coefficients()).max() < 1e4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_resumed_training_continues_bit_for_bit(dtype: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    settings = Settings(losses.by_name("hinge"), scaling="row_norm", l2=0.02, dtype=dtype, l2_flow="joint")
    matrix, labels, sample_weight = stream(settings.loss, rows=80)
    chunks = [examples(matrix[cut], labels[cut], sample_weight[cut]) for cut in (slice(0, 33), slice(33, 80))]
    steady, first = trained(settings, *chunks), trained(settings, chunks[0])
    first.save(tmp_path / "half")
    second = Learner.load(tmp_path / "half")
    second.learn(chunks[1])
    assert second.model.settings == settings
    for name, array in steady.model.arrays().items():
        np.testing.assert_array_equal(array, second.model.arrays()[name])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scaling": "adaptive"}, "cannot go with scaling='adaptive': it needs one rate for all features"),
        ({"scaling": "normalized"}, "cannot go with scaling='normalized'"),
        ({"l1": 0.1}, "cannot go with l1=0.1: only L2 has a joint flow: set l1=0"),
        ({"update": "implicit"}, "cannot go with update='implicit': only update='invariant' follows a flow"),
        ({"l2_flow": "apart"}, "there is no l2_flow 'apart'; it is one of split, joint"),
    ],
)
def test_bad_settings(change: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=message):
        Settings(**{"scaling": "plain", "l2": 0.1, "l2_flow": "joint"} | change)


@pytest.mark.parametrize("estimator", [OnlineClassifier("hinge"), OnlineRegressor()])
def test_through_the_estimators(estimator: OnlineClassifier | OnlineRegressor) -> None:
    estimator.set_params(scaling="plain", l2=0.1, l2_flow="joint", dtype="float64", learning_rate=0.3)
    estimator.set_params(shuffle=False, passes=1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    times = rng.integers(0, 6, 30)
    weighted = estimator.fit(X, y, sample_weight=times).coef_
    copies = estimator.fit(X.repeat(times, axis=0), y.repeat(times)).coef_
    np.testing.assert_allclose(weighted, copies, rtol=1e-9)
    with pytest.raises(ValueError, match="cannot go with scaling='normalized'"):
        estimator.set_params(scaling="normalized").fit(X, y)
