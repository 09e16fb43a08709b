"""Random numbers by seed and counter."""

import numpy as np

from steelyard.active import counter_rng


def test_they_do_not_depend_on_how_they_are_cut() -> None:
    whole = counter_rng.uniform(3, 0, np.arange(1000))
    parts = [counter_rng.uniform(3, 0, np.arange(start, start + 100)) for start in range(0, 1000, 100)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_they_look_random_and_differ_by_seed_and_purpose() -> None:
    drawn = [
        counter_rng.uniform(seed, purpose, np.arange(20_000)) for seed in (0, 1, -5) for purpose in (0, 1)
    ]
    for each in drawn:
        assert 0.0 <= each.min() < each.max() < 1.0
        np.testing.assert_allclose(np.histogram(each, 10, (0.0, 1.0))[0], 2000, atol=200)
        assert abs(np.corrcoef(each[1:], each[:-1])[0, 1]) < 0.03
    assert np.abs(np.corrcoef(drawn) - np.eye(len(drawn))).max() < 0.03


def test_an_order_holds_every_number_once() -> None:
    found = counter_rng.order(0, 7, 500)
    np.testing.assert_array_equal(np.sort(found), np.arange(500))
    assert not np.array_equal(found, np.arange(500))
    assert len(counter_rng.order(0, 7, 0)) == 0
