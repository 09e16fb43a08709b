"""Model files: whatever is saved comes back, whatever is damaged is refused, and old files load for ever."""

import errno
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from steelyard import losses, model_file
from steelyard.examples import examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_file import EngineState, ModelFile
from steelyard.settings import SCALINGS, Settings
from steelyard.weight_summary import summarise
from tests.support.streams import stream

DATA = Path(__file__).parent / "data"
FIRST_FORMAT = DATA / "format-1.safetensors"


@dataclass(frozen=True)
class Own(Loss):
    width: float = 1.0

    def value(self, p: float, y: float) -> float:
        return self.width * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return 2.0 * self.width * (p - y)


def change(path: Path, old: str, new: str) -> None:
    """The same model with other metadata."""
    with safe_open(path, "numpy") as file:
        text = file.metadata()["steelyard"]
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert old in text
    save_file(arrays, path, {"steelyard": text.replace(old, new)})


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
    second = Learner.load(tmp_path / "half.safetensors")
    second.learn(chunks[1])
    assert second.model.settings == settings
    for name, array in steady.model.arrays().items():
        np.testing.assert_array_equal(array, second.model.arrays()[name])


def test_a_rate_that_is_not_given_is_not_kept(tmp_path: Path) -> None:
    Learner(Settings(), 1).save(tmp_path / "m")
    assert Learner.load(tmp_path / "m").model.settings.learning_rate is None


