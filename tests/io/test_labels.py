"""Which label is which: given, or inferred from the first of them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import losses
from steelyard.io import inference
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule, classes, is_number, join_spellings, plain, rule, two_classes

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


@pytest.mark.parametrize("text", ["1", "", "1,1", "a,*", "*,*", "a,b,a", "a,b,*"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match=r"give (two|each class once)"):
        rule(text, -1.0, 1.0)


def test_every_name_has_a_value() -> None:
    with pytest.raises(ValueError, match="labels 'a,b': give two or more, and a value for each"):
        LabelRule(("a", "b"), (0.0,))


def test_two_classes_have_a_negative_and_a_positive_one() -> None:
    found = rule("ham, spam", -1.0, 1.0)
    assert found == two_classes("ham", "spam")
    assert (found.negative, found.positive, found.low, found.high) == ("ham", "spam", -1.0, 1.0)
    with pytest.raises(InputError, match=r"there are 3 classes \(a, b, c\), and this is for two"):
        _ = rule("a,b,c", -1.0, 1.0).negative


def test_several_classes_are_0_1_2() -> None:
    found = rule("b, a,10,*x", -1.0, 1.0)
    assert found == classes(["b", "a", "10", "*x"]) == LabelRule(("b", "a", "10", "*x"), (0.0, 1.0, 2.0, 3.0))
    assert [found.value(name) for name in ("b", "10", "10.0", "*")] == [0.0, 2.0, None, None]


names = st.lists(
    st.sampled_from(["0", "1", "-1", "2.5", "1e3", "spam", "ham"]) | st.integers(-300, 300).map(str),
    min_size=2,
    unique=True,
)


@given(names, st.booleans(), st.lists(st.sampled_from([0.0, 1.0, 2.5, math.nan]) | st.integers(-300, 300)))
def test_numbers_become_what_their_twin_says(names: list[str], others: bool, labels: list[float]) -> None:
    found = classes(["*"] * others + names)
    values, unknown = found.numbers(np.array(labels, np.float64))
    for label, value, foreign in zip(labels, values.tolist(), unknown.tolist(), strict=True):
        expected = [k for k, name in enumerate(found.names) if is_number(name) and float(name) == label]
        if math.isnan(label):
            assert (math.isnan(value), foreign) == (True, False)
        elif expected or others:
            assert (value, foreign) == ((expected or [0])[-1], False)
        else:
            assert (math.isnan(value), foreign) == (True, True)


@pytest.mark.parametrize(
    ("found", "stored"),
    [
        (two_classes("*", "1", 0.0, 1.0), {"negative": "*", "positive": "1", "low": 0.0, "high": 1.0}),
        (classes(["a", "b", "c"]), {"names": ["a", "b", "c"], "values": [0.0, 1.0, 2.0]}),
    ],
)
def test_rules_are_stored(found: LabelRule, stored: dict[str, object]) -> None:
    """Two classes under the keys that files have had from the beginning."""
    assert json.loads(json.dumps(found.as_json())) == stored
    assert LabelRule.from_json(stored) == found


def test_unknown_labels_are_described_with_the_classes() -> None:
    assert two_classes("ham", "spam").describe_unknown("eggs") == (
        "the label 'eggs' is neither ham nor spam; labels='a,b,c' names all classes"
    )
    assert "is none of the 3 classes a, b, c; labels=" in classes("abc").describe_unknown("x")
    many = classes([str(k) for k in range(100)]).describe_unknown("x")
    assert "none of the 100 classes 0, 1, 2, 3, 4, 5, 6, 7, …; labels=" in many


@given(st.floats(allow_nan=False))
def test_plain_numbers_lose_nothing(x: float) -> None:
    assert float(plain(x)) == x


def test_plain_numbers_look_plain() -> None:
    assert [plain(x) for x in (1.0, -1.0, 0.5, 20230101.0, 1e300)] == ["1", "-1", "0.5", "20230101", "1e+300"]
    assert [is_number(name) for name in ("1", "-2.5", "spam", "nan", "")] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("labels", "loss"),
    [
        (["0", "1"], inference.TWO_CLASSES),
        (["1"], inference.TWO_CLASSES),
        (["-1", "+1", "1.0"], inference.TWO_CLASSES),
        (["ham", "spam"], inference.TWO_CLASSES),
        (["a", "b", "c"], inference.TWO_CLASSES),
        (["3", "7"], inference.TWO_CLASSES),
        (["0", "1", "2"], inference.ANY_NUMBER),
        (["0.5"], inference.ANY_NUMBER),
        (["1234567", "1234568", "1234569"], inference.ANY_NUMBER),
        ([], inference.TWO_CLASSES),
    ],
)
def test_the_loss(labels: list[str], loss: str) -> None:
    assert inference.loss_for(labels) == loss


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
    assert inference.rule_for(labels, LOGISTIC, "f") == two_classes(*pair, -1.0, 1.0)


def test_no_rule_where_none_is_needed() -> None:
    assert inference.rule_for(["-1", "1"], LOGISTIC, "f") is None
    assert inference.rule_for(["1"], LOGISTIC, "f") is None
    assert inference.rule_for(["a", "b"], SQUARED, "f") is None
    assert inference.rule_for(["0", "0.25", "1"], LOGARITHMIC, "f") is None
    assert inference.rule_for(["-1", "1"], LOGARITHMIC, "f") == two_classes("-1", "1", 0.0, 1.0)
    assert inference.rule_for([], LOGISTIC, "f") is None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["c", "a", "b"], ["a", "b", "c"]),
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["1.0", "1", "2.0", "3"], ["1", "2.0", "3"]),
        (["-1", "0", "1"], ["-1", "0", "1"]),
    ],
)
def test_several_classes(labels: list[str], expected: list[str]) -> None:
    assert inference.rule_for(labels, LOGISTIC, "f") == classes(expected)


def test_a_thousand_classes_and_no_more() -> None:
    labels = [f"l{k}" for k in range(1001)]
    found = inference.rule_for(labels[:1000], LOGISTIC, "f")
    assert found is not None
    assert len(found.names) == 1000
    with pytest.raises(InputError, match=r"^f: .* more than 1,000 different labels \(l0, .*`label` names it"):
        inference.rule_for(labels, LOGISTIC, "f")


def test_numbers_with_a_decimal_comma_are_no_classes() -> None:
    with pytest.raises(InputError, match="the label '1,5' is not a number: numbers have a decimal point"):
        inference.rule_for(["1,5", "2,5", "3,5"], LOGISTIC, "f")


def test_one_class_only_so_far() -> None:
    """Rows sorted by label begin with one of them, and there may be many."""
    with pytest.raises(InputError) as caught:
        inference.rule_for(["alt.atheism"], LOGISTIC, "f")
    for said in ("same label (alt.atheism)", "shuffle=True", "labels='a,b,c' names them all"):
        assert said in str(caught.value)


def test_long_and_unprintable_labels_are_shown_in_brief() -> None:
    with pytest.raises(InputError) as caught:
        inference.rule_for(["\0" * 5000, *(f"{k}" + "x" * 5000 for k in range(1000))], LOGISTIC, "f")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_spellings_that_differ_in_case_or_blanks_are_joined() -> None:
    assert join_spellings(["Yes", "yes", "No", "n o"]) == {"yes": "Yes"}
    assert join_spellings(["New York", "new  york", "Rome"]) == {"new  york": "New York"}
    assert join_spellings(["Y", "y", "N", "n"]) == {"y": "Y", "n": "N"}
    assert join_spellings(["A", "a", "B", "C"]) == {}  # letters may be what is to be told apart
    assert join_spellings(["YES", "y", "NO", "no ", "n"]) == {"y": "YES", "no ": "NO", "n": "NO"}
    assert join_spellings(["yes", "y", "no", "unknown"]) == {}
    assert join_spellings(["No", "no", "yes", "Yes"], ["no", "yes"]) == {"No": "no", "Yes": "yes"}
    two = LabelRule(("No", "Yes"), (-1.0, 1.0), (("yes", "Yes"),))
    assert (two.value("yes"), two.value("Yes"), two.value("no")) == (1.0, 1.0, None)
    assert two.spelt == ["No", "Yes", "yes"]
    assert LabelRule.from_json(json.loads(json.dumps(two.as_json()))) == two
    several = LabelRule(("a1", "b1", "c1"), (0.0, 1.0, 2.0), (("A1", "a1"),))
    assert LabelRule.from_json(json.loads(json.dumps(several.as_json()))) == several


@pytest.mark.parametrize("pair", [("no", "Yes"), ("false", "TRUE"), ("ham", "Spam"), ("a", "B"), ("A", "b")])
def test_the_alphabet_knows_no_case(pair: tuple[str, str]) -> None:
    """By the codes of letters all capitals would come first, and the probabilities would be those of no."""
    found = inference.rule_for(pair[::-1], LOGISTIC, "f")
    assert found is not None
    assert (found.negative, found.positive) == pair
    assert found.ordered == (pair[0] in ("no", "false"))
