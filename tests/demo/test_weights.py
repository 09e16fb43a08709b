"""What is said about weights is so."""

import pytest

from steelyard.demo import weights
from steelyard.demo.experiment import MODEL, OF_ALL, WITHOUT, Findings


def test_an_invariant_step_ends_where_the_copies_do(findings: Findings) -> None:
    step = findings.heavy.steps["invariant"]
    assert step.at_once == pytest.approx(step.one_by_one, rel=1e-5)
    assert dict(step.copies)[weights.WEIGHT] == step.one_by_one


def test_an_explicit_step_overshoots(findings: Findings) -> None:
    step = findings.heavy.steps["explicit"]
    assert abs(step.at_once) > 3.0 * abs(step.one_by_one)


def test_weight_1_is_one_copy_for_every_update(findings: Findings) -> None:
    for step in findings.heavy.steps.values():
        assert step.curve[0] == pytest.approx(step.copies[0], rel=1e-5)
        assert step.curve[0][1] != findings.heavy.before


def test_the_row_is_a_mistaken_one(findings: Findings) -> None:
    survived = findings.passengers.test[findings.heavy.row][3] == "yes"
    assert survived == (findings.heavy.before < 0.0)


def test_the_weighted_sample_does_as_everybody_does(findings: Findings) -> None:
    quality = findings.quality
    base = quality[MODEL]["most_frequent_class_accuracy"]
    assert quality[MODEL]["accuracy"] > base + 0.05
    assert quality[OF_ALL]["accuracy"] > base + 0.05
    assert quality[WITHOUT]["accuracy"] < base - 0.2
    off = {"weighted": 0.0, "unweighted": 0.0, "everybody": 0.0}
    for group in findings.groups:
        for name in off:
            off[name] += group.people * abs(getattr(group, name) - group.survived) / 2201
    assert max(off["weighted"], off["everybody"]) < 0.15 < 0.4 < off["unweighted"]
