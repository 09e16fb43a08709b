"""The page of `steelyard report`: its charts, and the template filled."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

import steelyard
from steelyard import _atomic_files
from steelyard.report import BEGINNING, thresholds
from steelyard.report.charts import Chart, feature_bars
from steelyard.report.evidence import Evidence

_DIAGONAL = [(0.0, 0.0), (1.0, 1.0)]
_MOST_DOTS = 1500


@dataclass(frozen=True)
class Content:
    """All that the page says, as the JSON of `evaluate`, `inspect` and `explain` has it."""

    model: str
    files: list[str]
    label: str | None
    """The column that is predicted, if there are columns."""
    classes: list[str] | None
    quality: dict[str, Any]
    inspected: dict[str, Any]
    deciding: list[tuple[str, list[tuple[str, float]]]]
    """Of each class, or in all: the features that move predictions most, and by how much."""
    training: dict[str, Any] | None
    evidence: Evidence
    probable: bool
    """Whether scores are probabilities."""
    threshold: float
    """The probability of the positive class beyond which the model answers it."""
    positive: int = 1
    """Which of two classes curves and thresholds are of."""


def write(path: Path, content: Content) -> None:
    """Write the page, whole or not at all."""
    with _atomic_files.replacing(path) as temporary:
        temporary.write_text(render(content), encoding="utf-8")


def render(content: Content) -> str:
    """Fill the template; every value is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only needed here

    environment = Environment(
        loader=PackageLoader("steelyard.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    columns = content.inspected["columns"] or []
    texts = [column["name"] for column in columns if column["role"] == "text"]

    def name(feature: str) -> str:
        """A word is called by itself if there is one column of texts."""
        return feature.removeprefix(f"{texts[0]}^") if len(texts) == 1 else feature

    def bars(features: list[tuple[str, float]]) -> Markup:
        return feature_bars([(name(feature), size) for feature, size in features])

    two = content.probable and len(content.classes or ()) == 2
    first = content.positive == 0
    to_try = thresholds.choose(content.evidence, content.threshold, inclusive=first) if two else None
    environment.filters |= {"fmt": _format, "feature": name}
    environment.filters["shade"] = lambda weight, total: f"{100.0 * weight / total if total else 0.0:.0f}%"
    return BEGINNING.decode() + environment.get_template("page.html.j2").render(
        content=content, quality=content.quality, evidence=content.evidence, charts=_charts(content),
        thresholds=to_try, weighted=content.evidence.weighted(), feature_bars=bars,
        version=steelyard.__version__,
    )  # fmt: skip


def _format(value: Any, how: str = ",.4g") -> str:
    return "unknown" if value is None else format(value, how)


def _charts(content: Content) -> dict[str, Markup]:
    found = {}
    evidence = content.evidence
    if content.training is not None and len(content.training["curve"]) > 1:
        found["learning"] = _learning(content.training["curve"], content.quality["best_constant_loss"])
        if content.training["curve"][-1][2] is not None:
            found["errors"] = _errors(content.training["curve"])
    if content.quality.get("calibration"):
        found["calibration"] = _calibration(content.quality["calibration"])
    if content.classes is None:
        found |= {"actual": _actual(evidence), "residuals": _residuals(evidence)}
    elif len(content.classes) == 2 and evidence.has_both:
        roc, precision = evidence.curves()
        found["roc"] = _square(roc, ("false alarms", "found"), "ROC curve", _DIAGONAL)
        share = float(evidence.weights @ evidence.actual / evidence.weights.sum())
        found["precision"] = _square(
            precision, ("found (recall)", "right (precision)"), "Precision over recall",
            [(0.0, share), (1.0, share)],
        )  # fmt: skip
    return found


def _square(
    points: list[tuple[float, float]], labels: tuple[str, str], alt: str, beside: list[tuple[float, float]]
) -> Markup:
    chart = Chart((0.0, 1.0), (0.0, 1.0), labels=labels, alt=alt, percent=(True, True))
    chart.line(beside, "chance")
    chart.line(points, "first")
    return chart.draw()


def _calibration(rows: list[dict[str, float]]) -> Markup:
    chart = Chart(
        (0.0, 1.0), (0.0, 1.0), labels=("predicted probability", "observed share"), percent=(True, True),
        alt="Observed share against predicted probability",
    )  # fmt: skip
    chart.line(_DIAGONAL, "chance")
    most = max(row["weight"] for row in rows)
    points = [(row["predicted"], row["observed"]) for row in rows]
    chart.line(points, "thin")
    chart.dots(points, "first", [3.0 + 7.0 * (row["weight"] / most) ** 0.5 for row in rows])
    return chart.draw()


def _learning(curve: list[list[Any]], constant: float | None) -> Markup:
    points = [(float(rows), loss) for rows, loss, _ in curve if loss is not None]
    top = max([loss for _, loss in points[len(points) // 4 :]] + [constant or 0.0]) * 1.1
    points = [(rows, min(loss, top)) for rows, loss in points]
    chart = Chart(
        (1.0, points[-1][0]), (0.0, top), labels=("rows learned", "average loss"), log=True,
        alt=f"Average loss so far against rows learned; it ends at {points[-1][1]:.3g}",
    )  # fmt: skip
    if constant is not None:
        chart.line([(1.0, constant), (points[-1][0], constant)], "chance")
    chart.line(points, "first")
    chart.dots(points, "first")
    return chart.draw()


def _errors(curve: list[list[Any]]) -> Markup:
    points = [(float(rows), error) for rows, _, error in curve if error is not None]
    chart = Chart(
        (1.0, points[-1][0]), (0.0, max(error for _, error in points) or 1.0), log=True,
        labels=("rows learned", "error rate"), percent=(False, True),
        alt=f"Error rate so far against rows learned; it ends at {points[-1][1]:.2%}",
    )  # fmt: skip
    chart.line(points, "second")
    chart.dots(points, "second")
    return chart.draw()


def _actual(evidence: Evidence) -> Markup:
    """Predicted against actual; of many rows an even sample."""
    chosen = np.unique(np.linspace(0, len(evidence.scores) - 1, _MOST_DOTS).astype(np.int64))
    both = np.concatenate([evidence.scores, evidence.actual])
    low, high = (float(value) for value in np.quantile(both, (0.001, 0.999)))
    chart = Chart((low, high), (low, high), labels=("actual", "predicted"), alt="Predicted against actual")
    chart.line([(low, low), (high, high)], "chance")
    pairs = np.clip(np.column_stack((evidence.actual, evidence.scores))[chosen], low, high)
    chart.dots([(x, y) for x, y in pairs.tolist()], "first faint")
    return chart.draw()


def _residuals(evidence: Evidence) -> Markup:
    residuals = evidence.scores - evidence.actual
    reach = float(np.quantile(np.abs(residuals), 0.99)) or 1.0
    edges = np.linspace(-reach, reach, 32)
    heights, _ = np.histogram(np.clip(residuals, -reach, reach), edges, weights=evidence.weights)
    chart = Chart(
        (-reach, reach), (0.0, float(heights.max())), labels=("predicted − actual", "weight of rows"),
        alt="Histogram of residuals",
    )  # fmt: skip
    chart.bars(edges.tolist(), heights.tolist(), "first")
    return chart.draw()
