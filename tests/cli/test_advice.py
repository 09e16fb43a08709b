"""What the first users stumbled over on real files."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import steelyard
from steelyard import OnlineClassifier
from steelyard.cli import main, options
from steelyard.io.sources import Source

ROWS = [("no" if k % 3 else "yes", k % 7, 1000.0 + k % 5) for k in range(300)]


def run(*arguments: object, text: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def trained(*arguments: object) -> dict[str, Any]:
    result = run("train", *arguments, "--json")
    assert result.exit_code == 0, result.output
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Headerless: a number, a weight, and the label last."""
    return written(tmp_path / "rows.data", *(f"{x},{weight},{label}" for label, x, weight in ROWS))


def test_a_short_look_after_a_long_one_loses_nothing(table: Path) -> None:
    source = Source(str(table))
    long = source.peek(100)
    assert source.peek(1) == long[:1]
    assert source.read(100) == long
    source.close()


def test_evaluate_takes_files_that_call_the_classes_otherwise(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "rows.model"
    trained(table, "--weight", "2", "-o", model)
    test = written(tmp_path / "test.data", "a remark", "3,1,yes.", "4,1,no.", "5,1,no.")
    failed = run("evaluate", model, test)
    assert failed.exit_code == 1
    assert "line 1: there are fewer fields than columns" in failed.stderr
    unknown = run("evaluate", model, written(tmp_path / "more.data", "3,1,yes."))
    assert "the label 'yes.' is neither" in unknown.stderr
    result = run("evaluate", model, test, "--labels", "no.,yes.", "--on-error", "skip", "--json")
    assert result.exit_code == 0, result.output
    assert {"examples": 3, "skipped": 1}.items() <= json.loads(result.stdout).items()


def test_a_remark_in_the_first_line_is_no_header(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "cross validation", *(f"{x},{label}" for label, x, _ in ROWS))
    failed = run("train", path)
    assert failed.exit_code == 1
    assert "line 1: there are fewer fields than columns" in failed.stderr
    assert trained(path, "--on-error", "skip")["examples"] == len(ROWS)


def test_heavy_rows_are_spoken_of_and_can_be_made_lighter(table: Path, tmp_path: Path) -> None:
    heavy = trained(table, "--weight", "2", "--weight-scale", "as_given")
    assert any("--weight-factor 0.001 would make that about 1." in remark for remark in heavy["remarks"])
    model = tmp_path / "light.model"
    light = trained(table, "--weight", "2", "--weight-factor", "0.001", "-o", model)
    assert light["remarks"] == []
    assert light["weight"] == pytest.approx(0.001 * heavy["weight"])
    on = run("train", table, "--resume", model, "--weight-factor", "1")
    assert "leave out --weight-factor" in on.stderr
    assert trained(table, "--resume", model)["remarks"] == []


def test_weights_that_are_no_counts_are_divided(tmp_path: Path) -> None:
    """By what is usual in the first thousand, in every pass and by whoever goes on; Python says the same."""
    draw = np.random.default_rng(0)
    weights = draw.integers(1000, 3000, 3000)
    labels = draw.integers(0, 2, 3000)
    path = written(
        tmp_path / "rows.csv",
        "x,w,label",
        *(f"{k % 7 + 5 * y},{w},{'ny'[y]}" for k, (w, y) in enumerate(zip(weights, labels, strict=True))),
    )
    mean = weights[:1000].mean()
    usual = min(mean, float(np.median(weights[:1000])))
    model = tmp_path / "m"
    columns = ("--weight", "w", "--label", "label")
    found = trained(path, *columns, "-o", model)
    assert found["weight"] == pytest.approx(weights.sum() / usual)
    said = f"rows have a mean of {mean:.6g}, which is unusual for counts of copies, so they were"
    assert any(said in remark for remark in found["remarks"])
    assert trained(path, *columns, "--passes", "2")["weight"] == pytest.approx(found["weight"])
    assert trained(path, "--resume", model)["run_weight"] == pytest.approx(found["weight"])
    given = trained(path, *columns, "--weight-scale", "as_given")
    assert given["weight"] == weights.sum()
    assert any("learned as that many copies at once" in remark for remark in given["remarks"])
    assert trained(path, *columns, "--weight-factor", "0.01")["weight"] == pytest.approx(0.01 * weights.sum())
    with pytest.warns(steelyard.WeightWarning, match=said) as caught:
        estimator = OnlineClassifier().fit_files(path, weight="w", label="label")
    assert caught[0].filename == __file__
    assert estimator.weight_factor_ == pytest.approx(1.0 / usual)
    again = OnlineClassifier.load(model)
    assert estimator.partial_fit_files(path).coef_.tolist() == again.partial_fit_files(path).coef_.tolist()


def test_a_factor_also_multiplies_what_propensities_make(table: Path) -> None:
    given = trained(table, "--propensity", "2", "--weight-scale", "as_given")
    assert trained(table, "--propensity", "2", "--weight-factor", "3")["weight"] == pytest.approx(
        3 * given["weight"]
    )


def test_rows_sorted_by_label_are_spoken_of(tmp_path: Path) -> None:
    lines = [f"{sign} |f a:{k % 5} b" for sign in (-1, 1) for k in range(500)]
    assert any(
        "the label changes 1 time from row to row" in remark
        for remark in trained(written(tmp_path / "sorted.vw", *lines))["remarks"]
    )
    random.Random(0).shuffle(lines)
    assert trained(written(tmp_path / "shuffled.vw", *lines))["remarks"] == []


@pytest.mark.parametrize("line", ["{} |f a:{} b", "{} 1:{} 2:1"])
def test_more_than_two_classes(line: str, tmp_path: Path) -> None:
    """Numbers are learned as numbers; that they were is said where they may be classes."""
    lines = [line.format(k % 3, k % 5 + 1) for k in range(60)]
    path = written(tmp_path / "three.dat", *lines)
    (remark,) = trained(path)["remarks"]
    assert remark.startswith("the labels are 0, 1, 2, and were learned as numbers; if ")
    assert "if they are classes, --classes learns them as such" in remark
    assert trained(path, "--loss", "squared")["remarks"] == []
    assert trained(path, "--labels", "*,2")["remarks"] == []
    assert trained(written(path, *lines[:8]))["remarks"] == []
    assert trained(written(path, *(f"{k % 3}.5" + row[1:] for k, row in enumerate(lines))))["remarks"] == []


def test_a_third_class_that_comes_late(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.dat", *["0 1:1", "1 2:1"] * 600, "2 3:1")
    said = run("train", path).stderr
    assert "line 1201: the label '2' is neither 0 nor 1; --labels a,b,c names all classes" in said


def test_nothing_is_not_minus_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "even.vw", *["1 |f a", "-1 |f b"] * 50)
    assert "best constant          0.000000" in run("train", path).stdout


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("1 |f a", ("--weight", "3")),
        ("1 |f a", ("--words", "2")),
        ("1 1:1", ("--label", "y")),
        ("1 1:1", ("--interactions", "a*b")),
    ],
)
def test_options_that_a_format_has_no_use_for_are_refused(
    line: str, option: tuple[str, str], tmp_path: Path
) -> None:
    result = run("train", written(tmp_path / "rows.dat", line), *option)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {option[0]} ")


def test_a_reader_who_has_enough_is_no_error() -> None:
    with pytest.raises(BrokenPipeError), options.errors():
        raise BrokenPipeError


def test_python_goes_on_with_the_factor_of_the_command_line(tmp_path: Path) -> None:
    """Else weights of thousands would be learned as that many copies, without a word."""
    draw = np.random.default_rng(0)
    weights, labels = draw.integers(1000, 3000, 300), draw.integers(0, 2, 300)
    lines = (f"{y + 0.1 * k % 3},{w},{'ny'[y]}" for k, (w, y) in enumerate(zip(weights, labels, strict=True)))
    path = written(tmp_path / "rows.csv", "x,w,label", *lines)
    trained(path, "--weight", "w", "--label", "label", "-o", tmp_path / "m")
    loaded = OnlineClassifier.load(tmp_path / "m")
    assert loaded.weight_factor_ == loaded.input_spec_.weight_factor == pytest.approx(1 / 2000, rel=0.1)
    before = loaded.model_.clock
    loaded.partial_fit(np.ones((2, loaded.n_features_in_)), ["n", "y"], sample_weight=[2000.0, 2000.0])
    assert loaded.model_.clock - before == pytest.approx(2.0, rel=0.1)
