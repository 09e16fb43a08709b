"""Parts of the page that no ordinary file shows."""

from steelyard.report import page


def test_a_learning_curve_without_a_constant() -> None:
    drawn = page._learning([[1, 0.5, None], [2, None, None], [4, 0.25, None]], None)
    assert "chance" not in drawn
    assert drawn.count("<circle") == 2
