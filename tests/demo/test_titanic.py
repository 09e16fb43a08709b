"""The people on board, and the sample of them."""

from collections import Counter

from steelyard.demo import titanic


def test_everybody_is_counted_once() -> None:
    assert sum(map(sum, titanic.COUNTS.values())) == 2201
    found = titanic.draw(1)
    people = Counter(found.train) + Counter(found.test)
    assert people.total() == 2201
    assert sum(count for (*_, fate), count in people.items() if fate == "yes") == 711
    for who, (died, survived) in titanic.COUNTS.items():
        assert (people[(*who, "no")], people[(*who, "yes")]) == (died, survived)


def test_the_sample_stands_for_all() -> None:
    found = titanic.draw(1)
    by_fate = Counter(fate for *_, fate in found.train)
    weights = Counter[str]()
    for (*_, fate), weight in found.sample:
        assert weight == (1 if fate == "yes" else titanic.ONE_IN)
        weights[fate] += weight
    assert weights["yes"] == by_fate["yes"]
    assert 0 <= by_fate["no"] - weights["no"] < titanic.ONE_IN
    assert titanic.draw(1) == found != titanic.draw(2)
