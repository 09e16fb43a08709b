"""The unit of labels as the clock runs, however the rows are cut; and longer steps for a rare class."""

import numpy as np
import pytest

from steelyard.class_balance import new_state
from steelyard.learn import label_units, rare_classes
from steelyard.learn.linear import BIAS, CLOCK, FRACTION, STATE_SIZE
from tests.support.naive_units import NaiveClasses, NaiveLabels
from tests.support.parts import callable_part

begin_labels, count_label = callable_part(label_units.begin_labels), callable_part(label_units.count_label)
look_at_label, teaches_unit = (
    callable_part(label_units.look_at_label),
    callable_part(label_units.teaches_unit),
)
count_class, rare_class_factor = (
    callable_part(rare_classes.count_class),
    callable_part(rare_classes.rare_class_factor),
)
compiled_factor_for = callable_part(rare_classes.compiled_factor_for)


def states() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(STATE_SIZE), np.zeros(label_units.SIZE)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("centre", [0.0, 1e6])
def test_the_unit_is_the_spread_at_powers_of_two(bias: bool, centre: float) -> None:
    now, known = states()
    naive = NaiveLabels(bias)
    rng = np.random.default_rng(0)
    for epoch, y in enumerate(centre + rng.normal(size=70)):
        now[CLOCK] = epoch
        begin_labels(now, known, y, float(bias))
        before = known[label_units.UNIT]
        found = look_at_label(now, known, y, 1.0, float(bias), True)
        naive.look(epoch, y, 1.0)
        assert found == pytest.approx(naive.unit, rel=1e-12)
        assert found == before or before == 0.0 or not epoch & (epoch - 1)
        count_label(known, y, 1.0)
        naive.seen.append((y, 1.0))


def test_within_an_epoch_the_unit_stays() -> None:
    now, known = states()
    begin_labels(now, known, 2.0, 1.0)
    assert now[BIAS] == 2.0
    assert look_at_label(now, known, 2.0, 1.0, 1.0, True) == 0.0
    assert not teaches_unit(known, 2.0)
    assert teaches_unit(known, 3.0)
    count_label(known, 2.0, 0.5)
    now[FRACTION] = 0.5
    assert look_at_label(now, known, 3.0, 1.0, 1.0, True) == 0.0
    count_label(known, 3.0, 0.5)
    assert teaches_unit(known, 2.0), "another label of the epoch does"
    now[CLOCK], now[FRACTION] = 1.0, 0.0
    assert look_at_label(now, known, 2.0, 1.0, 1.0, True) == pytest.approx(np.std([2.0, 2.0, 2.0, 3.0]))
    assert not teaches_unit(known, 9.0)


def test_rows_that_are_not_cut_count_as_a_whole() -> None:
    now, known = states()
    begin_labels(now, known, 0.0, 1.0)
    count_label(known, 0.0, 2.5)
    now[CLOCK], now[FRACTION] = 2.0, 0.5
    assert look_at_label(now, known, 4.0, 7.5, 1.0, False) == pytest.approx(4.0 * np.sqrt(0.25 * 0.75))


def test_distances_that_no_square_could_hold() -> None:
    now, known = states()
    begin_labels(now, known, 0.0, 1.0)
    count_label(known, 0.0, 1.0)
    now[CLOCK] = 1.0
    assert look_at_label(now, known, 1e300, 1.0, 1.0, True) == pytest.approx(0.5e140)


def test_without_units_labels_are_what_they_are() -> None:
    now, none = np.zeros(STATE_SIZE), np.zeros(0)
    begin_labels(now, none, 5.0, 1.0)
    count_label(none, 5.0, 1.0)
    assert look_at_label(now, none, 5.0, 1.0, 1.0, True) == 1.0
    assert not teaches_unit(none, 5.0)
    assert now[BIAS] == 0.0


def test_steps_are_longer_where_a_class_is_rare() -> None:
    seen, naive = new_state(), NaiveClasses(-1.0, 1.0)
    for share, weight in ((0.0, 20.0), (1.0, 0.5), (0.25, 3.0)):
        count_class(seen, share, weight)
        naive.count(2.0 * share - 1.0, weight)
    naive.look()
    assert compiled_factor_for(seen[rare_classes.WEIGHT], seen[rare_classes.SECOND]) == pytest.approx(
        naive.factor
    )
    assert naive.factor > 1.0 == rare_class_factor(seen), "it is looked up by the clock"
    assert compiled_factor_for(0.0, 0.0) == 1.0
    assert compiled_factor_for(1e9, 0.0) == pytest.approx(rare_classes.MOST, rel=1e-6)
    count_class(np.zeros(0), 1.0, 1.0)
    assert rare_class_factor(np.zeros(0)) == 1.0
