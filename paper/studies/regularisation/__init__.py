"""L1 and L2 by splitting: accuracy, and weights against copies."""

import numpy as np

from paper import verdicts
from paper.drawing import COLOURS, GREY, figure
from paper.grids import NEAR
from paper.studies.regularisation import steps
from paper.studies.regularisation.copies import COPIES, EXPLICIT, INVARIANT, JOINT, UNITS, WAYS
from paper.studies.regularisation.steps import PENALTIES, RATES, STRENGTHS, UPDATES
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables

EXACT = 1e-6
"""The largest relative deviation that counts as none."""


class Regularisation(Study):
    """The paper's remark on regularisation, tested."""

    name = PENALTIES
    title = "L1 and L2"

    def steps(self, scope: Scope) -> list[Step]:
        return steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows, copies = tables[PENALTIES], tables[COPIES]
        return Part(
            [
                "The step is split as in the paper: first the update for the loss, then, for the same time, "
                "the penalty alone: weights shrink towards 0 by ηλ (L1) or are divided by 1 + ηλ (L2). One "
                f"pass, at a constant rate of {' or '.join(f'{rate:g}' for rate in RATES)} divided "
                "by x·x, without a bias; λ goes from 10⁻⁸ to 10³.",
                _table(rows),
                _figure(rows),
                "Splitting once after each example is not invariant: an example of weight h and h copies of "
                "it end with different weights. Splitting once for each unit of weight (*in units*), as the "
                "library does, is exact with every loss. So is following the loss and L2 jointly, which the "
                "paper solves for squared loss.",
                _copies_table(copies),
            ],
            [_splitting(rows, copies), _sparse(rows), _accurate(rows), _invariant_is_nearer(copies)],
        )


def _runs(rows: list[Row]) -> dict[tuple[str, str, str, str], list[Row]]:
    """The rows by data, loss, penalty and update: all rates, from no penalty to the strongest."""
    found: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        key = (str(row["data"]), str(row["loss"]), str(row["penalty"]), str(row["update"]))
        found.setdefault(key, []).append(row)
    return found


def _table(rows: list[Row]) -> ReportTable:
    runs = _runs(rows)
    cases = list(dict.fromkeys((place, loss, penalty) for place, loss, penalty, _ in runs))
    heads = ("λ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0", "best\N{NO-BREAK SPACE}λ", "features")
    return ReportTable(
        ["data", "loss", "penalty", *(f"{update}, {head}" for update in UPDATES for head in heads)],
        [
            [*case, *(cell for update in UPDATES for cell in _summary(runs[(*case, update)]))]
            for case in cases
        ],
        "Test accuracy without a penalty and with the best one, each at the better of the rates; and the "
        f"least share of features with which the accuracy is within {NEAR} of the best.",
        PENALTIES,
    )


def _summary(run: list[Row]) -> list[str]:
    without = max(float(row["accuracy"]) for row in run if row["strength"] == 0.0)
    best = max(run, key=lambda row: float(row["accuracy"]))
    return [
        f"{without:.4f}",
        f"{float(best['accuracy']):.4f} ({float(best['strength']):g})",
        f"{_least_features(run):.0%}",
    ]


def _product(row: Row) -> float:
    """The product ηλ."""
    return float(row["rate"]) * float(row["strength"])


def _least_features(run: list[Row]) -> float:
    best = max(float(row["accuracy"]) for row in run)
    return min(float(row["used"]) for row in run if float(row["accuracy"]) >= best - NEAR)


def _figure(rows: list[Row]) -> ReportFigure:
    runs = {key: run for key, run in _runs(rows).items() if key[1] == "logistic"}
    shown = RATES[-1]
    places = list(dict.fromkeys(place for place, *_ in runs))
    drawing = figure(2.2 + 2.1 * len(places), 5.6)
    axes = drawing.subplots(2, len(places), sharex=True, sharey="row", squeeze=False)
    for (place, _, penalty, update), run in runs.items():
        style = "-" if penalty == "l1" else ":"
        line_up = [row for row in run if row["rate"] == shown and float(row["strength"]) > 0.0]
        for line, column in enumerate(("accuracy", "used")):
            axis = axes[line, places.index(place)]
            axis.plot(
                STRENGTHS, [float(row[column]) for row in line_up], style, color=COLOURS[update],
                label=f"{penalty.upper()}, {update}", linewidth=1.6,
            )  # fmt: skip
            axis.set_xscale("log")
        axes[0, places.index(place)].set_title(place, fontsize=10.5)
        axes[1, places.index(place)].set_xlabel("λ")
    for axis in axes.flat:
        axis.axvline(1.0 / shown, color=GREY, linewidth=0.8, label="ηλ = 1")
    axes[0, 0].set_ylabel("test accuracy")
    axes[1, 0].set_ylabel("share of features used")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=3)
    return ReportFigure(
        "regularisation-logistic",
        drawing,
        f"Logistic loss at a rate of {shown:g}/x·x: test accuracy, and the share of the features met that "
        "have a weight, over the strength of the penalty (with L2 a weight ends by underflow only). Right of "
        "the grey line ηλ is above 1.",
        PENALTIES,
    )


