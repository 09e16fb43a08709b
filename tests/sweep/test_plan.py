"""Rounds under a limit of memory."""

from itertools import chain
from typing import Any

import pytest

from steelyard.engine import memory_needs
from steelyard.engine.model_set import ModelSet
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.model import Settings
from steelyard.sweep import plan

MIB = 1 << 20
FEATURES = 1000
MIXED = [
    Settings(scaling=scaling, update=update, learning_rate=rate, l2=l2, l1=l1, dtype=dtype)
    for scaling, l1 in (("row_norm", 0.0), ("normalized", 0.0), ("standardized", 0.0), ("plain", 0.1))
    for update in ("explicit", "invariant")
    for rate in (0.1, 0.2, 0.3)
    for l2 in (0.0, 0.1)
    for dtype in ("float32", "float64")
]


def weights_of(arrays: dict[str, Any]) -> int:
    """What depends on the number of features."""
    return sum(array.nbytes for array in arrays.values() if max(array.shape, default=0) >= FEATURES)


@pytest.mark.parametrize("threads", [1, 3])
def test_it_reckons_with_no_less_than_is_needed(threads: int) -> None:
    found = plan.plan(MIXED, FEATURES, 0, 1 << 40)
    assert sorted(chain.from_iterable(found.rounds)) == list(range(len(MIXED)))
    assert len(found.rounds) == 1
    needed = weights_of(ModelSet(MIXED, FEATURES, threads).arrays())
    assert needed <= found.bytes_used <= 2 * needed


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_origins_of_columns_count(l1: float) -> None:
    """Side by side models share them; those that learn alone have their own."""
    with_bias, without = (
        plan.plan([Settings(bias=bias, l1=l1)], 10_000, 0, 1 << 40).bytes_used for bias in (True, False)
    )
    columns = ModelSet([Settings(l1=l1)], 10_000, 1).model(0).columns
    assert with_bias - without == sum(array.nbytes for array in columns.arrays) - columns.counts.nbytes


def test_rounds() -> None:
    whole = plan.plan(MIXED, FEATURES, 0, 1 << 40)
    found = plan.plan(MIXED, FEATURES, 0, whole.bytes_used // 2)
    assert len(found.rounds) > 2
    assert sorted(chain.from_iterable(found.rounds)) == list(range(len(MIXED)))
    assert found.bytes_used <= found.limit
    for numbers in found.rounds:
        assert weights_of(ModelSet([MIXED[i] for i in numbers], FEATURES, 1).arrays()) <= found.limit
    assert found.describe().startswith(f"{len(MIXED)} models in {len(found.rounds)} rounds of ")
    assert "(the limit is " in found.describe()


def test_classes_are_lanes() -> None:
    settings = [Settings(scaling="plain", learning_rate=0.1 * k) for k in range(1, 21)]
    found = plan.plan(settings, FEATURES, 20, 1 << 40)
    assert found.bytes_used > weights_of(OneVsRest(settings, 20, FEATURES).arrays())
    assert plan.plan(settings, FEATURES, 2, 1 << 40).bytes_used < found.bytes_used / 10


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(ValueError, match=r"1 model with 1,048,576 features need.*allow more memory"):
        plan.plan([Settings()], MIB, 0, 16 * MIB)
    with pytest.raises(ValueError, match="2 models with 1,048,576 features"):
        plan.plan([Settings(), Settings(learning_rate=1.0)], MIB, 0, 16 * MIB)


def test_descriptions() -> None:
    assert plan.plan([Settings(scaling="plain")], 4, 0, MIB).describe().startswith("1 model in one round, ")


def test_memory() -> None:
    assert plan.memory_of(1000) == 1000
    assert plan.memory_of("1.5G") == 3 << 29
    assert plan.memory_of(" 20 mib") == 20 * MIB
    assert plan.memory_of("77") == 77
    assert 0 < plan.memory_of(None) <= memory_needs.available()
    assert plan.for_rows(1000) == 250
    for wrong in ("much", 0, "0", "-3G"):
        with pytest.raises(ValueError, match="memory"):
            plan.memory_of(wrong)
