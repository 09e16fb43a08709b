"""Passes end when rows held out are predicted no better, in files as in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier
from tests.cli.running import run, stored, trained

FEW = ("--bits", 10, "--label", "label", "--passes", 20, "--holdout", 4)


def rows(path: Path, rows: int = 80, features: int = 40) -> Path:
    """Few rows, many columns of noise and one that helps: later passes learn the noise."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rows, features))
    y = np.where(X[:, 0] + rng.normal(size=rows) > 0.0, "yes", "no")
    names = ",".join(f"c{i}" for i in range(features))
    lines = [f"{label}," + ",".join(f"{x:.4f}" for x in row) for label, row in zip(y, X, strict=True)]
    path.write_text(f"label,{names}\n" + "\n".join(lines) + "\n")
    return path


def test_the_best_pass_is_kept(tmp_path: Path) -> None:
    path, model = rows(tmp_path / "rows.csv"), tmp_path / "model"
    result = trained(path, *FEW, "--early-stopping", "-o", model)
    best = result["best_pass"]
    assert result["passes"] == best + 3 < 20
    told = trained(path, *FEW, "--passes", best, "-o", tmp_path / "told")
    assert told["held_out_loss"] == result["held_out_loss"]
    coefficients = [stored(each).model.coefficients() for each in (model, tmp_path / "told")]
    np.testing.assert_array_equal(coefficients[0], coefficients[1])
    shown = run("train", path, *FEW, "--early-stopping").stdout
    assert f"of which number {best} was best and is kept" in shown

    options: dict[str, Any] = {"bits": 10, "label": "label", "holdout": 4}
    fitted = OnlineClassifier(early_stopping=True).fit_files(path, **options)
    assert (fitted.n_iter_, int(np.argmin(fitted.validation_losses_))) == (best + 3, best - 1)
    np.testing.assert_array_equal(fitted.coef_[0], coefficients[0])
    once = OnlineClassifier(early_stopping=True).partial_fit_files(path, **options)
    assert (once.n_iter_, once.early_stopping, hasattr(once, "validation_losses_")) == (1, True, False)


def test_what_it_needs(tmp_path: Path) -> None:
    path = rows(tmp_path / "rows.csv", 6, 2)
    few = ("--bits", 10, "--label", "label", "--early-stopping")
    for options, said in (
        (("--passes", 3), "early stopping needs rows that are not learned, and several passes"),
        (("--holdout", 3), "early stopping needs rows that are not learned, and several passes"),
        (
            ("--holdout", 3, "--passes", 3, "--checkpoint-every", 5, "-o", tmp_path / "m"),
            "leave out --checkpoint-every",
        ),
        (("--holdout", 100, "--passes", 3), "no row with a label and a weight was held out to decide"),
    ):
        assert said in run("train", path, *few, *options, code=1).output


@pytest.mark.parametrize("verbose", [0, 1])
def test_in_memory_too(verbose: int, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 30))
    y = X[:, 0] > 0.0
    fitted = OnlineClassifier(learning_rate=1.0, early_stopping=True, verbose=verbose).fit(X, y)
    assert len(fitted.validation_losses_) == int(np.argmin(fitted.validation_losses_)) + 4
    assert bool(capsys.readouterr().err) == bool(verbose)
