"""Numbers with their nouns, and names that were misspelt."""

import pytest

from steelyard._messages import closest, counted, did_you_mean, listed

NAMES = ["hinge", "logistic", "modified_huber", "Price"]


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (4321, "4,321 rows")]
)
def test_counted(number: int, said: str) -> None:
    assert counted(number, "row") == said


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("hing", "hinge"),
        ("LOGISTIC", "logistic"),
        ("huber", "modified_huber"),
        ("price", "Price"),
        ("absolute", None),
        ("e", None),
        ("", None),
    ],
)
def test_closest(given: str, meant: str | None) -> None:
    assert closest(given, NAMES) == meant
    assert did_you_mean(given, iter(NAMES)) == (f"; did you mean {meant!r}?" if meant else "")


def test_long_names_are_cut_short() -> None:
    long = "text " * 100
    assert did_you_mean("text", [long]) == f"; did you mean {long[:59] + '…'!r}?"
    assert listed(["y", long, "x" * 60]) == f"y, {long[:59]}…, {'x' * 60}"
    assert listed(map(str, range(50))).endswith("48, 49")
    assert listed(map(str, range(51))).endswith("48, 49, …")


def test_nothing_is_known() -> None:
    assert did_you_mean("hinge", []) == ""
