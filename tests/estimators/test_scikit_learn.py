"""scikit-learn's own checks, for several configurations."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from steelyard import OnlineClassifier, OnlineRegressor, losses

REASON = (
    "the weighted copy is shuffled, and order is part of what an online learner learns; see test_weights.py"
)

ESTIMATORS = [
    OnlineClassifier(),
    OnlineClassifier("logistic", learning_rate="auto"),
    OnlineRegressor(),
]
MORE = [
    OnlineClassifier("hellinger", scaling="row_norm", learning_rate=0.1, power_t=0.5, dtype="float64"),
    OnlineRegressor(losses.by_name("quantile", tau=0.6), passes=5, dtype="float64", random_state=None),
    OnlineClassifier("hinge", scaling="adaptive", update="implicit", passes=3, shuffle=True),
    OnlineClassifier("squared", l1=1e-4, l2=1e-4, learning_rate=0.1, warm_start=True),
    OnlineRegressor(learning_rate="auto"),
]


def expected_to_fail(estimator: Any) -> dict[str, str]:
    checks = {
        "check_sample_weight_equivalence_on_dense_data": REASON,
        "check_sample_weight_equivalence_on_sparse_data": REASON,
    }
    if estimator.warm_start:
        checks["check_supervised_y_2d"] = "it fits twice, and the second fit goes on from the first"
    if estimator.loss == "hellinger":
        checks["check_class_weight_classifiers"] = (
            "its predictions are probabilities themselves: on unscaled noise that of the heavy class is "
            "below 0 for many rows, while those of the other classes, which weigh nothing, stay at 0"
        )
    return checks


@pytest.mark.no_cover
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)  # type: ignore[untyped-decorator]
def test_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.soak
@parametrize_with_checks(MORE, expected_failed_checks=expected_to_fail)  # type: ignore[untyped-decorator]
def test_check_more(estimator: Any, check: Any) -> None:
    check(estimator)
