"""The table of a model's arrays says what is so."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from steelyard import losses, model_arrays
from steelyard.array_table import ARRAYS, IN_COMMON, OF_EACH, PARTNERS, met
from steelyard.engine.lane_block import LaneBlock, fits_in_lanes
from steelyard.examples import examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.model import Model
from steelyard.settings import SCALINGS, Settings

FEATURES = 10
EVERY = [
    Settings(losses.by_name(loss), scaling=scaling, l1=l1, bias=bias)
    for loss, scaling, l1, bias in itertools.product(
        ("modified_huber", "squared"), SCALINGS, (0.0, 0.1), (True, False)
    )
]
NAMES = [array.name for array in ARRAYS]


def not_listed(model: Model) -> list[str]:
    """The arrays of which the table knows nothing. (`touched` is a list of what has gained.)"""
    listed = [array.of(model) for array in ARRAYS]
    return [
        name
        for name, own in {**vars(model), **vars(model.columns)}.items()
        if isinstance(own, np.ndarray)
        and name != "touched"
        and len(own)
        and not any(np.shares_memory(own, each) for each in listed)
    ]


@pytest.mark.parametrize("settings", EVERY, ids=str)
def test_every_array_is_in_the_table(settings: Settings) -> None:
    model = Model(settings, FEATURES)
    model.hold_gains()
    assert not_listed(model) == []
    model.another = np.zeros(3)  # type: ignore[attr-defined]
    assert not_listed(model) == ["another"]


@pytest.mark.parametrize("settings", EVERY, ids=str)
def test_what_each_is(settings: Settings) -> None:
    model = Model(settings, FEATURES)
    model.hold_gains()
    for array in ARRAYS:
        own = array.of(model)
        if array.by_feature:
            assert own.shape in ((0,), (FEATURES,))
        if array.count is not None:
            counts, place = array.count
            assert model.arrays()[counts][place] == 0
        if array.lane_part is None and array.lanes is None:
            assert not len(own) or not fits_in_lanes(settings)
        assert (array.lane_part is None) or (array.lanes is None)
    assert not met(model, [array.name for array in ARRAYS if array.by_feature]).any()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_coefficient_and_its_partner_are_neighbours(scaling: str) -> None:
    model = Model(Settings(scaling=scaling), FEATURES)
    assert model.partner == PARTNERS.get(scaling)
    for name in NAMES:
        beside = np.shares_memory(model.pairs.imag, model.arrays()[name]) and np.iscomplexobj(model.pairs)
        assert beside == (name == model.partner)
    assert (len(model.sums) > 0) == (model.partner == "units")


def test_the_page_about_files_names_them() -> None:
    page = Path("docs/model-files.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("settings", [Settings(), Settings(scaling="normalized", l1=0.1)], ids=str)
def test_only_what_means_nothing_may_be_missing(settings: Settings, name: str) -> None:
    stored = model_arrays.compact(Model(settings, FEATURES))
    needed = name in stored and len(Model(settings, FEATURES).arrays()[name]) > 0
    stored.pop(name, None)
    if needed:
        with pytest.raises(ValueError, match=f"the array '{name}' is missing"):
            model_arrays.fill(Model(settings, FEATURES), stored.get)
    else:
        model_arrays.fill(Model(settings, FEATURES), stored.get)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_models_in_and_out_of_lanes(scaling: str) -> None:
    """With an epoch that is open, and columns of numbers."""
    chance = np.random.default_rng(0)
    rows = examples(chance.normal(size=(41, 3)), chance.normal(size=41), np.full(41, 0.9))
    settings = Settings(scaling=scaling, dtype="float64")  # lanes of float32 round lags
    learner = Learner(settings, 3)
    learner.learn(rows)
    block = LaneBlock([settings, settings], 3)
    block.put(1, learner.model)
    for name, array in block.model(1).arrays().items():
        np.testing.assert_array_equal(array, learner.model.arrays()[name], err_msg=name)
    assert not block.model(0).raw_coefficients.any()
    by_name = {array.name: array for array in ARRAYS}
    assert set(block.arrays()) == {"weights"} | {
        n for n, a in by_name.items() if a.lanes in (IN_COMMON, OF_EACH)
    }


def test_gains_that_no_lane_needs() -> None:
    """Lanes that take rows of any weight as one step have none; a model that comes to them may."""
    settings = Settings(scaling="adaptive", update="explicit")
    model = Model(settings, FEATURES)
    model.hold_gains()
    model.raw_coefficients[3], model.state[linear.FRACTION] = 2.0, 0.5
    block = LaneBlock([settings], FEATURES)
    block.put(0, model)
    assert block.arrays()["gained"].shape[0] == 0
    assert block.model(0).raw_coefficients.tolist() == model.raw_coefficients.tolist()
