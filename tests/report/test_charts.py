"""Ticks are round numbers, marks lie where they should, and no text becomes markup."""

import re

import pytest

from steelyard.report.charts import Chart, feature_bars, log_ticks, ticks

HOSTILE = '"><script>alert(1)</script>'


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-3.2, 17.0), (1e-7, 3e-7), (0.0, 12345.0), (5.0, 5.5)]
)
def test_ticks(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 3 <= len(found) <= 8
    assert all(low - 1e-9 <= tick <= high * (1 + 1e-9) for tick in found)


def test_log_ticks() -> None:
    assert log_ticks(1.0, 100_000.0) == [1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0]
    assert log_ticks(1.0, 40.0) == [1.0, 2.0, 5.0, 10.0, 20.0]


def test_a_chart() -> None:
    chart = Chart((0.0, 1.0), (0.0, 2.0), labels=(HOSTILE, "y"), alt=HOSTILE, percent=(True, False))
    chart.line([(0.0, 0.0), (1.0, 2.0)], "first")
    chart.dots([(0.5, 1.0)], "second", [4.0])
    chart.dots([(0.5, 1.0)], "second")
    chart.bars([0.0, 0.5, 1.0], [1.0, 2.0], "first")
    drawn = chart.draw()
    assert "<script" not in drawn
    assert '<polyline class="line first" points="58.0,260.0 400.0,10.0"/>' in drawn
    assert [float(r) for r in re.findall(r' r="([\d.]+)"', drawn)] == [4.0, 2.2]
    assert drawn.count('class="bar first"') == 2
    assert ">100%<" in drawn


def test_an_empty_range_and_a_logarithm() -> None:
    Chart((3.0, 3.0), (0.0, 0.0), labels=("x", "y"), alt="").draw()
    chart = Chart((1.0, 100.0), (0.0, 1.0), labels=("x", "y"), alt="", log=True)
    chart.line([(1.0, 0.0), (10.0, 0.0), (100.0, 1.0)], "first")
    assert "58.0,260.0 229.0,260.0 400.0,10.0" in chart.draw()


def test_bars_of_features() -> None:
    drawn = feature_bars([(HOSTILE, 2.0), ("b", -1.0)])
    assert "<script" not in drawn
    assert 'class="bar first" x="0.0" y="1" width="50.0"' in drawn
    assert 'class="bar second" x="-25.0" y="1" width="25.0"' in drawn
    assert "<tr>" not in feature_bars([])
