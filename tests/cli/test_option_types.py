"""Lists of values as they are written on the command line."""

import click
import pytest

from steelyard.cli.option_types import NameList, NumberList


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.5", [0.5]),
        ("0.5, 1,1e-3", [0.5, 1.0, 0.001]),
        ("2^-1..2^2", [0.5, 1.0, 2.0, 4.0]),
        ("10^2..10^0", [100.0, 10.0, 1.0]),
        ("2^10", [1024.0]),
        ("0,2^0..2^1", [0.0, 1.0, 2.0]),
        ("1,2^0,1", [1.0]),
        ("1:100:3", [1.0, 10.0, 100.0]),
    ],
)
def test_numbers(text: str, numbers: list[float]) -> None:
    assert NumberList().convert(text, None, None) == pytest.approx(numbers, rel=1e-15)
    assert NumberList().convert(numbers, None, None) == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fast", "'fast' is not a number"),
        ("1,,2", "'' is not a number"),
        ("1..5", "1..5 is not a range of powers of one number"),
        ("2^0..3^5", "is not a range of powers"),
        ("2^0..2^20000", "more than 10,000 values"),
        ("1:2", "1:2 is not FIRST:LAST:COUNT"),
        ("1:2:1", "is not FIRST:LAST:COUNT"),
        ("1:2:x", "is not FIRST:LAST:COUNT"),
        ("0:2:4", "above 0"),
        ("2^99999", "Write numbers as in"),
        ("0^-1", "Write numbers as in"),
    ],
)
def test_what_is_no_list_of_numbers(text: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as error:
        NumberList().convert(text, None, None)
    assert said in error.value.message


def test_names() -> None:
    assert NameList().convert("b, a,b", None, None) == ["b", "a"]
    assert NameList().convert(["a"], None, None) == ["a"]
    assert NameList(["a", "b"]).convert("a", None, None) == ["a"]
    with pytest.raises(click.BadParameter, match="'c' is not one of a, b"):
        NameList(["a", "b"]).convert("a,c", None, None)


def test_spaced_numbers_are_round() -> None:
    assert NumberList().convert("0.01:10:7", None, None)[::2] == [0.01, 0.1, 1.0, 10.0]
