"""How often `fit` learns the rows, and in which order: unlike `partial_fit` and files, it has all of them.

It learns them a given number of times, until there were enough, or until predictions of held-out rows get worse.
Rows sorted by label would teach the last label only, so they are shuffled. Rows of weight 0 do not take part in
the draw.
"""

import sys
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from steelyard._field_types import is_number
from steelyard.engine.passes import PassLoop
from steelyard.engine.protocol import Engine
from steelyard.engine.row_losses import row_losses
from steelyard.examples import Examples
from steelyard.losses import class_labels

AUTO = "auto"
# Total weights: tiny data is learned until there were `ENOUGH` rows in all. `SMALL` data is learned `FEW_PASSES`
# times if rates fall from pass to pass: it takes moments, and is nearly always better than one pass
# (`benchmarks.quality.passes`).
SMALL, ENOUGH = 20_000.0, 2_000.0
FEW_PASSES, MOST_PASSES = 3, 50
_ROUNDING = 1e-9  # a relative error of sums of weights that must not decide

Order = NDArray[np.int64]

_COMPARED = 33  # the most ordinary of this many rows comes first
# Random access to memory takes longer than learning. So for more rows than this, unless neighbours are alike,
# blocks are shuffled, and then rows within groups of blocks.
_MANY_ROWS, _BLOCK, _GROUP = 1 << 14, 64, 1 << 10
_ALIKE = (
    0.75  # neighbours are alike if their labels differ less than this part of the difference of any two rows
)


def check(estimator: Any) -> None:
    passes, fraction = estimator.passes, estimator.validation_fraction
    if passes != AUTO and (not is_number(passes) or not isinstance(passes, Integral) or passes < 1):
        raise ValueError(f"passes must be 'auto', or a whole number, 1 or more; got {passes!r}")
    if not is_number(fraction) or not 0.0 < float(fraction) <= 0.5:
        raise ValueError(f"validation_fraction must be above 0 and at most 0.5; got {fraction!r}")


def in_files(estimator: Any) -> int:
    """Return the passes over files: one by default, as the number of rows is unknown."""
    if estimator.passes != AUTO:
        return int(estimator.passes)
    return MOST_PASSES if estimator.early_stopping else 1


def in_memory(estimator: Any, weights: NDArray[np.float64], *, several: bool) -> int:
    """Return the most passes over rows in memory; `several`: whether small data gets more than one."""
    if estimator.passes != AUTO:
        return int(estimator.passes)
    if estimator.early_stopping:
        return MOST_PASSES
    weight = weights.sum()
    least = FEW_PASSES if several and weight * (1.0 - _ROUNDING) <= SMALL else 1
    passes = np.ceil(ENOUGH / weight * (1.0 - _ROUNDING))
    return int(np.clip(passes, least, MOST_PASSES))


def held_out(estimator: Any, rows: Examples) -> NDArray[np.bool_]:
    """Mark the rows that decide when to stop: one in so many of those with a weight; none without early stopping."""
    held = np.zeros(len(rows), bool)
    if not estimator.early_stopping:
        return held
    step = round(1.0 / estimator.validation_fraction)
    held[np.flatnonzero(rows.sample_weight)[step - 1 :: step]] = True
    if not held.any():
        raise ValueError(
            f"early stopping holds out one row in {step}, and there are fewer with a weight: "
            "use a larger validation_fraction, or leave early_stopping out"
        )
    return held


def run(loop: PassLoop, held_out: Examples, verbose: int) -> list[float]:
    """Learn all passes, or those up to the best; returns the loss on the rows held out after each."""
    if len(held_out) and not held_out.sample_weight.any():
        raise ValueError(
            "early stopping: the rows held out have a weight of 0 (class weights included): "
            "use a larger validation_fraction, or leave early_stopping out"
        )
    return loop.run_until_best(
        (lambda: _mean_loss(loop.engine, held_out)) if len(held_out) else None,
        after_pass=(lambda losses: _report_pass(loop, losses)) if verbose else None,
    )


def _report_pass(loop: PassLoop, losses: list[float]) -> None:
    engine, done = loop.engine, loop.position[0]
    text = f"held-out loss {losses[-1]:.6f}" if losses else "learned"
    if done == 1:
        progress = f"progressive loss {engine.progressive_loss[engine.best]:.6f}"
        text = f"{progress}, {text}" if losses else progress
    sys.stderr.write(f"pass {done} of {loop.passes}: {text}\n")


def _mean_loss(engine: Engine, rows: Examples) -> float:
    """Return the weighted mean loss of the predictions; with several classes, that of their models on average."""
    loss, predictions, labels = engine.settings[0].loss, engine.predict(rows), rows.labels[:, np.newaxis]
    if predictions.ndim == 1:
        predictions = predictions[:, np.newaxis]
    else:
        low, high = class_labels(loss)
        labels = np.where(labels == np.arange(predictions.shape[1]), high, low)
    by_row = row_losses(loss, predictions, labels).mean(axis=1)
    return float(rows.sample_weight @ by_row / rows.sample_weight.sum())


def order_of_passes(
    estimator: Any, rows: Examples, learned: NDArray[np.bool_] | None = None
) -> Callable[[int], Order] | None:
    """Return a function that draws the order of each pass; None if rows stay as they are.

    `learned` marks the rows whose labels may be looked at; None: all that have a weight.
    """
    if not estimator.shuffle:
        return None
    random = check_random_state(estimator.random_state)
    present, absent = np.flatnonzero(rows.sample_weight), np.flatnonzero(rows.sample_weight == 0.0)
    seen = present if learned is None else present[learned[present]]
    in_blocks = len(present) > _MANY_ROWS and _mixed(rows.labels[seen])

    def draw(pass_number: int) -> Order:
        order = present[
            _block_permutation(random, len(present)) if in_blocks else random.permutation(len(present))
        ]
        order = _ordinary_first(rows, order) if pass_number == 0 else order
        return np.concatenate([order, absent])

    return draw


def _mixed(labels: NDArray[np.float64]) -> bool:
    """Return whether rows are in no order, as far as labels show."""
    return bool(np.abs(np.diff(labels)).mean() >= _ALIKE * np.abs(labels - labels[::-1]).mean())


def _block_permutation(random: Any, count: int) -> Order:
    starts = random.permutation(-(-count // _BLOCK)) * _BLOCK
    order: Order = (starts[:, np.newaxis] + np.arange(_BLOCK)).ravel()
    order = order[order < count]
    for first in range(0, count, _GROUP):
        random.shuffle(order[first : first + _GROUP])
    return order


def _ordinary_first(rows: Examples, order: Order) -> Order:
    """Move the row nearest to the means of the first ones to the front: columns are measured from its values."""
    first = order[:_COMPARED]
    few = rows.take(first)
    places = np.tile(few.indices, len(few)) if few.dense else few.indices
    filled = few.values != 0.0
    indices, seen = np.unique(places[filled], return_counts=True)
    columns = indices[seen == len(few)]
    if not len(columns):
        return order
    own = filled & np.isin(places, columns)
    by_column = np.argsort(places[own], kind="stable")  # within a column the rows stay in order
    values = few.values[own][by_column].astype(np.float64).reshape(len(columns), len(few))
    distances = np.abs(values - values.mean(axis=1, keepdims=True))
    spread = distances.mean(axis=1, keepdims=True)
    best = int(np.argmin((distances / np.where(spread > 0.0, spread, 1.0)).sum(axis=0)))
    return np.concatenate([first[[best]], np.delete(order, best)])
