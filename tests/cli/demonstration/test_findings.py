"""The figures are those of the commands."""

import numpy as np
import pytest

from steelyard.cli.demonstration.findings import Findings


def test_the_last_average_is_the_progressive_loss(found: Findings) -> None:
    assert found.averages[-1] == pytest.approx(found.summary["progressive_loss"], rel=1e-9)
    assert len(found.averages) == len(found.question.learned) == found.summary["examples"]


def test_it_learns_what_can_be_learned(found: Findings) -> None:
    assert found.quality["accuracy"] > 0.8
    assert found.summary["progressive_loss"] < 0.9 * found.summary["best_constant_loss"]


def test_the_scores_are_those_that_were_judged(found: Findings) -> None:
    right = np.mean([(score > 0.0) == ours for score, ours in found.scores])
    assert right == pytest.approx(found.quality["accuracy"])
    assert [ours for _, ours in found.scores] == [
        package == "sklearn" for package, _ in found.question.held_out
    ]


def test_the_explained_row_is_the_first_held_out(found: Findings) -> None:
    assert found.explained["prediction"] == pytest.approx(found.scores[0][0])
    words = found.question.held_out[0][1].lower()
    for part in found.explained["contributions"]:
        assert part["feature"].removeprefix("docstring^") in words