def _copies_table(copies: list[Row]) -> ReportTable:
    found: dict[tuple[str, float, int], dict[str, float]] = {}
    for row in copies:
        key = (str(row["loss"]), float(row["strength"]), int(row["times"]))
        found.setdefault(key, {})[str(row["way"])] = float(row["deviation"])
    return ReportTable(
        ["loss", "λ", "h", *WAYS],
        [
            [loss, f"{strength:g}", str(times), *(f"{each[way]:.1e}" if way in each else "–" for way in WAYS)]
            for (loss, strength, times), each in found.items()
            if times > 1
        ],
        f"An example of weight h against h copies: the largest difference of a prediction, relative to the "
        f"largest prediction. Every fifth of {copies[0]['rows']} rows of {copies[0]['data']} has the weight.",
        COPIES,
    )


def _deviations(copies: list[Row], way: str) -> list[float]:
    return [float(row["deviation"]) for row in copies if row["way"] == way]


def _splitting(rows: list[Row], copies: list[Row]) -> Claim:
    """C14."""
    strong = [row for row in rows if _product(row) > 1.0]
    fine = [not row["diverged"] and bool(np.isfinite(float(row["largest"]))) for row in strong]
    joint, units = _deviations(copies, JOINT), _deviations(copies, UNITS)
    exact = [each <= EXACT for each in [*joint, *units]]
    cases = verdicts.tally(1 if so else -1 for so in [*fine, *exact])
    return Claim(
        where="§3.3",
        says="L2 by splitting: the step, then division by 1 + hηλ; L1 likewise; the joint equation is solved "
        "for squared loss only.",
        paper="derived",
        ours=f"all weights finite in {sum(fine)} of {len(strong)} runs with ηλ from "
        f"{min(map(_product, strong)):,g} to {max(map(_product, strong)):,g}; jointly, weight h is h copies "
        f"to {max(joint):.0e} for squared loss; split once for each unit of weight, to {max(units):.0e} for "
        "three losses",
        verdict=verdicts.judge(cases),
        why="Dividing cannot change a sign; subtracting ηλ·w would. A penalty for each unit of weight needs "
        "no joint equation.",
        source=f"{PENALTIES} {COPIES}",
        number=14,
        cases=cases,
    )


def _sparse(rows: list[Row]) -> Claim:
    runs = {key: run for key, run in _runs(rows).items() if key[2] == "l1" and key[3] == "invariant"}
    fewer = sum(_least_features(run) <= 0.5 for run in runs.values())
    return Claim(
        where="On regularisation",
        says="L1 by splitting gives sparse weights at little cost: half of the features or fewer within "
        f"{NEAR} of the best accuracy, invariant update.",
        paper="–",
        ours=f"in {fewer} of {len(runs)} pairs of data and loss; "
        f"{np.mean([_least_features(run) for run in runs.values()]):.0%} of the features on average",
        verdict=verdicts.judge_cases(fewer, len(runs)),
        why="Rare features are cut away; few rows need them. Of the features met, all have a weight without "
        "L1, or with hinge loss those of rows that were learned at all.",
        source=PENALTIES,
    )


def _accurate(rows: list[Row]) -> Claim:
    runs = _runs(rows)
    pairs = _gaps(runs)
    without = _gaps({key: [row for row in run if row["strength"] == 0.0] for key, run in runs.items()})
    behind = "; ".join(
        f"{', '.join(key)} ({gap:+.4f}, {without[key]:+.4f} without a penalty)"
        for key, gap in pairs.items()
        if gap < -NEAR
    )
    level = sum(gap >= -NEAR for gap in pairs.values())
    widest = max(pairs, key=lambda key: abs(pairs[key]))
    return Claim(
        where="On regularisation",
        says="With penalties the invariant update is as accurate as the explicit one, or more so.",
        paper="–",
        ours=f"at the best λ, no worse by more than {NEAR} in {level} of {len(pairs)} cases; the largest "
        f"difference, invariant − explicit, is {pairs[widest]:+.4f} ({', '.join(widest)})",
        verdict=verdicts.judge_cases(level, len(pairs)),
        why="Of two rates, the better for both."
        + (f" Not so for {behind}; other rates were not tried." if behind else ""),
        source=PENALTIES,
    )


def _gaps(runs: dict[tuple[str, str, str, str], list[Row]]) -> dict[tuple[str, str, str], float]:
    """The gaps between the best accuracies, invariant − explicit."""
    best = {key: max(float(row["accuracy"]) for row in run) for key, run in runs.items()}
    return {key[:3]: best[(*key[:3], "invariant")] - best[(*key[:3], "explicit")] for key in best}


def _invariant_is_nearer(copies: list[Row]) -> Claim:
    heavy = [row for row in copies if int(row["times"]) > 1]
    split, explicit = _deviations(heavy, INVARIANT), _deviations(heavy, EXPLICIT)
    nearer = sum(one < other for one, other in zip(split, explicit, strict=True))
    strengths = [float(row["strength"]) for row in heavy if row["way"] == INVARIANT]
    farther = {
        strength for strength, one, other in zip(strengths, split, explicit, strict=True) if one >= other
    }
    listed = ", ".join(f"{strength:g}" for strength in sorted(farther))
    not_so = f" It is not nearer at λ = {listed}, where the penalty outweighs the loss." if farther else ""
    return Claim(
        where="On regularisation",
        says="Splitting once after each example is only nearly invariant, and with the invariant update "
        "nearer than with the explicit one.",
        paper="–",
        ours=f"nearer in {nearer} of {len(split)} cases; deviations of {min(split):.1e} to {max(split):.1e} "
        f"against {min(explicit):.1e} to {max(explicit):.1e}",
        verdict=verdicts.judge_cases(nearer, len(split)),
        why="The penalty is taken once after a long step, or after each of many short ones." + not_so,
        source=COPIES,
    )
