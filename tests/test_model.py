"""Models and their files."""

import errno
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from steelyard import losses, model
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.model import SCALINGS, Model, Settings, load, load_with_extra
from tests.streams import stream

FIRST_FORMAT = Path(__file__).parent / "data" / "format-1.safetensors"


def settings_of_every_kind() -> list[Settings]:
    plain = Settings(losses.by_name("quantile", tau=0.3), power_t=0.5, dtype="float64")
    every = [replace(plain, scaling=scaling) for scaling in SCALINGS]
    return every + [replace(each, l1=0.01, l2=0.02, bias=False, dtype="float32") for each in every]


@pytest.mark.parametrize("settings", settings_of_every_kind(), ids=lambda s: f"{s.scaling}-{s.dtype}")
def test_resumed_training_continues_bit_for_bit(settings: Settings, tmp_path: Path) -> None:
    matrix, labels, sample_weight = stream(settings.loss, rows=80)
    chunks = [examples(matrix[cut], labels[cut], sample_weight[cut]) for cut in (slice(0, 33), slice(33, 80))]
    steady = Learner(settings, matrix.shape[1])
    for chunk in chunks:
        steady.learn(chunk)
    first = Learner(settings, matrix.shape[1])
    first.learn(chunks[0])
    first.save(tmp_path / "half.safetensors")
    second = Learner(model=load(tmp_path / "half.safetensors"))
    second.learn(chunks[1])
    assert second.model.settings == settings
    for name, array in steady.model.arrays().items():
        np.testing.assert_array_equal(array, getattr(second.model, name))


def test_the_first_format_loads_for_ever() -> None:
    """The file was written by the first release. Never write it anew: teach the loader instead."""
    old, extra = load_with_extra(FIRST_FORMAT)
    assert old.settings == Settings(
        losses.by_name("quantile", tau=0.3), "invariant", "normalized", 0.25, 2.0, 0.5, 0.001, 0.002,
        follow_labels=False,
    )  # fmt: skip
    assert old.unit == 1.0
    assert extra == {"note": "first format"}
    assert old.clock == 20.0
    np.testing.assert_allclose(old.coefficients(), [-0.08692036, 0.0, 0.24467939], rtol=1e-6)


def test_the_first_format_learns_on_as_it_used_to(tmp_path: Path) -> None:
    """The unit of the labels was not looked at in those days, so it stays 1."""
    learner = Learner(model=load(FIRST_FORMAT))
    bias = learner.model.bias
    learner.learn(examples(np.ones((1, 3)), [1e6]))
    assert abs(learner.model.bias - bias) < 0.25
    learner.save(tmp_path / "again")
    assert load(tmp_path / "again").settings == learner.model.settings


def test_a_rate_that_is_not_given_is_that_of_the_loss() -> None:
    for name in losses.names():
        loss = losses.by_name(name)
        assert Settings(loss).rate == Settings(loss).schedule().learning_rate == loss.default_learning_rate
        for scaling in ("plain", "row_norm", "adaptive"):
            assert Settings(loss, scaling=scaling).rate == 0.4
    assert Settings(losses.ModifiedHuber()).rate == 0.4
    assert Settings(learning_rate=0.125).rate == 0.125
    assert Settings(Own()).rate == Loss.default_learning_rate
    # the same loss with the prediction halved
    assert losses.Logistic.default_learning_rate == 2.0 * losses.TanhLogarithmic.default_learning_rate


def test_a_rate_that_is_not_given_is_not_kept(tmp_path: Path) -> None:
    Model(Settings(), 1).save(tmp_path / "m")
    assert load(tmp_path / "m").settings.learning_rate is None


def test_what_was_kept_beside_the_model(tmp_path: Path) -> None:
    Model(Settings(), 3).save(tmp_path / "m", extra={"classes": ["ham", "spam"]})
    assert load_with_extra(tmp_path / "m")[1] == {"classes": ["ham", "spam"]}


def test_a_model_that_learned_nothing() -> None:
    fresh = Model(Settings(), 3)
    assert np.isnan(fresh.progressive_loss)
    assert fresh.clock == fresh.bias == 0.0
    assert np.shares_memory(fresh.coefficients(), fresh.weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"scaling": "plane"},
            "there is no scaling 'plane'; it is one of plain, row_norm, adaptive, normalized",
        ),
        ({"dtype": "float16"}, "there is no dtype 'float16'; it is one of float32, float64"),
        ({"update": "second_order", "loss": losses.Hinge()}, "Hinge has no second_order update"),
        ({"l1": -1.0}, "l1 must be a finite number, 0 or more; got -1.0"),
        ({"l2": float("nan")}, "l2 must be a finite number, 0 or more; got nan"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number, positive; got 0.0"),
    ],
)
def test_bad_settings(change: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=message):
        Settings(**change)


