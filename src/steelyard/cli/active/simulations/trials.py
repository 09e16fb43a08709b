"""Every policy with every budget on every shuffle, and what has come of each."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.active import strategies
from steelyard.active.strategies import Outcome
from steelyard.cli.active.simulations.labelled_rows import LabelledRows
from steelyard.examples import Examples
from steelyard.io.errors import InputError

ALL = "all labels"
_Z = 1.96  # of 95 %


def run(rows: LabelledRows, given: dict[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
    """For each fraction and policy, what has come of it over all shuffles; last, with all labels."""
    found: dict[tuple[float, str], list[dict[str, Any]]] = {}
    fractions = sorted(given["fractions"])
    for seed in range(given["seeds"]):
        learned, tested = rows.split(seed, given["holdout"])
        labels = budgets(fractions, len(learned))
        training = replace(strategies.LEARNERS[given["learner"]], seed=seed)
        for policy in given["policies"]:
            ways = strategies.outcomes(policy, training, learned, labels)
            for fraction, outcome in zip(fractions, ways, strict=True):
                found.setdefault((fraction, policy), []).append(_tested(outcome, tested))
                tick()
        for outcome in strategies.outcomes("random", training, learned, [len(learned)]):
            found.setdefault((1.0, ALL), []).append(_tested(outcome, tested))
            tick()
    kept = len(tested)
    return {"results": [summed_up(*key, found[key], kept) for key in sorted(found, key=lambda key: key[0])]}


def count(given: dict[str, Any]) -> int:
    """Of trials: how often `run` ticks."""
    return int(given["seeds"] * (1 + len(given["policies"]) * len(given["fractions"])))


def budgets(fractions: list[float], rows: int) -> list[int]:
    for fraction in fractions:
        if not 0.0 < fraction <= 1.0:
            raise InputError(f"--fractions: {fraction:g} is no share of the labels, above 0 and at most 1")
        if round(fraction * rows) < 1:
            raise InputError(
                f"--fractions: {fraction:g} of {rows:,} rows to learn from is not even one label"
            )
    return [round(fraction * rows) for fraction in fractions]


def _tested(outcome: Outcome, tested: Examples) -> dict[str, Any]:
    """What it has cost, what it is worth, and what it thinks of itself, if anything is known."""
    estimate = None
    if outcome.appraisal is not None and not math.isnan((own := outcome.appraisal.estimate()).value):
        estimate = {"value": own.value, "low": own.low, "high": own.high}
    return {
        "labels": len(outcome.rows),
        "error": strategies.error(outcome.model, tested),
        "estimate": estimate,
        "diverged": outcome.model is None,
    }


def summed_up(fraction: float, policy: str, trials: list[dict[str, Any]], kept: int) -> dict[str, Any]:
    errors = np.array([trial["error"] for trial in trials])
    own = [trial["estimate"] for trial in trials if trial["estimate"] is not None]
    mean = float(errors.mean())
    off = half_width(errors, kept)
    entry: dict[str, Any] = {
        "fraction": fraction,
        "policy": policy,
        "labels": float(np.mean([trial["labels"] for trial in trials])),
        "error": mean,
        "low": max(mean - off, 0.0),
        "high": min(mean + off, 1.0),
        "estimate": None,
        "inside": None,
        "trials": trials,
    }
    if len(own) == len(trials):
        entry["estimate"] = {
            name: float(np.mean([each[name] for each in own])) for name in ("value", "low", "high")
        }
        entry["inside"] = sum(
            each["low"] <= error <= each["high"] for each, error in zip(own, errors.tolist(), strict=True)
        )
    return entry


def half_width(errors: np.ndarray[Any, Any], kept: int) -> float:
    """Of a 95 % interval: how much shuffles differ, and how few rows are held out."""
    from scipy.special import stdtrit  # not at the top: it takes a while, and --help needs none

    shuffles = len(errors)
    # No error at all is not no doubt: two more of each kind, after Agresti and Coull
    mean = (float(errors.mean()) * kept + 2.0) / (kept + 4.0)
    held_out = _Z**2 * mean * (1.0 - mean) / (kept + 4.0)
    between = 0.0
    if shuffles > 1:
        between = float(stdtrit(shuffles - 1, 0.975)) ** 2 * float(errors.var(ddof=1)) / shuffles
    return math.sqrt(held_out + between)
