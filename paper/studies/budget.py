"""What a budget of labels does without hindsight."""

from collections.abc import Sequence

import numpy as np

from paper import verdicts
from paper.drawing import COLOURS, INK, figure
from paper.studies import budget_steps
from paper.studies.budget_steps import SHARES, TABLE
from paper.study import Claim, Part, ReportFigure, Row, Scope, Step, Study, Tables

Curve = list[tuple[float, float]]
_WAYS = {"budget": ("o-", INK, "chosen within a budget"), "random": ("o--", COLOURS["passive"], "random")}


class Budget(Study):
    """`ActiveClassifier` as it comes."""

    name = TABLE
    title = "Active learning with a budget, without hindsight"

    def steps(self, scope: Scope) -> list[Step]:
        return budget_steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        curves = _curves(tables[TABLE])
        return Part(
            [
                "Nobody knows beforehand which of 1,980 settings will be on the hull of "
                "[Figure 1](#active), or how many labels a C₀ will ask for. Here a user only knows how many "
                "labels can be paid for: 1 to 20 % of the rows, chosen by `ActiveClassifier(budget=…)` with "
                "its defaults, or as many random ones for the same learner.",
                _figure(curves),
            ],
            [_beside_random(curves)],
        )


def _curves(rows: Sequence[Row]) -> dict[str, dict[str, Curve]]:
    """Fraction and error of each budget, averaged over shuffles, by data set and way."""
    found: dict[str, dict[str, Curve]] = {}
    for name in dict.fromkeys(str(row["data"]) for row in rows):
        for way in _WAYS:
            here = [row for row in rows if row["data"] == name and row["way"] == way]
            found.setdefault(name, {})[way] = [
                (
                    float(np.mean([float(row["fraction"]) for row in here if row["budget"] == budget])),
                    float(np.mean([float(row["error"]) for row in here if row["budget"] == budget])),
                )
                for budget in dict.fromkeys(row["budget"] for row in here)
            ]
    return found


def _figure(curves: dict[str, dict[str, Curve]]) -> ReportFigure:
    drawing = figure(9.6, 2.7)
    panels = drawing.subplots(1, len(curves), squeeze=False)[0]
    for panel, (name, ways) in zip(panels, curves.items(), strict=True):
        for way, points in ways.items():
            style, colour, label = _WAYS[way]
            x, y = np.array(points).T
            panel.plot(100.0 * x, 100.0 * y, style, color=colour, label=label, markersize=4.0)
        panel.set(xscale="log", ylim=(0.0, None), xticks=[1, 5, 20], xticklabels=["1", "5", "20"])
        panel.set_title(name, loc="left", fontsize=10.0, fontweight="bold")
    panels[0].set_ylabel("test error, %")
    drawing.supxlabel("labels, % of the rows", fontsize=10.0)
    drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    caption = "Test error with a budget of labels, chosen or random. No setting was chosen by the test error."
    return ReportFigure("budget-errors", drawing, caption, TABLE)


def _beside_random(curves: dict[str, dict[str, Curve]]) -> Claim:
    pairs = {name: list(zip(ways["budget"], ways["random"], strict=True)) for name, ways in curves.items()}
    better = sum(asked[1] < random[1] for each in pairs.values() for asked, random in each)
    fewer = "; ".join(
        f"{name} {np.mean([asked[1] / random[1] for asked, random in each]) - 1.0:+.0%}"
        for name, each in pairs.items()
    )
    total = len(pairs) * len(SHARES)
    return Claim(
        "Figure 1",
        "Are labels asked for within a budget better than as many random ones, for the same learner?",
        "–",
        f"better at {better} of {total} points; errors, the mean over budgets: {fewer}",
        verdicts.judge_cases(better, total),
        "The defaults were once chosen with an eye on these sets.",
        TABLE,
    )
