"""Whole passes: the cost of steps that go too far."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from paper import verdicts
from paper.drawing import COLOURS, figure
from paper.studies.safety.single import AWARE
from paper.studies.safety.steps import LOSSES, RATES, REGRET
from paper.study import Claim, ReportFigure, ReportTable, Row

FIXED_RATE = 0.25
FAR = 1e3
"""Regrets above this are off the figures, as are those of models that diverged."""

EXPLODES = 10.0

Regrets = dict[tuple[str, str, float, str], dict[float, float]]


def blocks(rows: list[Row]) -> list[str | ReportFigure | ReportTable]:
    found = regrets(rows)
    return [
        "**Regret** is the progressive loss, mean over all rows by weight, less that of "
        "the best fixed predictor that many passes over the same rows find, with normalized rates (the very "
        "best may be a little better, so the true regret a little larger). Rows weigh 1, or from 1 to a "
        "largest weight, drawn evenly in the logarithm. Rates are constant and divided by x·x.",
        _regret_table(found),
        _rate_figure(found),
        _weight_figure(found),
    ]


def claims(rows: list[Row]) -> list[Claim]:
    found = regrets(rows)
    return [_bounded(found), _best_rate(found)]


def regrets(rows: list[Row]) -> Regrets:
    """Regrets over the rates, by data, loss, largest weight and update; infinite if the model diverged."""
    found: Regrets = {}
    for row in rows:
        key = (str(row["data"]), str(row["loss"]), float(row["largest_weight"]), str(row["update"]))
        regret = float(row["progressive_loss"]) - float(row["fixed_loss"])
        finite = not row["diverged"] and math.isfinite(regret)
        found.setdefault(key, {})[float(row["learning_rate"])] = regret if finite else math.inf
    return found


def _regret_table(found: Regrets) -> ReportTable:
    updates = list(dict.fromkeys(update for *_, update in found))
    cases = list(dict.fromkeys(key[:3] for key in found))
    return ReportTable(
        [
            "data",
            "loss",
            "largest weight",
            *(f"{update}, {which}" for which in (f"rate {FIXED_RATE:g}", "best rate") for update in updates),
        ],
        [
            [
                *case[:2],
                f"{case[2]:,.0f}",
                *(_cell(found, case, update, fixed) for fixed in (True, False) for update in updates),
            ]
            for case in cases
        ],
        f"Regret at the rate {FIXED_RATE:g}, and at the rate that is best in hindsight. ∞: diverged.",
        REGRET,
    )


def _cell(found: Regrets, case: tuple[str, str, float], update: str, fixed: bool) -> str:
    by_rate = found.get((*case, update))
    if by_rate is None:
        return "–"
    regret = by_rate[FIXED_RATE] if fixed else min(by_rate.values())
    return "∞" if math.isinf(regret) else f"{regret:.3g}"


def _rate_figure(found: Regrets) -> ReportFigure:
    """The figure for the first data set, without weights."""
    place = next(iter(found))[0]
    drawing = figure(9.4, 3.9)
    axes = drawing.subplots(1, len(LOSSES), sharey=True)
    for (where, loss, largest, update), by_rate in found.items():
        if where == place and largest == 1.0:
            axis = axes[LOSSES.index(loss)]
            _line(axis, list(by_rate), list(by_rate.values()), update)
            axis.set(title=loss, xlabel="learning rate")
            axis.set_xscale("log", base=2)
    _finish(drawing, axes)
    return ReportFigure(
        "safety-rates",
        drawing,
        f"Regret over the learning rate, {place}, every row of weight 1. Lines that leave the picture at the "
        "top went above a thousand, or diverged. Left, every update learns too slowly and all are alike.",
        REGRET,
    )


def _weight_figure(found: Regrets) -> ReportFigure:
    place = next(iter(found))[0]
    drawing = figure(9.4, 3.9)
    axes = drawing.subplots(1, len(LOSSES), sharey=True)
    for axis, loss in zip(axes, LOSSES, strict=True):
        for update in dict.fromkeys(key[3] for key in found if key[:2] == (place, loss)):
            line = {
                key[2]: by_rate
                for key, by_rate in found.items()
                if (*key[:2], key[3]) == (place, loss, update)
            }
            _line(axis, list(line), [each[FIXED_RATE] for each in line.values()], update)
            hindsight = [min(each.values()) for each in line.values()]
            axis.plot(list(line), hindsight, ":", color=COLOURS[update], label=_dotted(update))
        axis.set(title=loss, xlabel="largest weight", xscale="log")
    _finish(drawing, axes)
    return ReportFigure(
        "safety-weights",
        drawing,
        f"Regret as the weights grow, {place}: at the rate {FIXED_RATE:g} (solid), and at the rate that is "
        "best in hindsight for these very weights (dotted). Above a thousand, or diverged: off the top.",
        REGRET,
    )


def _dotted(update: str) -> str | None:
    """Draw the regrets of an update; only the last update adds the dots to the legend."""
    return "dotted: best rate" if update == "invariant" else None


def _line(axis: Axes, x: list[float], y: list[float], update: str) -> None:
    shown = [min(value, 100.0 * FAR) for value in y]
    width = 3.6 if update == "implicit" else 1.6  # it often lies under another
    axis.plot(x, shown, color=COLOURS[update], label=update.replace("_", " "), linewidth=width)


def _finish(drawing: Figure, axes: NDArray[Any]) -> None:
    axes[0].set_yscale("log")
    axes[0].set(ylim=(0.03, FAR), ylabel="regret, mean a row")
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(handles))


def _bounded(found: Regrets) -> Claim:
    """The claim about weights up to 100,000 at a fixed rate."""
    cases = list(dict.fromkeys(key[:2] for key in found))
    heaviest = max(key[2] for key in found)
    growth = {
        update: [
            found[(*case, heaviest, update)][FIXED_RATE] / found[(*case, 1.0, update)][FIXED_RATE]
            for case in cases
        ]
        for update in ("explicit", *AWARE)
    }
    tame = sum(
        max(growth[update][number] for update in AWARE) < EXPLODES < growth["explicit"][number]
        for number in range(len(cases))
    )
    return Claim(
        where="On regret",
        says="As weights grow, the regret of the explicit update explodes; that of importance-aware ones "
        "does not.",
        paper="–",
        ours=f"weights up to {heaviest:,.0f} in place of 1, rate {FIXED_RATE:g}: the regret grows, at most, "
        + ", ".join(f"{_fold(max(values))} ({update})" for update, values in growth.items())
        + f"; more than {EXPLODES:g}-fold with the explicit update only in {tame} of {len(cases)} pairs of "
        "data and loss",
        verdict=verdicts.judge_cases(tame, len(cases)),
        why="A safe step stops at the minimiser, or grows with the logarithm of the weight where there is "
        "none.",
        source=REGRET,
    )


def _fold(growth: float) -> str:
    return "without end" if math.isinf(growth) else f"{growth:,.3g}-fold"


def _best_rate(found: Regrets) -> Claim:
    """The claim about rates chosen in hindsight, for both updates."""
    cases = list(dict.fromkeys(key[:3] for key in found))
    best = {key: min(by_rate.values()) for key, by_rate in found.items()}
    better = [case for case in cases if best[(*case, "invariant")] <= best[(*case, "explicit")]]
    span = {
        update: sum(
            sum(regret <= 2.0 * best[(*case, update)] for regret in found[(*case, update)].values())
            for case in cases
        )
        / len(cases)
        for update in ("explicit", *AWARE)
    }
    return Claim(
        where="On regret",
        says="Even at the best rate in hindsight the invariant update has no more regret than the explicit "
        "one.",
        paper="–",
        ours=f"in {len(better)} of {len(cases)} cases (data, loss, largest weight); rates within twice the "
        f"least regret, of {len(RATES)}: "
        + ", ".join(f"{update} {count:.1f}" for update, count in span.items()),
        verdict=verdicts.judge_cases(len(better), len(cases)),
        why=_but(best, cases),
        source=REGRET,
    )


def _but(best: dict[tuple[str, str, float, str], float], cases: list[tuple[str, str, float]]) -> str:
    ratio = {case: best[(*case, "invariant")] / best[(*case, "explicit")] for case in cases}
    most, least = max(ratio, key=lambda case: ratio[case]), min(ratio, key=lambda case: ratio[case])
    return (
        "The regret of the invariant update is "
        + " and ".join(
            f"{ratio[case]:.2f} times that of the explicit one ({case[0]}, {case[1]}, weights up to "
            f"{case[2]:,.0f})"
            for case in (least, most)
        )
        + " at the extremes."
        + ("" if ratio[most] <= 1.0 else " The reason was not looked into.")
    )
