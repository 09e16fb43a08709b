"""Margins in bins: each row is counted where it belongs, and old ones are forgotten as the clock doubles."""

import numpy as np

from steelyard.learn import margin_histogram as histogram


def test_margins_are_counted_in_order() -> None:
    """Beside a list of all margins: the weight, the moment, and what is left of earlier times."""
    rng = np.random.default_rng(0)
    predictions = rng.normal(size=(40, 2)) * 3.0
    predictions[5, 1] = np.nan
    codes, weights = rng.integers(0, 2, 40), rng.exponential(size=40) * (rng.random(40) < 0.8)
    weights[5] = 1.0
    bins, time = np.zeros((2, 2, 2, histogram.BINS)), np.zeros(2)
    histogram.add(predictions, codes.astype(float), weights, np.ones(1), 0.5, bins, time)
    kept: list[list[tuple[int, float, float]]] = [[], []]
    clock = began = 0.0
    for row in np.flatnonzero(weights):
        if clock >= 2.0 * began:
            kept, began = [kept[1], []], clock
        for model, p in enumerate(predictions[row]):
            if not np.isnan(p):
                margin = p - 0.5 if codes[row] == 1 else 0.5 - p
                kept[1].append((model, float(weights[row]), margin))
        clock += weights[row]
    assert time.tolist() == [clock, began]
    for part, rows in enumerate(kept):
        for model in range(2):
            own = [(h, margin) for which, h, margin in rows if which == model]
            assert np.isclose(bins[model, part, histogram.WEIGHT].sum(), sum(h for h, _ in own))
            assert np.isclose(bins[model, part, histogram.MOMENT].sum(), sum(h * m for h, m in own))
    middle = histogram.BINS // 2
    wrong = sum(h for model, h, margin in kept[1] if model == 0 and margin < 0.0)
    assert np.isclose(bins[0, 1, histogram.WEIGHT, :middle].sum(), wrong)
