"""κ and α beside figures that others computed."""

import math
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from steelyard.active.agreement import cohen_kappa, krippendorff_alpha, summarise
from steelyard.active.identifiers import Item
from steelyard.active.label_store import IN_FILE


def test_kappa_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 50)
    second = np.where(rng.random(50) < 0.7, first, rng.integers(0, 3, 50))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    assert cohen_kappa(pairs) == pytest.approx(cohen_kappa_score(first, second))
    assert cohen_kappa([("a", "a")] * 3) == 1.0
    assert math.isnan(cohen_kappa([]))


def test_alpha_of_krippendorffs_own_example() -> None:
    """Four observers and twelve units, nominal: "Computing Krippendorff's alpha-reliability" (2011), C."""
    table = """1 2 3 3 2 1 4 1 2 . . .
               1 2 3 3 2 2 4 1 2 5 . 3
               . 3 3 3 2 3 4 2 2 5 1 .
               1 2 3 3 2 4 4 1 2 5 1 ."""
    rows = [line.split() for line in table.splitlines()]
    units = [[row[k] for row in rows if row[k] != "."] for k in range(12)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha([["a", "a"]]) == 1.0
    assert math.isnan(krippendorff_alpha([["a"]]))


def test_summary() -> None:
    def said(*names: str) -> dict[str, str]:
        return dict(each.split("=") for each in names)

    items = {
        0: said("ann=a", "bob=a"), 1: said("ann=b", "bob=a"), 2: said("ann=b"),
        3: said("bob=b", f"{IN_FILE}=b"), 4: said("cyd=a", "dan=a"),
    }  # fmt: skip
    found = summarise({Item(item): own for item, own in items.items()})
    assert found["items"] == 3
    assert [(each["people"], each["agreed"], each["items"]) for each in found["pairs"]] == [
        (["ann", "bob"], 1, 2), (["cyd", "dan"], 1, 1)
    ]  # fmt: skip
    assert summarise({})["alpha"] is None


def test_alpha_by_its_definition() -> None:
    rng = np.random.default_rng(1)
    units = [rng.integers(0, 2, size).tolist() for size in (2, 3, 2, 4, 2, 5)]
    values = [label for unit in units for label in unit]
    observed = sum(sum(a != b for a, b in product(unit, unit)) / (len(unit) - 1) for unit in units) / len(
        values
    )
    expected = sum(a != b for a, b in product(values, values)) / (len(values) * (len(values) - 1))
    assert krippendorff_alpha(units) == pytest.approx(1.0 - observed / expected)
