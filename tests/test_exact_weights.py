"""The law: a weight of h is h copies, and any parts that add up to h; over all losses and scalings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.settings import SCALINGS, Settings
from tests.support.splits import Numbers, apart, broken, cut, learner, of_all_sizes, rows, taught, whole

LOSSES = [losses.by_name(name) for name in losses.names()] + [losses.by_name("quantile", tau=0.9)]
PENALTIES: list[dict[str, Any]] = [{}, {"l1": 1e-3}, {"l2": 0.01}, {"l1": 1e-3, "l2": 0.01}]
MOST = {"float64": 1e-10, "float32": 1e-5}

over_all = pytest.mark.parametrize("scaling", SCALINGS)
over_losses = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def kinds(loss: Loss, scaling: str, dtype: str) -> Iterator[Settings]:
    """With L1, L2, both and neither, and with averages and without where there are some."""
    for penalty in PENALTIES:
        for average in (None, 0) if scaling == "standardized" else (None,):
            yield Settings(loss, scaling=scaling, dtype=dtype, average=average, **penalty)


@pytest.mark.no_cover
@over_all
@over_losses
@pytest.mark.parametrize("dtype", MOST)
def test_a_weight_is_as_many_copies(loss: Loss, scaling: str, dtype: str) -> None:
    """The copies come in dense rows."""
    matrix, labels, rng = rows(loss, 0)
    weights = whole(rng, len(labels))
    turns = np.repeat(np.arange(len(labels)), weights.astype(int))
    for settings in kinds(loss, scaling, dtype):
        one = taught(settings, examples(matrix, labels, weights))
        copies = taught(settings, examples(matrix[turns].toarray(), labels[turns]))
        assert apart(one, copies, matrix) <= MOST[dtype], settings


@pytest.mark.no_cover
@over_all
@over_losses
@pytest.mark.parametrize("dtype", MOST)
def test_a_weight_is_its_parts(loss: Loss, scaling: str, dtype: str) -> None:
    for seed, weigh in enumerate((whole, broken)):
        matrix, labels, rng = rows(loss, seed)
        weights = weigh(rng, len(labels))
        turns, parts = cut(weights, rng)
        for settings in kinds(loss, scaling, dtype):
            one = taught(settings, examples(matrix, labels, weights))
            other = taught(settings, examples(matrix[turns], labels[turns], parts))
            assert apart(one, other, matrix) <= MOST[dtype], settings


@over_all
@over_losses
def test_weights_of_all_sizes_from_any_clock(loss: Loss, scaling: str) -> None:
    """Weights of 1e-3 to 1e6; clocks of 0 to 1e9. (Where a row rests is known to 1e-12: hence 1e-9.)"""
    for seed, clock in enumerate((0.0, 17.0, 1e4, 1e6, 1e9)):
        for weigh in (of_all_sizes, broken):
            matrix, labels, rng = rows(loss, seed)
            weights = weigh(rng, len(labels))
            turns, parts = cut(weights, rng)
            settings = Settings(loss, scaling=scaling, dtype="float64", power_t=0.5 * (seed % 2))
            one = taught(settings, examples(matrix, labels, weights), clock)
            other = taught(settings, examples(matrix[turns], labels[turns], parts), clock)
            assert apart(one, other, matrix) <= 1e-9, (clock, weigh)


@over_all
@over_losses
def test_rows_that_rest(loss: Loss, scaling: str) -> None:
    """Long steps lead to kinks and to predictions that need no learning, where rows stay or come again."""
    for seed, penalty in enumerate(PENALTIES):
        matrix, labels, rng = rows(loss, seed, 8)
        again = np.concatenate([np.repeat(np.arange(8), 3), rng.permutation(8)])
        matrix, labels = matrix[again], np.round(labels[again])
        weights = broken(rng, len(labels))
        turns, parts = cut(weights, rng)
        settings = Settings(loss, scaling=scaling, learning_rate=30.0, dtype="float64", **penalty)
        one = taught(settings, examples(matrix, labels, weights))
        other = taught(settings, examples(matrix[turns], labels[turns], parts))
        assert apart(one, other, matrix) <= 1e-10, penalty


@pytest.mark.no_cover
@over_all
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_a_model_that_is_saved_between_parts_of_a_row(
    scaling: str, penalty: dict[str, Any], tmp_path: Path
) -> None:
    """Within a unit of the clock; the loaded model goes on bit for bit."""
    for loss in LOSSES:
        matrix, labels, rng = rows(loss, 3, 4)
        weights = broken(rng, len(labels))
        turns, parts = cut(weights, rng)
        settings = Settings(loss, scaling=scaling, dtype="float64", **penalty)
        one = taught(settings, examples(matrix, labels, weights))
        whole_file, pieces = (
            taught(settings, examples(matrix[turns], labels[turns], parts)),
            learner(settings),
        )
        for turn, part in zip(turns, parts, strict=True):
            pieces.learn(examples(matrix[[turn]], labels[[turn]], [part]))
            pieces.save(tmp_path / "model")
            pieces = Learner.load(tmp_path / "model")
        assert same_bits(whole_file, pieces)
        assert apart(one, pieces, matrix) <= 1e-10, loss


def same_bits(one: Learner, other: Learner) -> bool:
    numbers: list[list[Numbers]] = [list(each.model.arrays().values()) for each in (one, other)]
    # an array that nothing was noted in may be absent
    return all(a.tobytes() == b.tobytes() or not (a.any() or b.any()) for a, b in zip(*numbers, strict=True))


@over_all
def test_other_updates_are_not_exact_and_that_is_why(scaling: str) -> None:
    """A row of any weight is one step of theirs."""
    loss = losses.by_name("logistic")
    matrix, labels, rng = rows(loss, 0)
    weights = whole(rng, len(labels))
    turns, parts = cut(weights, rng)
    settings = Settings(loss, "implicit", scaling, 0.5, dtype="float64")
    one = taught(settings, examples(matrix, labels, weights))
    other = taught(settings, examples(matrix[turns], labels[turns], parts))
    assert apart(one, other, matrix) > 1e-6


def test_a_sliver_at_the_end_is_no_epoch_for_averages() -> None:
    """A part of 5e-10 may be left out of the clock as rounding; as a row of its own it must not count as a whole."""
    loss = losses.by_name("modified_huber")
    matrix, labels, _ = rows(loss, 0, 40)
    weights = np.ones(40)
    weights[-1] += 5e-10
    again, parts = np.append(np.arange(40), 39), np.append(np.ones(40), 5e-10)
    settings = Settings(loss, dtype="float64")
    one = taught(settings, examples(matrix, labels, weights))
    other = taught(settings, examples(matrix[again], labels[again], parts))
    assert apart(one, other, matrix) <= 1e-8
