"""Numbers with their nouns, and names that were misspelt."""

import pytest

from steelyard._messages import closest, counted, did_you_mean

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


def test_nothing_is_known() -> None:
    assert did_you_mean("hinge", []) == ""
