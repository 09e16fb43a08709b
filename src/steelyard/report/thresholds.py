"""Thresholds for a probability, where the scores are: many for the slider, a few for the table."""

from typing import Any

import numpy as np

from steelyard._array_types import Floats
from steelyard.report.evidence import Evidence, short

_GOALS = (0.95, 0.9, 0.75, 0.5, 0.25, 0.1)  # recalls, of which the table has the thresholds
_STEPS = np.linspace(0.0, 1.0, 100)  # of the slider, over all rows and again over the positive ones
_DECIMALS = range(2, 10)  # of a probability


def choose(evidence: Evidence, own: float, *, inclusive: bool = False) -> dict[str, Any]:
    """What the slider needs, and the rows of the table; `own` is the threshold of the model itself.

    A threshold is rounded down, then counted as it is shown; the model's own is counted exactly: its answer
    needs more than that, or at least that if it is `inclusive`, as of the first class.
    """
    positive = evidence.actual > 0.0
    goals = _at_recalls(evidence.scores[positive], evidence.weights[positive])
    parts = [values for values in (evidence.scores, evidence.scores[positive]) if len(values)]
    steps = (np.quantile(values, _STEPS, method="lower") for values in parts)
    fine = np.unique(np.concatenate([goals, *steps]))
    decimals = next(
        (d for d in _DECIMALS if len(np.unique(_floor(fine, d))) > 0.9 * len(fine)), _DECIMALS[-1]
    )
    own_shown = _floor(np.array([own]), decimals)[0]
    listed = np.unique(np.append(_floor(fine, decimals), (0.5, own_shown)))
    exact = np.where(listed == own_shown, own if inclusive else np.nextafter(own, 2.0), listed)
    found, alarms = (_from(exact, evidence, which) for which in (positive, ~positive))
    texts = [_percent(value, decimals) for value in listed.tolist()]
    chosen = int(np.searchsorted(listed, own_shown))
    in_table = np.unique(np.append(_floor(goals, decimals), (0.5, own_shown)))
    seconds, firsts = (float(evidence.weights[which].sum()) for which in (positive, ~positive))
    rows = [
        {
            "at": texts[k],
            "precision": found[k] / (found[k] + alarms[k]) if found[k] + alarms[k] else None,
            "recall": found[k] / seconds if seconds else None,
            "accuracy": (found[k] + firsts - alarms[k]) / (seconds + firsts),
            "chosen": k == chosen,
        }
        for k in np.searchsorted(listed, in_table).tolist()
    ]
    data = {"at": texts, "found": short(found), "alarms": short(alarms), "second": seconds, "first": firsts}
    return {"data": data, "chosen": chosen, "own": texts[chosen], "rows": rows}


def _at_recalls(scores: Floats, weights: Floats) -> Floats:
    """The highest threshold that finds such a share of the positive class, for each goal."""
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(weights[order])
    if not len(order):
        return reached
    places = np.searchsorted(reached, np.array(_GOALS) * reached[-1] * (1.0 - 1e-12))
    return np.asarray(scores[order][places])


def _from(thresholds: Floats, evidence: Evidence, which: Any) -> Floats:
    """The weight of these rows at or above each threshold."""
    order = np.argsort(evidence.scores[which], kind="stable")
    below = np.concatenate([[0.0], np.cumsum(evidence.weights[which][order])])
    return np.asarray(below[-1] - below[np.searchsorted(evidence.scores[which][order], thresholds)])


def _floor(values: Floats, decimals: int) -> Floats:
    """Rounded down, so that a row with this very score is not lost."""
    rounded = np.round(values, decimals)
    return np.where(rounded <= values, rounded, np.round(rounded - 10.0**-decimals, decimals))


def _percent(value: float, decimals: int) -> str:
    text = f"{100.0 * value:.{decimals - 2}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"
