"""How well people agree: Cohen's κ of two, and Krippendorff's α of any number of people with gaps.

Both are 1 where all agree, and 0 where they agree no more than random labels of the same frequencies would.

>>> cohen_kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
0.5
>>> round(krippendorff_alpha([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b", "b"], ["a"]]), 3)
0.556
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from steelyard.active.identifiers import Item
from steelyard.active.label_store import IN_FILE, LabelsByPerson


def cohen_kappa(pairs: Sequence[tuple[Any, Any]]) -> float:
    """κ of two people who labelled the same units; NaN without any, 1 if both give all the same label."""
    if not pairs:
        return float("nan")
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return 1.0 if expected == 1.0 else (agreed - expected) / (1.0 - expected)


def krippendorff_alpha(units: Iterable[Sequence[Any]]) -> float:
    """α of nominal labels; each unit is the labels that it got. NaN if no unit got two."""
    several = [unit for unit in units if len(unit) > 1]
    totals = Counter(label for unit in several for label in unit)
    n = sum(totals.values())
    if not n:
        return float("nan")
    differing = sum(sum(a != b for a, b in combinations(unit, 2)) * 2.0 / (len(unit) - 1) for unit in several)
    expected = (n * n - sum(count * count for count in totals.values())) / (n - 1)
    return 1.0 if expected == 0.0 else 1.0 - differing / expected


def summarise(labels: Mapping[Item, LabelsByPerson]) -> dict[str, Any]:
    """The agreement about items that several people labelled: α of all of them, κ of each pair of people."""
    units = []
    for by_person in labels.values():
        given = {name: label for name, label in by_person.items() if label is not None and name != IN_FILE}
        if len(given) > 1:
            units.append(given)
    pairs = []
    people = sorted({name for unit in units for name in unit})
    for one, other in combinations(people, 2):
        both = [(unit[one], unit[other]) for unit in units if one in unit and other in unit]
        if both:
            agreed = sum(a == b for a, b in both)
            pairs.append(
                {"people": [one, other], "items": len(both), "agreed": agreed, "kappa": cohen_kappa(both)}
            )
    alpha = krippendorff_alpha([list(unit.values()) for unit in units]) if units else None
    return {"items": len(units), "alpha": alpha, "pairs": pairs}
