"""The plots: labelled, true, and the same when drawn again."""

import base64
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from steelyard.demo import report
from steelyard.demo.experiment import Findings
from steelyard.demo.weights import LARGEST, WEIGHT


@pytest.fixture(scope="module")
def drawn(findings: Findings) -> dict[str, str]:
    return report.draw_plots(findings)


def words(figure: Figure) -> str:
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    texts = [text for legend in legends if legend is not None for text in legend.get_texts()]
    texts += [text for axes in figure.axes for text in axes.texts]
    return "\n".join(text.get_text() for text in texts)


def test_pictures_are_whole_and_small(drawn: dict[str, str]) -> None:
    for address in drawn.values():
        start, _, content = address.partition(",")
        assert start == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(base64.b64decode(content)).tag.endswith("svg")
        assert len(address) < 300_000


def test_drawn_again_they_are_the_same(findings: Findings, drawn: dict[str, str]) -> None:
    assert report.draw_plots(findings) == drawn


@pytest.mark.parametrize("name", ["learning", "words", "scores", "calibration", "one", "weighted"])
def test_the_axes_say_what_they_are(findings: Findings, name: str) -> None:
    figure: Figure = getattr(report, f"plot_{name}")(findings)
    assert figure.axes[-1].get_xlabel()
    assert name == "words" or all(axes.get_ylabel() for axes in figure.axes)


def test_the_curve_ends_at_the_progressive_loss(findings: Findings) -> None:
    curve, *_ = report.plot_learning(findings).axes[0].get_lines()
    assert np.asarray(curve.get_ydata())[-1] == pytest.approx(findings.training["progressive_loss"])
    assert np.asarray(curve.get_xdata())[-1] == len(findings.docstrings.train)


def test_bars_are_weights(findings: Findings) -> None:
    widths = [patch.get_width() for patch in report.plot_words(findings).axes[0].patches]  # type: ignore[attr-defined]
    entries = [*findings.model["top_positive"], *reversed(findings.model["top_negative"])]
    assert widths == pytest.approx([entry["weight"] for entry in entries])


def test_every_docstring_held_out_is_in_the_histogram(findings: Findings) -> None:
    bars = report.plot_scores(findings).axes[0].patches
    assert sum(bar.get_height() for bar in bars) == len(findings.scores)  # type: ignore[attr-defined]


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_copies_are_in_sight_on_either_side(findings: Findings, side: float) -> None:
    heavy = findings.plain_rates
    flip = 1.0 if heavy.label == side else -1.0
    steps = {
        update: replace(
            step,
            curve=[(weight, flip * p) for weight, p in step.curve],
            copies=[(count, flip * p) for count, p in step.copies],
            at_once=flip * step.at_once,
        )
        for update, step in heavy.steps.items()
    }
    turned = replace(heavy, label=side, before=flip * heavy.before, steps=steps)
    figure = report.plot_one(replace(findings, plain_rates=turned))
    low, high = figure.axes[0].get_ylim()
    for step in steps.values():
        assert all(low < p < high for _, p in step.copies)
    assert f"{turned.steps['explicit'].at_once:+.0f}\nat weight {WEIGHT}" in words(figure)


def test_the_weighted_plot_has_four_lines_in_each_panel(findings: Findings) -> None:
    figure = report.plot_weighted(findings)
    for axes in figure.axes:
        lines = axes.get_lines()
        assert [tuple(np.asarray(line.get_xdata())) for line in lines] == [LARGEST] * 4
    assert "explicit, best of seven rates" in words(figure)


def test_dollars_are_no_formula(findings: Findings) -> None:
    entry = {"feature": "docstring^$a$", "weight": 1.0}
    model = findings.model | {"top_positive": [entry], "top_negative": []}
    labels = report.plot_words(replace(findings, model=model)).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == [r"\$a\$"]