@dataclass(frozen=True)
class Own(Loss):
    width: float = 1.0

    def value(self, p: float, y: float) -> float:
        return self.width * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return 2.0 * self.width * (p - y)


def test_a_model_with_a_loss_of_ones_own_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "own"
    Model(Settings(Own(width=3.0)), 2).save(path)
    with pytest.raises(
        ValueError, match=r"trained with the loss Own\(width=3.0\); give it: load\(path, loss=…\)"
    ):
        load(path)
    for other in (losses.Squared(), Own(width=2.0)):
        with pytest.raises(ValueError, match="trained with the loss Own"):
            load(path, loss=other)
    assert load(path, loss=Own(width=3.0)).settings.loss == Own(width=3.0)


class Half(Loss):
    def value(self, p: float, y: float) -> float:
        return abs(p - y)


def test_a_loss_must_be_whole() -> None:
    with pytest.raises(ValueError, match=r"the loss Half must define derivative\(p, y\)"):
        Settings(Half())
    with pytest.raises(TypeError, match="the loss Own has width='a': it must be a number"):
        Settings(Own(width="a"))  # type: ignore[arg-type]


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"model: there is no folder '.*nowhere'; make it first"):
        Model(Settings(), 1).save(tmp_path / "nowhere" / "model")


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        load(tmp_path / "missing")
    whole = FIRST_FORMAT.read_bytes()
    for content in (b"", b"garbage" * 100, whole[: len(whole) // 2], whole[:-1]):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(ValueError, match="not a model file, or a damaged one"):
            load(tmp_path / "bad")
    save_file({"weights": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(ValueError, match="a safetensors file, but not one of steelyard's"):
        load(tmp_path / "foreign")
    for text in ("garbage", "[]", "{}"):
        save_file({"weights": np.zeros(3)}, tmp_path / "odd", {"steelyard": text})
        with pytest.raises(ValueError, match=r"a damaged one \(its metadata make no sense"):
            load(tmp_path / "odd")
    save_file({"weights": np.zeros(3)}, tmp_path / "future", {"steelyard": json.dumps({"format": 99})})
    with pytest.raises(
        ValueError, match=r"written by a newer steelyard \(format 99, this one reads up to 3\); upgrade"
    ):
        load(tmp_path / "future")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("scales", np.zeros(2, np.float32)),
        ("weights", np.zeros(1, np.float64)),
        ("met", np.array([7], np.int64)),
        ("met", np.array([-1], np.int64)),
        ("met", np.array([[1]], np.int64)),
    ],
)
def test_arrays_must_be_those_the_settings_ask_for(name: str, array: np.ndarray, tmp_path: Path) -> None:
    good = Model(Settings(scaling="normalized"), 3)
    good.weights[1] = 2.0
    good.save(tmp_path / "good")
    with safe_open(tmp_path / "good", "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        about = file.metadata()
    assert arrays["met"].tolist() == [1], "only what was met is stored"
    save_file(arrays | {name: array}, tmp_path / "odd", about)
    with pytest.raises(ValueError, match=r"the array '\w+' is missing or not what its settings say"):
        load(tmp_path / "odd")


def test_a_model_that_has_met_little_is_a_small_file(tmp_path: Path) -> None:
    large = Model(Settings(scaling="normalized", l1=0.1), 1 << 20)
    large.weights[[3, 77]] = [1.0, -2.0]
    large.debts[5] = 1.0
    large.save(tmp_path / "model", arrays={"names": np.arange(3)})
    assert (tmp_path / "model").stat().st_size < 5000
    again, _, arrays = model.load_all(tmp_path / "model")
    np.testing.assert_array_equal(again.weights, large.weights)
    np.testing.assert_array_equal(again.debts, large.debts)
    assert arrays["names"].tolist() == [0, 1, 2]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    Model(Settings(), 3).save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Model(Settings(), 5).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_memory_a_feature() -> None:
    """4 bytes for plain and row_norm, 8 for adaptive, 12 for normalized."""
    few = ("state", "label_state")
    for scaling, expected in zip(SCALINGS, (4, 4, 8, 12), strict=True):
        arrays = Model(Settings(scaling=scaling), 1000).arrays()
        assert sum(array.nbytes for name, array in arrays.items() if name not in few) == 1000 * expected
