"""What is said about weights is so."""

import numpy as np
import pytest

from steelyard.demo import weights
from steelyard.demo.experiment import Findings
from steelyard.demo.weights import HeavyRow


def test_an_invariant_step_ends_where_the_copies_do(findings: Findings) -> None:
    step = findings.plain_rates.steps["invariant"]
    assert step.at_once == pytest.approx(step.one_by_one, rel=1e-5)
    assert dict(step.copies)[weights.WEIGHT] == step.one_by_one


def test_an_explicit_step_overshoots(findings: Findings) -> None:
    heavy = findings.plain_rates
    step = heavy.steps["explicit"]
    assert abs(step.at_once) > 5.0 * abs(step.one_by_one)
    assert step.quality.log_loss > heavy.steps["invariant"].quality.log_loss


@pytest.mark.parametrize("rates", ["plain_rates", "default_rates"])
def test_weight_1_is_one_copy_for_every_update(findings: Findings, rates: str) -> None:
    heavy: HeavyRow = getattr(findings, rates)
    for step in heavy.steps.values():
        assert step.curve[0] == pytest.approx(step.copies[0], rel=1e-5)
        assert step.curve[0][1] != heavy.before


def test_the_row_is_the_most_mistaken_one(findings: Findings) -> None:
    heavy, (package, _) = findings.plain_rates, findings.heavy_row
    assert heavy.label == (1.0 if package == "sklearn" else -1.0)
    assert heavy.label * heavy.before < 0.0


def test_weights_are_drawn_from_1_to_the_largest() -> None:
    drawn = weights.draw_weights(1000, 10_000, seed=1)
    assert (drawn == np.rint(drawn)).all()
    assert 1.0 <= drawn.min() < 2.0
    assert 9_000.0 < drawn.max() <= 10_000.0
    assert 60.0 < np.median(drawn) < 160.0
    assert (weights.draw_weights(5, 1, seed=1) == 1.0).all()


def test_large_weights_hurt_the_explicit_update(findings: Findings) -> None:
    weighted = findings.weighted
    explicit, invariant = (weighted.same_rate[update] for update in weights.UPDATES)
    assert explicit[0].log_loss == pytest.approx(invariant[0].log_loss, rel=0.1)
    assert explicit[-1].log_loss > 10.0 * invariant[-1].log_loss
    for update in weights.UPDATES:
        for same, best in zip(weighted.same_rate[update], weighted.best_rate[update], strict=True):
            assert best.log_loss <= same.log_loss
