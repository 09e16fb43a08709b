"""The data of the demo: the 2,201 people on board the Titanic, counted by ticket, sex, age and fate.

The counts are those of the British Board of Trade's inquiry of 1912, as tabulated by R. J. M. Dawson, The
"Unusual Episode" Data Revisited, Journal of Statistics Education 3 (1995).
"""

import random
from dataclasses import dataclass

COLUMNS = ("ticket", "sex", "age", "survived")
Person = tuple[str, str, str, str]

# (ticket, sex, age): those who died, those who survived
COUNTS = {
    ("first", "male", "adult"): (118, 57), ("first", "female", "adult"): (4, 140),
    ("second", "male", "adult"): (154, 14), ("second", "female", "adult"): (13, 80),
    ("third", "male", "adult"): (387, 75), ("third", "female", "adult"): (89, 76),
    ("crew", "male", "adult"): (670, 192), ("crew", "female", "adult"): (3, 20),
    ("first", "male", "child"): (0, 5), ("first", "female", "child"): (0, 1),
    ("second", "male", "child"): (0, 11), ("second", "female", "child"): (0, 13),
    ("third", "male", "child"): (35, 13), ("third", "female", "child"): (17, 14),
}  # fmt: skip
ONE_IN = 10
"""One of so many who died is kept; it weighs as much as all of them."""
_TEST = 4  # every fourth person


@dataclass(frozen=True)
class Passengers:
    """People to learn from and people to test with; and a sample of the former, each with a weight."""

    train: list[Person]
    test: list[Person]
    sample: list[tuple[Person, int]]


def draw(seed: int) -> Passengers:
    """Everybody in a random order; the sample has all survivors, and a tenth of the others with weight 10."""
    people = []
    for who, (died, survived) in COUNTS.items():
        people += [(*who, "no")] * died + [(*who, "yes")] * survived
    random.Random(seed).shuffle(people)
    test, train = people[::_TEST], [person for k, person in enumerate(people) if k % _TEST]
    lost = 0
    sample = []
    for person in train:
        if person[3] == "yes":
            sample.append((person, 1))
        else:
            lost += 1
            sample += [(person, ONE_IN)] if lost % ONE_IN == 0 else []
    return Passengers(train, test, sample)
