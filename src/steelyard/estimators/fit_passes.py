"""How often `fit` learns the rows: as told, until there were enough, or until held-out rows get worse."""

import sys
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from steelyard.engine import early_stopping
from steelyard.engine.lane_block import row_losses
from steelyard.engine.passes import PassLoop
from steelyard.engine.protocol import Engine
from steelyard.examples import Examples
from steelyard.losses import class_labels

AUTO = "auto"
ENOUGH = 2_000.0  # rows in all, by weight; fewer are learned several times
MOST_PASSES = 50


def check(estimator: Any) -> None:
    passes, fraction = estimator.passes, estimator.validation_fraction
    if passes != AUTO and (not isinstance(passes, Integral) or passes < 1):
        raise ValueError(f"passes must be 'auto', or a whole number, 1 or more; got {passes!r}")
    if not isinstance(fraction, Real) or not 0.0 < float(fraction) <= 0.5:
        raise ValueError(f"validation_fraction must be above 0 and at most 0.5; got {fraction!r}")


def in_files(estimator: Any) -> int:
    """Files are learned once unless told otherwise: nobody knows how many rows they have."""
    if estimator.passes != AUTO:
        return int(estimator.passes)
    return MOST_PASSES if estimator.early_stopping else 1


def in_memory(estimator: Any, rows: Examples) -> int:
    """At most, where something stops earlier."""
    if estimator.passes != AUTO:
        return int(estimator.passes)
    if estimator.early_stopping:
        return MOST_PASSES
    return int(np.clip(np.ceil(ENOUGH / rows.sample_weight.sum()), 1, MOST_PASSES))


def hold_out(estimator: Any, rows: Examples) -> tuple[Examples, Examples | None]:
    """The rows to learn, and those to decide by when to stop: of all with a weight, every so many-th."""
    if not estimator.early_stopping:
        return rows, None
    step = round(1.0 / estimator.validation_fraction)
    held = np.flatnonzero(rows.sample_weight)[step - 1 :: step]
    if not len(held):
        raise ValueError(
            f"early stopping holds out one row in {step}, and there are fewer with a weight: "
            "use a larger validation_fraction, or leave early_stopping out"
        )
    weights = rows.sample_weight.copy()
    weights[held] = 0.0
    return replace(rows, sample_weight=weights), rows.take(held)


def run(loop: PassLoop, held_out: Examples | None, verbose: int) -> list[float]:
    """All passes, or those up to the best; returns the loss of the rows held out after each."""

    def measure() -> float:
        assert held_out is not None
        return _mean_loss(loop.engine, held_out)

    return early_stopping.run(
        loop,
        None if held_out is None else measure,
        after_pass=(lambda found: _say(loop, found)) if verbose else None,
    )


def _say(loop: PassLoop, found: list[float]) -> None:
    engine, done = loop.engine, loop.position[0]
    said = f"held-out loss {found[-1]:.6f}" if found else "learned"
    if done == 1:
        said = f"progressive loss {engine.progressive_loss[engine.best]:.6f}" + (f", {said}" if found else "")
    sys.stderr.write(f"pass {done} of {loop.passes}: {said}\n")


def _mean_loss(engine: Engine, rows: Examples) -> float:
    """Of the predictions, by weight; of several classes, that of their models on average."""
    loss, predictions, labels = engine.settings[0].loss, engine.predict(rows), rows.labels[:, np.newaxis]
    if predictions.ndim == 1:
        predictions = predictions[:, np.newaxis]
    else:
        low, high = class_labels(loss)
        labels = np.where(labels == np.arange(predictions.shape[1]), high, low)
    by_row = row_losses(loss, predictions, labels).mean(axis=1)
    return float(rows.sample_weight @ by_row / rows.sample_weight.sum())
