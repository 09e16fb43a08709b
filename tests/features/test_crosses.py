"""How interactions are read."""

import pytest

from steelyard.features import MOST_FIELDS, Interactions, interactions


def test_fields_are_numbered_as_they_come() -> None:
    found = interactions(["item*user", "user * user", "hour*item*hour"])
    assert found.fields == ("item", "user", "hour")
    assert found.crosses == ((0, 1), (1, 1), (0, 2, 2))
    assert found.array().tolist() == [[0, 1, -1], [1, 1, -1], [0, 2, 2]]


def test_the_same_cross_counts_once() -> None:
    assert interactions(["a*b", "b*a", "a*b"]).crosses == ((0, 1),)


def test_none() -> None:
    assert interactions([]) == Interactions()
    assert Interactions().array().shape == (0, 1)


@pytest.mark.parametrize("text", ["a", "", "a*", "*b", "a**b", " * ", "*".join("abcdefghi")])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=rf"not of the form name\*name, with 2 to {MOST_FIELDS} names"):
        interactions(["x*y", text])


def test_as_many_fields_as_allowed() -> None:
    assert len(interactions(["*".join("abcdefgh")]).crosses[0]) == MOST_FIELDS
