"""Do people agree? Cohen's κ of two, and Krippendorff's α of any number with gaps.

Both are 1 where all agree and 0 where they agree no more than labels at random with the same frequencies.

>>> cohen_kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
0.5
>>> round(krippendorff_alpha([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b", "b"], ["a"]]), 3)
0.556
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from steelyard.active.label_store import IN_FILE, Said


def cohen_kappa(pairs: Sequence[tuple[Any, Any]]) -> float:
    """κ of two people who labelled the same units; NaN without any, 1 if both say the same of all."""
    if not pairs:
        return float("nan")
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return 1.0 if expected == 1.0 else (agreed - expected) / (1.0 - expected)


def krippendorff_alpha(units: Iterable[Sequence[Any]]) -> float:
    """α of nominal labels; each unit has those that it got. NaN if none got two."""
    several = [unit for unit in units if len(unit) > 1]
    totals = Counter(label for unit in several for label in unit)
    n = sum(totals.values())
    if not n:
        return float("nan")
    differing = sum(sum(a != b for a, b in combinations(unit, 2)) * 2.0 / (len(unit) - 1) for unit in several)
    expected = (n * n - sum(count * count for count in totals.values())) / (n - 1)
    return 1.0 if expected == 0.0 else 1.0 - differing / expected


def summarise(items: Mapping[int, Said]) -> dict[str, Any]:
    """What people say of the items that several of them labelled: α of all, κ of each pair."""
    units = []
    for own in items.values():
        said = {name: label for name, label in own.items() if label is not None and name != IN_FILE}
        if len(said) > 1:
            units.append(said)
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
