"""`merging`: predictions of the plain mean are the mean of predictions; units, origins and sums agree."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard import feature_columns, losses, target_scale
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.merging import common_units
from steelyard.merging.parts import GRADIENTS, MEAN, part_of
from steelyard.model import Model, Settings

FEATURES = 12


def examples(seed: int, count: int = 60, labels: NDArray[Any] | None = None, unit: float = 1.0) -> Examples:
    """Counts, and two columns of numbers far from 0."""
    rng = np.random.default_rng(seed)
    rows = rng.poisson(0.4, (count, FEATURES)).astype(float) * unit
    rows[:, 0], rows[:, 1] = rng.normal(50.0, 3.0, count), rng.normal(-7.0, 1.0, count) + seed
    made = np.sign(rows[:, 2] - rows[:, 3] + 0.3 * (rows[:, 0] - 50.0) + 0.1)
    indptr = np.concatenate([[0], np.cumsum((rows != 0.0).sum(axis=1))])
    return Examples(
        indptr.astype(np.int64),
        np.nonzero(rows)[1].astype(np.int32),
        rows[rows != 0.0].astype(np.float32),
        False,
        FEATURES,
        made if labels is None else labels,
        np.ones(count),
    )


def learned(settings: Settings, *chunks: Examples, base: Model | None = None) -> Model:
    model = Model(settings, FEATURES)
    if base is not None:
        for name, array in model.arrays().items():
            array[...] = base.arrays()[name]
    for chunk in chunks:
        Learner(model=model).learn(chunk)
    return model


def predict(model: Model, chunk: Examples) -> NDArray[np.float64]:
    return Learner(model=model).predict(chunk)


HUBER = losses.by_name("modified_huber")
SETTINGS = [
    Settings(HUBER),
    Settings(HUBER, scaling="normalized"),
    Settings(HUBER, scaling="adaptive"),
    Settings(HUBER, scaling="plain", learning_rate=0.001),
    Settings(),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda each: f"{each.scaling}, {type(each.loss).__name__}")
def test_the_mean_predicts_the_mean(settings: Settings) -> None:
    parts = [
        learned(settings, examples(1)),
        learned(settings, examples(2, unit=2.0)),
        learned(settings, examples(3)),
    ]
    rows = examples(9)
    a, b, c = (part_of(model, by=MEAN) for model in parts)
    whole = a.merged(b).merged(c).model(total=180.0)
    expected = np.mean([predict(model, rows) for model in parts], axis=0)
    assert predict(whole, rows) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert whole.clock == whole.total_weight == 180.0
    assert whole.progressive_loss == pytest.approx(np.mean([model.progressive_loss for model in parts]))


def test_one_part_alone_says_the_same() -> None:
    model = learned(Settings(HUBER), examples(1))
    again = part_of(model).model(total=model.clock)
    assert predict(again, examples(9)) == pytest.approx(predict(model, examples(9)), rel=1e-5, abs=1e-5)
    assert np.array_equal(again.units, model.units)
    assert sorted(again.columns.found) == sorted(model.columns.found)


def test_a_feature_that_one_part_has_seen_keeps_its_coefficient() -> None:
    some, all_of_them = examples(1), examples(2)
    without = some.take(
        np.flatnonzero(
            [5 not in some.indices[a:b] for a, b in zip(some.indptr, some.indptr[1:], strict=False)]
        )
    )
    a, b = learned(Settings(HUBER), without), learned(Settings(HUBER), all_of_them)
    merged = part_of(a).merged(part_of(b)).model(total=1.0)
    assert merged.coefficients()[5] == pytest.approx(b.coefficients()[5], rel=1e-5)
    plain = part_of(a, by=MEAN).merged(part_of(b, by=MEAN)).model(total=1.0)
    assert abs(plain.coefficients()[5]) < abs(b.coefficients()[5])


@pytest.mark.parametrize("settings", SETTINGS[:3], ids=lambda each: each.scaling)
def test_rounds_go_on_from_a_base(settings: Settings) -> None:
    base = learned(settings, examples(1))
    parts = [learned(settings, examples(seed), base=base) for seed in (2, 3)]
    a, b = (part_of(model, base) for model in parts)
    merged = a.merged(b)
    between = merged.model(base)
    assert between.clock == parts[0].clock == 120.0
    assert between.total_weight == 180.0
    final = merged.model(base, total=180.0)
    assert final.clock == 180.0
    assert predict(final, examples(9)) == pytest.approx(predict(between, examples(9)), rel=1e-4, abs=1e-4)
    low = np.minimum(*(model.coefficients() for model in parts))
    high = np.maximum(*(model.coefficients() for model in parts))
    assert ((final.coefficients() >= low - 1e-5) & (final.coefficients() <= high + 1e-5)).all()
    # what goes on from a merged model learns as others do
    assert np.isfinite(predict(learned(settings, examples(4), base=between), examples(9))).all()


def test_lazy_regularisation_is_applied() -> None:
    settings = Settings(HUBER, l1=1e-4, l2=1e-3)
    parts = [learned(settings, examples(seed)) for seed in (1, 2)]
    merged = part_of(parts[0], by=MEAN).merged(part_of(parts[1], by=MEAN)).model(total=120.0)
    expected = np.mean([predict(model, examples(9)) for model in parts], axis=0)
    assert predict(merged, examples(9)) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert merged.state[linear.SCALE] == 1.0


def test_labels_that_are_numbers_have_one_unit() -> None:
    numbers = [np.random.default_rng(seed).normal(10.0 * seed, 2.0, 60) for seed in (1, 2, 3)]
    models = [learned(Settings(), examples(k, labels=each)) for k, each in enumerate(numbers)]
    a, b, c = (part_of(model) for model in models)
    merged = a.merged(b).merged(c).model(total=180.0)
    assert merged.unit == pytest.approx(np.concatenate(numbers).std())
    assert merged.label_state[target_scale.WEIGHT] == 180.0
    going_on = learned(Settings(), examples(5, labels=numbers[0]), base=merged)
    again = part_of(going_on, merged).model(merged)
    assert again.label_state[target_scale.WEIGHT] == 240.0
    nothing = part_of(Model(Settings(), FEATURES))
    assert nothing.merged(a).label_state[target_scale.WEIGHT] == 60.0
    assert a.merged(nothing).label_state[target_scale.WEIGHT] == 60.0
    assert predict(a.merged(nothing).model(total=60.0), examples(9)) == pytest.approx(
        predict(models[0], examples(9)), rel=1e-4
    )


@pytest.mark.parametrize("most", [2, 3, 4, 6])
def test_columns_of_all_parts_may_be_more_than_a_model_has(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_columns, "MOST", most)
    first, other = examples(1), examples(2)
    moved = replace(other, indices=(FEATURES - 1 - other.indices).astype(np.int32))
    parts = [learned(Settings(HUBER), first), learned(Settings(HUBER), moved)]
    assert [len(model.columns.found) for model in parts] == [2, 2]
    merged = part_of(parts[0], by=MEAN).merged(part_of(parts[1], by=MEAN)).model(total=120.0)
    assert len(merged.columns.found) == min(most, 4)
    assert merged.columns.counts.sum() <= most
    rows = examples(9)
    expected = np.mean([predict(model, rows) for model in parts], axis=0)
    assert predict(merged, rows) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert np.isfinite(predict(learned(Settings(HUBER), first, moved, base=merged), rows)).all()


def test_candidates_for_origins_are_common_ones() -> None:
    few = [learned(Settings(HUBER), examples(seed, count=8)) for seed in (1, 2)]
    merged = part_of(few[0]).merged(part_of(few[1])).model(total=16.0)
    assert {0, 1} <= set(merged.columns.candidates[: merged.columns.counts[1], 0])
    later = learned(Settings(HUBER), examples(3), base=merged)
    assert {0, 1} <= set(later.columns.found)
    # a column that got its origin after the base has begun its sum of squares anew
    assert (part_of(later, merged).shares >= 0.0).all()
    assert part_of(later, merged, GRADIENTS).merged(part_of(few[0])).origins[0] == later.columns.origins[0]


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (1.0, 1.0, 1.0),
        (2.0, 3.0, 1.0),
        (1.0, 4.0, 1.0),
        (1.0, 17.0, -17.0),
        (1.0, np.pi, -np.pi),
        (-2.0, 1.0, -2.0),
        (0.0, 3.0, 3.0),
        (-0.5, 0.0, -0.5),
        (0.0, 0.0, 0.0),
    ],
)
def test_common_units(left: float, right: float, common: float) -> None:
    for pair in ((left, right), (right, left)):
        assert common_units.merged_units(*(np.array([each]) for each in pair)) == pytest.approx(common)
