"""scikit-learn's own checks, for several configurations."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from steelyard import OnlineClassifier, OnlineRegressor, losses

REASON = (
    "the weighted copy is shuffled, and order is part of what an online learner learns; see test_weights.py"
)

ESTIMATORS = [
    OnlineClassifier(),
    OnlineClassifier("hinge", scaling="adaptive", update="implicit", passes=3, shuffle=True),
    OnlineClassifier("hellinger", scaling="row_norm", learning_rate=0.1, power_t=0.5, dtype="float64"),
    OnlineClassifier("squared", l1=1e-4, l2=1e-4, learning_rate=0.1, warm_start=True),
    OnlineRegressor(),
    OnlineRegressor(losses.by_name("quantile", tau=0.6), passes=5, dtype="float64", random_state=None),
]


def expected_to_fail(estimator: Any) -> dict[str, str]:
    return {
        "check_sample_weight_equivalence_on_dense_data": REASON,
        "check_sample_weight_equivalence_on_sparse_data": REASON,
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)  # type: ignore[untyped-decorator]
def test_check(estimator: Any, check: Any) -> None:
    check(estimator)
