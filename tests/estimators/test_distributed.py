"""`DistributedClassifier`: answers as the classifier that learned the same files."""

from pathlib import Path

import numpy as np
import pytest

from steelyard import DistributedClassifier, OnlineClassifier, model_file
from steelyard.distributed.local import LocalEngine
from steelyard.merging.model_files import merge
from tests.cli.running import rows


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{k}.vw" for k in range(4)]
    for k, path in enumerate(paths):
        path.write_text(rows(80, seed=k))
    return paths


def test_one_part_is_the_classifier_itself(files: list[Path]) -> None:
    alone = OnlineClassifier(passes=1).fit_files(files, bits=10)
    found = DistributedClassifier(OnlineClassifier(passes=1), engine="local:1", parts=1).fit_files(
        files, bits=10
    )
    assert np.array_equal(found.predict_files(files), alone.predict_files(files))
    assert found.classes_.tolist() == alone.classes_.tolist()


def test_a_run_goes_on_from_its_checkpoint(files: list[Path], tmp_path: Path) -> None:
    class Stops(LocalEngine):
        def put(self, value: bytes) -> bytes:
            self.rounds = getattr(self, "rounds", 0) + 1
            if self.rounds == 2:
                raise KeyboardInterrupt
            return value

    checkpoint = tmp_path / "run.checkpoint"
    made = DistributedClassifier(engine=Stops(1), parts=2, rounds=2)
    with pytest.raises(KeyboardInterrupt):
        made.fit_files(files, checkpoint=checkpoint, bits=10)
    assert checkpoint.exists()
    made.set_params(engine=LocalEngine(1)).fit_files(files, checkpoint=checkpoint, bits=10)
    assert not checkpoint.exists()
    whole = DistributedClassifier(engine="local:1", parts=2, rounds=2).fit_files(files, bits=10)
    assert np.array_equal(made.predict_files(files), whole.predict_files(files))


def test_before_it_is_fitted() -> None:
    with pytest.raises(AttributeError, match="is it fitted"):
        DistributedClassifier().predict([[1.0]])


def test_models_of_rows_are_merged(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 3))
    fitted = [OnlineClassifier().fit(x[k::2], x[k::2, 0] > 0.0) for k in range(2)]
    for k, each in enumerate(fitted):
        each.save(tmp_path / f"{k}")
    merged = tmp_path / "merged"
    model_file.save(merged, merge([model_file.load(tmp_path / f"{k}") for k in range(2)]))
    assert OnlineClassifier.load(merged).score(x, x[:, 0] > 0.0) > 0.9
