"""Which label is which: said, or guessed from the first of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import losses
from steelyard.io import label_inference
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule, is_number, plain, rule

LOGISTIC, SQUARED, LOGARITHMIC = map(losses.by_name, ("logistic", "squared", "logarithmic"))


def test_numbers_become_the_labels_of_the_loss() -> None:
    labels, foreign = rule("0,1", -1.0, 1.0).numbers(np.array([0.0, 1.0, math.nan, 2.0, -0.0]))
    np.testing.assert_array_equal(labels, [-1.0, 1.0, math.nan, math.nan, -1.0])
    assert foreign.tolist() == [False, False, False, True, False]


def test_anything_else_is_negative() -> None:
    labels, foreign = rule(" * , 3", 0.0, 1.0).numbers(np.array([3.0, 1.0, math.nan, -7.0]))
    np.testing.assert_array_equal(labels, [1.0, 0.0, math.nan, 0.0])
    assert not foreign.any()


def test_a_number_is_not_a_name() -> None:
    _, foreign = rule("ham,1", -1.0, 1.0).numbers(np.array([1.0, 0.0, math.nan]))
    assert foreign.tolist() == [False, True, False]


@pytest.mark.parametrize("text", ["1", "a,b,c", "", "1,1", "a,*", "*,*"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match=r"give (two|the negative)"):
        rule(text, -1.0, 1.0)


@given(st.floats(allow_nan=False))
def test_plain_numbers_lose_nothing(x: float) -> None:
    assert float(plain(x)) == x


def test_plain_numbers_look_plain() -> None:
    assert [plain(x) for x in (1.0, -1.0, 0.5, 20230101.0, 1e300)] == ["1", "-1", "0.5", "20230101", "1e+300"]
    assert [is_number(name) for name in ("1", "-2.5", "spam", "nan", "")] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("labels", "loss"),
    [
        (["0", "1"], label_inference.TWO_CLASSES),
        (["1"], label_inference.TWO_CLASSES),
        (["-1", "+1", "1.0"], label_inference.TWO_CLASSES),
        (["ham", "spam"], label_inference.TWO_CLASSES),
        (["a", "b", "c"], label_inference.TWO_CLASSES),
        (["3", "7"], label_inference.TWO_CLASSES),
        (["0", "1", "2"], label_inference.ANY_NUMBER),
        (["0.5"], label_inference.ANY_NUMBER),
        (["1234567", "1234568", "1234569"], label_inference.ANY_NUMBER),
        ([], label_inference.TWO_CLASSES),
    ],
)
def test_the_loss(labels: list[str], loss: str) -> None:
    assert label_inference.loss_for(labels) == loss


@pytest.mark.parametrize(
    ("labels", "pair"),
    [
        (["0", "1"], ("0", "1")),
        (["0"], ("0", "1")),
        (["2"], ("1", "2")),
        (["spam", "ham"], ("ham", "spam")),
        (["10", "9"], ("9", "10")),
        (["1234568", "1234567"], ("1234567", "1234568")),
        (["1.0", "0.0"], ("0.0", "1.0")),
        (["+1", "-1.5"], ("-1.5", "+1")),
        (["2.0"], ("1", "2.0")),
    ],
)
def test_the_rule(labels: list[str], pair: tuple[str, str]) -> None:
    assert label_inference.rule_for(labels, LOGISTIC, "f") == LabelRule(*pair, -1.0, 1.0)


def test_no_rule_where_none_is_needed() -> None:
    assert label_inference.rule_for(["-1", "1"], LOGISTIC, "f") is None
    assert label_inference.rule_for(["1"], LOGISTIC, "f") is None
    assert label_inference.rule_for(["a", "b"], SQUARED, "f") is None
    assert label_inference.rule_for(["0", "0.25", "1"], LOGARITHMIC, "f") is None
    assert label_inference.rule_for(["-1", "1"], LOGARITHMIC, "f") == LabelRule("-1", "1", 0.0, 1.0)
    assert label_inference.rule_for([], LOGISTIC, "f") is None


def test_too_many_classes() -> None:
    with pytest.raises(
        InputError, match=r"^f: logistic loss is for two classes, .* 3 labels .*\(a, b, c.*--labels"
    ):
        label_inference.rule_for(["a", "b", "c"], LOGISTIC, "f")


def test_one_class_only_so_far() -> None:
    """Rows sorted by label begin with one of them, and there may be many."""
    with pytest.raises(InputError) as caught:
        label_inference.rule_for(["alt.atheism"], LOGISTIC, "f")
    for said in (
        "same label (alt.atheism)",
        "shuffle",
        "two classes or more",
        "'*,NAME'",
        "OnlineClassifier",
    ):
        assert said in str(caught.value)


def test_long_and_unprintable_labels_are_shown_in_brief() -> None:
    with pytest.raises(InputError) as caught:
        label_inference.rule_for(["\0" * 5000, "x" * 5000, "é"], LOGISTIC, "f")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
