"""The second-order update: the implicit one with a linear approximation of the slope."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from paper import data, single_steps, sweeping, verdicts
from paper.drawing import COLOURS, GREY, figure
from paper.grids import NEAR, VERY_NEAR, Cells, Key, format_spread, group_by_update, make_grids
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables
from steelyard import OnlineClassifier, losses, updates

GRID, STEPS = "second_order", "second_order_steps"
SMOOTH = ("squared", "logistic")
UPDATES = ("explicit", "implicit", "second_order", "invariant")
SHOWN_PUSH = (0.01, 1000.0)
SHOWN_MARGINS = (-4.0, 0.0, 2.0)


class SecondOrder(Study):
    """The update of Dekel et al., which the paper mentions beside implicit updates."""

    name = GRID
    title = "The second-order update"

    def steps(self, scope: Scope) -> list[Step]:
        most, count = scope.choose(None, 20_000), scope.choose(20_000, 2_000)
        return [
            _sweep(place, loss, shuffle, most)
            for place in data.PLACES
            for loss in SMOOTH
            for shuffle in range(scope.choose(3, 1))
        ] + [_single_steps(count)]

    def part(self, tables: Tables, scope: Scope) -> Part:
        found = group_by_update(make_grids(tables[GRID]))
        steps = tables[STEPS]
        return Part(
            [
                "The second-order update of Dekel et al. takes the implicit step with a linear approximation "
                "of the slope: −u·ℓ′/(1 + u·ℓ″). For piecewise linear losses it equals the explicit update, "
                "so it is tried with squared and logistic loss, with the schedules of "
                "passive learning.",
                _table(found),
                "Where the curvature at the start says little about the rest of the step, as on the nearly "
                "straight side of logistic loss, it goes nearly as far as the explicit update:",
                single_steps.make_table(steps, STEPS),
                _figure(),
            ],
            [_same_as_implicit(found), _robust(found), _safe(steps)],
        )


def _sweep(place: str, loss: str, shuffle: int, most: int | None) -> Step:
    def compute() -> list[Row]:
        classifier = OnlineClassifier(loss, scaling="row_norm", fit_intercept=False, passes=1, shuffle=False)
        return sweeping.run_sweep(
            place, shuffle, classifier, {"update": UPDATES, **sweeping.SCHEDULES}, most=most
        )

    key = f"{data.name(place)} {loss} {shuffle}"
    return Step(GRID, key, sweeping.collect_inputs(place, rows=most, shuffle=shuffle), compute)


def _single_steps(count: int) -> Step:
    def compute() -> list[Row]:
        smooth = [name for name in losses.names() if losses.by_name(name).smooth]
        return [single_steps.measure_steps(name, update, count, 0) for name in smooth for update in UPDATES]

    source = data.file_digest(Path(str(single_steps.__file__)))
    return Step(STEPS, "single steps", {"count": count, "seed": 0, "pushes": source}, compute)


def _table(found: Cells) -> ReportTable:
    return ReportTable(
        ["data", "loss", *UPDATES, *(f"{update}, % near" for update in UPDATES)],
        [
            [
                *key,
                *(format_spread(each[update].best()) for update in UPDATES),
                *(format_spread(each[update].share(NEAR), 1, 100.0) for update in UPDATES),
            ]
            for key, each in found.items()
        ],
        f"Test accuracy of the best of all schedules, and the per cent of schedules within {NEAR} of it.",
        GRID,
    )


def _figure() -> ReportFigure:
    drawing = figure(8.6, 3.4)
    loss = losses.by_name("logistic")
    through = np.geomspace(*SHOWN_PUSH, 200)
    axes = drawing.subplots(1, len(SHOWN_MARGINS), sharey=True)
    for axis, margin in zip(axes, SHOWN_MARGINS, strict=True):
        axis.axhline(0.0, color=GREY, linewidth=0.8)
        for update in UPDATES:
            change = [updates.by_name(update).change(loss, margin, 1.0, float(u)) for u in through]
            axis.plot(through, change, color=COLOURS[update], label=update.replace("_", " "), linewidth=1.7)
        axis.set(xscale="log", ylim=(-1.0, 40.0), title=f"from p = {margin:g}", xlabel="push u")
    axes[0].set_ylabel("change of the prediction")
    axes[0].legend(loc="upper left")
    return ReportFigure(
        "second_order-logistic",
        drawing,
        "Logistic loss, label 1: how far one step moves the prediction. From the steep side (left) the "
        "second-order update goes with the explicit one; from there on it stops earlier than the others.",
        STEPS,
    )


def _same_as_implicit(found: Cells) -> Claim:
    apart = max(
        float(np.abs(each["second_order"].accuracy - each["implicit"].accuracy).max())
        for (_, loss), each in found.items()
        if loss == "squared"
    )
    return Claim(
        where="On second-order updates",
        says="For squared loss, whose slope is a straight line, the second-order update is the implicit one.",
        paper="–",
        ours=f"largest difference of any accuracy: {apart:g}",
        verdict=verdicts.judge_cases(int(apart <= VERY_NEAR), 1),
        why="The two formulas are equal.",
        source=GRID,
    )


def _robust(found: Cells) -> Claim:
    shares = {
        key: {update: float(grid.share(NEAR).mean()) for update, grid in each.items()}
        for key, each in found.items()
    }
    more = sum(each["second_order"] > each["explicit"] for each in shares.values())
    mean = {update: np.mean([each[update] for each in shares.values()]) for update in UPDATES}
    return Claim(
        where="On second-order updates",
        says=f"Second-order updates too make the learning rate matter less: more schedules within {NEAR} of "
        "the best than with explicit ones.",
        paper="–",
        ours=f"in {more} of {len(shares)} pairs of data and loss; on average "
        + ", ".join(f"{update.replace('_', ' ')} {share:.1%}" for update, share in mean.items()),
        verdict=verdicts.judge_cases(more, len(shares)),
        why="With squared loss it is the implicit update. Logistic loss alone: " + _logistic(shares) + ".",
        source=GRID,
    )


def _logistic(shares: Mapping[Key, Mapping[str, float]]) -> str:
    here = [each for (_, loss), each in shares.items() if loss == "logistic"]
    return ", ".join(
        f"{update.replace('_', ' ')} {np.mean([each[update] for each in here]):.1%}" for update in UPDATES
    )


def _safe(steps: list[Row]) -> Claim:
    own = [row for row in steps if row["update"] == "second_order"]
    over = [row for row in own if int(row["overshoots"]) > 0]
    farthest = max(own, key=lambda row: float(row["times_the_flow"]))
    return Claim(
        where="On second-order updates",
        says="A second-order step does not overshoot.",
        paper="–",
        ours=f"it goes past the minimiser with {len(over)} of {len(own)} smooth losses; at most "
        f"{single_steps.format_times(float(farthest['times_the_flow']))} times as far as the "
        f"flow ({farthest['loss']})",
        verdict=verdicts.judge_cases(len(own) - len(over), len(own)),
        why="It overshoots with "
        + ", ".join(f"{row['loss']}" for row in over)
        + ": the curvature at the start "
        "is less than that on the way."
        if over
        else "No step went past a minimiser.",
        source=STEPS,
    )
