"""`Sweep.fit_files`: the rows of files, and a winner that remembers how they were read."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor, Sweep
from tests.cli.running import rows as vw_rows
from tests.cli.running import run
from tests.estimators.test_sweep import FAST, GRID, RATES, X, classifier, y


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(vw_rows(200, weights=True))
    return path


@pytest.mark.parametrize("passes", [1, 2])
def test_files(file: Path, passes: int) -> None:
    grid = GRID | {"loss": ["squared"]}
    sweep = Sweep(classifier(passes=passes), grid, holdout=5, n_jobs=2).fit_files(file, bits=8)
    assert sweep.classes_.tolist() == [-1, 1]
    assert sweep.n_features_in_ == 256
    assert sweep.input_spec_.format == "vw"
    assert sweep.best_estimator_.n_iter_ == passes
    assert sweep.best_estimator_.progressive_loss_ < 0.5
    assert sweep.cv_results_["held_out_accuracy"].max() > 0.7
    once = Sweep(classifier(), grid, holdout=5, refit=False).fit_files([file], bits=8)
    np.testing.assert_array_equal(sweep.cv_results_["progressive_loss"], once.cv_results_["progressive_loss"])


def test_files_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("label,a\n" + "".join(f"{k % 7 / 3},{k % 7}\n" for k in range(70)))
    sweep = Sweep(OnlineRegressor(**FAST), RATES).fit_files(path)
    assert not hasattr(sweep, "classes_")
    assert sweep.best_estimator_.progressive_loss_ < 1.0
    with pytest.raises(
        ValueError, match="its labels are numbers with fractions, not classes: use OnlineRegressor"
    ):
        Sweep(classifier(), RATES).fit_files(path)


def test_what_files_cannot_do(file: Path) -> None:
    for wrong, text in (
        ({"early_stopping": True}, "a sweep learns all settings equally often"),
        ({"weight_scale": "mean_one"}, "weight_scale='mean_one' is not for files"),
    ):
        with pytest.raises(ValueError, match=text):
            Sweep(classifier(**wrong), RATES).fit_files(file)
    named = file.with_suffix(".csv")
    named.write_text("label,a\n" + "ham,1\nspam,2\n" * 9)
    with pytest.raises(ValueError, match="the label 'ham' is not a number but a class: use OnlineClassifier"):
        Sweep(OnlineRegressor(), RATES).fit_files(named)
    with pytest.raises(TypeError, match="no option 'seperator' for reading files; did you mean"):
        Sweep(classifier(), RATES).fit_files(named, seperator=";")


def test_which_class_is_which(file: Path) -> None:
    assert Sweep(classifier(), RATES).fit_files(file, bits=8, labels=["1", "-1"]).classes_.tolist() == [1, -1]


def test_the_winner_remembers_how_its_files_were_read(file: Path, tmp_path: Path) -> None:
    sweep = Sweep(classifier(), RATES).fit_files(file, bits=8)
    path = tmp_path / "best.model"
    sweep.best_estimator_.save(path)
    loaded = OnlineClassifier.load(path)
    assert loaded.input_spec_ == sweep.best_estimator_.input_spec_
    shown = run("predict", path, file).stdout.splitlines()
    assert len(shown) == 200
    assert len(set(shown)) > 1
    assert "average loss" in run("evaluate", path, file).stdout


def test_the_winner_remembers_what_its_features_are_called(file: Path, tmp_path: Path) -> None:
    sweep = Sweep(classifier(passes=2), RATES).fit_files(file, bits=8)
    first, again = tmp_path / "best.model", tmp_path / "again.model"
    sweep.best_estimator_.save(first)
    OnlineClassifier.load(first).save(again)
    shown = run("inspect", first).stdout
    assert run("inspect", again).stdout == shown
    assert "#" not in shown
    run("train", file, "--bits", "8", "-o", tmp_path / "trained.model")
    words = json.loads(run("inspect", tmp_path / "trained.model", "--json").stdout)["names"]
    assert json.loads(run("inspect", again, "--json").stdout)["names"] == words > 0


def test_a_pipe_can_be_swept_but_not_learned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def piped() -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(vw_rows(200).encode())))

    piped()
    with pytest.raises(ValueError, match="can be read only once: save the rows to a file"):
        Sweep(classifier(), RATES).fit_files("-")
    piped()
    sweep = Sweep(classifier(), RATES, refit=False).fit_files("-", format="vw", bits=8)
    assert np.isfinite(sweep.cv_results_["progressive_loss"]).all()


def test_one_that_is_fitted_to_rows_forgets_the_files(file: Path) -> None:
    sweep = Sweep(classifier(), RATES).fit_files(file, bits=8)
    assert not hasattr(sweep.best_estimator_.fit(X, y), "input_spec_")