def test_what_is_kept_beside_the_models(tmp_path: Path) -> None:
    """Every field comes back, of one model and of several."""
    for classes, count in ((0, 1), (3, 6)):
        settings = [replace(Settings(), learning_rate=rate) for rate in (0.1, 0.5)][: 1 if count == 1 else 2]
        models = [Model(settings[k * len(settings) // count], 4) for k in range(count)]
        for number, model in enumerate(models):
            model.raw_coefficients[1] = number + 1.0
        several = {
            "best": 1,
            "error": np.array([1.0, 2.0]),
            "alive": np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
        }
        engine = EngineState(settings, models, classes, **(several if count > 1 else {}))  # type: ignore[arg-type]
        kept = ModelFile(
            engine, spec={"a": 1}, names=None, class_names=np.array(["a", "b", "c"]),
            feature_names=np.array(["w", "x", "y", "z"], object), estimator="OnlineClassifier",
            parameters={"passes": 3}, weight_summary=summarise(np.array([1.0, 2.0])), n_iter=3,
            calibration=[[1.0, 2.0, 0.5]] * max(classes, 1), run={"rows": 5},
            run_arrays={"run_labels": np.arange(3.0)},
        )  # fmt: skip
        model_file.save(tmp_path / "m", kept)
        again = model_file.load(tmp_path / "m")
        for field in ("spec", "estimator", "parameters", "weight_summary", "n_iter", "calibration", "run"):
            assert getattr(again, field) == getattr(kept, field), field
        for field in ("class_names", "feature_names"):
            np.testing.assert_array_equal(getattr(again, field), getattr(kept, field))
        np.testing.assert_array_equal(again.run_arrays["run_labels"], np.arange(3.0))
        assert again.engine.settings == settings
        assert (again.engine.best, again.engine.classes) == (engine.best, classes)
        assert [model.raw_coefficients[1] for model in again.engine.models] == [
            *map(float, range(1, count + 1))
        ]
        assert [model.raw_coefficients[1] for model in again.engine.best_models()] == (
            [4.0, 5.0, 6.0] if classes else [1.0]
        )
        if classes:
            np.testing.assert_array_equal(again.engine.error, several["error"])
            np.testing.assert_array_equal(again.engine.alive, several["alive"])
            assert Learner.load(tmp_path / "m", class_name="b").model.raw_coefficients[1] == 5.0
            with pytest.raises(ValueError, match=r"one for each class \(a, b, c\): name one, load"):
                Learner.load(tmp_path / "m")
            with pytest.raises(ValueError, match="there is no class 'd'; the classes are a, b, c"):
                Learner.load(tmp_path / "m", class_name="d")
            model_file.save(tmp_path / "m", replace(kept, class_names=None))
            assert Learner.load(tmp_path / "m", class_name=2).model.raw_coefficients[1] == 6.0


def test_classes_must_be_numbers_or_strings(tmp_path: Path) -> None:
    kept = ModelFile(
        EngineState([Settings()], [Model(Settings(), 1)]), class_names=np.array([(1, 2), None], object)
    )
    with pytest.raises(TypeError, match="only classes that are numbers or strings can be saved"):
        model_file.save(tmp_path / "m", kept)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"first": 0', '"first": 9', "its first model is number 9 of 3"),
        (
            '"power_t": 0.0}]',
            '"power_t": 0.0}, {"learning_rate": 1.0}]',
            "its figures do not fit its settings",
        ),
        ('"contest"', '"contests"', None),
        ('"first"', '"frist"', "no .contest. that makes sense"),
    ],
)
def test_several_models_that_make_no_sense(tmp_path: Path, old: str, new: str, why: str | None) -> None:
    path = tmp_path / "m"
    models = [Model(Settings(), 2) for _ in range(3)]
    model_file.save(path, ModelFile(EngineState([Settings()], models, 3, 0, np.zeros(1), np.ones(3))))
    change(path, old, new)
    if why is None:  # then the first model is all that it knows of
        assert len(model_file.load(path).engine.models) == 1
    else:
        with pytest.raises(ValueError, match=why):
            model_file.load(path)


def test_figures_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "m"
    models = [Model(Settings(), 2) for _ in range(3)]
    model_file.save(path, ModelFile(EngineState([Settings()], models, 3, 0, np.zeros(2), np.ones(3))))
    with pytest.raises(ValueError, match="its figures do not fit its settings"):
        model_file.load(path)


def test_figures_that_are_missing(tmp_path: Path) -> None:
    path, models = tmp_path / "m", [Model(Settings(), 2) for _ in range(3)]
    model_file.save(path, ModelFile(EngineState([Settings()], models, 3, 0, np.zeros(1), np.ones(3))))
    with safe_open(path, "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys() if key != "contest.error"}  # noqa: SIM118
        about = file.metadata()
    save_file(arrays, path, about)
    with pytest.raises(ValueError, match="it lacks the figures of its settings"):
        model_file.load(path)


def test_a_model_with_a_loss_of_ones_own_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "own"
    Learner(Settings(Own(width=3.0)), 2).save(path)
    with pytest.raises(
        ValueError, match=r"trained with the loss Own\(width=3.0\); give it: load\(path, loss=…\)"
    ):
        Learner.load(path)
    for other in (losses.Squared(), Own(width=2.0)):
        with pytest.raises(ValueError, match="trained with the loss Own"):
            Learner.load(path, loss=other)
    for given in (Own(width=3.0), Own):  # of a class the file knows the parameters
        assert Learner.load(path, loss=given).model.settings.loss == Own(width=3.0)


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"model: there is no folder '.*nowhere'; make it first"):
        Learner(Settings(), 1).save(tmp_path / "nowhere" / "model")


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        model_file.load(tmp_path / "missing")
    whole = FIRST_FORMAT.read_bytes()
    for content in (b"", b"garbage" * 100, whole[: len(whole) // 2], whole[:-1]):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(ValueError, match="not a model file, or a damaged one"):
            model_file.load(tmp_path / "bad")
    save_file({"weights": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(ValueError, match="a safetensors file, but not one of steelyard's"):
        model_file.load(tmp_path / "foreign")
    for text in ("garbage", "[]", "{}"):
        save_file({"weights": np.zeros(3)}, tmp_path / "odd", {"steelyard": text})
        with pytest.raises(ValueError, match=r"a damaged one \(its metadata make no sense"):
            model_file.load(tmp_path / "odd")
    save_file({"weights": np.zeros(3)}, tmp_path / "future", {"steelyard": json.dumps({"format": 99})})
    with pytest.raises(
        ValueError, match=r"written by a newer steelyard \(format 99, this one reads up to 7\); upgrade"
    ):
        model_file.load(tmp_path / "future")


@pytest.mark.parametrize(
    "stands", [{linear.CLOCK: -1.0}, {linear.FRACTION: 1.0}, {linear.CLOCK: 1.5, linear.FRACTION: 0.5}]
)
def test_clocks_that_no_model_has(stands: dict[int, float], tmp_path: Path) -> None:
    learner = Learner(Settings(), features=1)
    for place, number in stands.items():
        learner.model.state[place] = number
    learner.save(tmp_path / "model")
    with pytest.raises(ValueError, match="its clock stands at"):
        model_file.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("scales", np.zeros(2, np.float32)),
        ("weights", np.zeros(2, np.float64)),
        ("weights", np.zeros(1, np.int64)),
        ("met", np.array([7], np.int64)),
        ("met", np.array([-1], np.int64)),
        ("met", np.array([[1]], np.int64)),
    ],
)
def test_arrays_must_be_those_the_settings_ask_for(name: str, array: np.ndarray, tmp_path: Path) -> None:
    good = Model(Settings(scaling="normalized"), 3)
    good.raw_coefficients[1] = 2.0
    Learner(model=good).save(tmp_path / "good")
    with safe_open(tmp_path / "good", "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        about = file.metadata()
    assert arrays["met"].tolist() == [1], "only what was met is stored"
    save_file(arrays | {name: array}, tmp_path / "odd", about)
    with pytest.raises(ValueError, match=r"the array '\w+' is missing or not what its settings say"):
        model_file.load(tmp_path / "odd")


def test_a_model_that_has_met_little_is_a_small_file(tmp_path: Path) -> None:
    large = Model(Settings(scaling="normalized", l1=0.1), 1 << 20)
    large.raw_coefficients[[3, 77]] = [1.0, -2.0]
    large.l1_applied[5] = 1.0
    Learner(model=large).save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 5000
    again = Learner.load(tmp_path / "model").model
    np.testing.assert_array_equal(again.raw_coefficients, large.raw_coefficients)
    np.testing.assert_array_equal(again.l1_applied, large.l1_applied)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    Learner(Settings(), 3).save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Learner(Settings(), 5).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
