"""`merge`: models of parts of the rows become one model, of the same kind, in their order."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard import model_file
from steelyard.merging.model_files import merge, merge_tree
from tests.cli.running import refused, rows, run, trained

SMALL = ("--bits", "10")


@pytest.fixture
def models(tmp_path: Path) -> list[Path]:
    """Of three files, each with its own rows."""
    paths = [tmp_path / f"{k}.model" for k in range(3)]
    for k, path in enumerate(paths):
        path.with_suffix(".vw").write_text(rows(150, seed=k) + f"1 |c only{k}\n")
        trained(path.with_suffix(".vw"), *SMALL, "-o", path)
    return paths


def test_one_model_of_three(models: list[Path], tmp_path: Path) -> None:
    said = run("merge", *models, "-o", tmp_path / "m").stdout
    assert said == f"3 models merged by gradients: {tmp_path / 'm'}\n"
    merged = model_file.load(tmp_path / "m")
    (model,) = merged.engine.models
    assert model.clock == model.total_weight == 453.0
    assert merged.training is not None
    assert merged.training["rows"] == merged.training["learned"] == 453
    assert [entry[0] for entry in merged.training["files"]] == ["0.vw", "1.vw", "2.vw"]
    assert merged.names is not None
    assert {"c^only0", "c^only1", "c^only2"} <= set(merged.names.by_index().values())
    parts = [model_file.load(path) for path in models]
    assert merged.engine.error == pytest.approx(sum(part.engine.error[0] for part in parts))  # type: ignore[index]
    assert merged.calibration is not None
    assert min(part.calibration[0][0] for part in parts) <= merged.calibration[0][0] < 0.0  # type: ignore[index]
    again = tmp_path / "again"
    run("merge", *models, "-o", again)
    assert again.read_bytes() == (tmp_path / "m").read_bytes()
    held_out = tmp_path / "held-out.vw"
    held_out.write_text(rows(300, seed=9))
    alone = [json.loads(run("evaluate", path, held_out, "--json").stdout)["accuracy"] for path in models]
    assert json.loads(run("evaluate", again, held_out, "--json").stdout)["accuracy"] >= np.mean(alone)


def test_choose(models: list[Path], tmp_path: Path) -> None:
    held_out = tmp_path / "held-out.vw"
    held_out.write_text(rows(300, seed=9))
    choose = "merge", *models, "-o", tmp_path / "m", "--choose", held_out
    found = json.loads(run(*choose, "--json").stdout)
    best = min(found["tried"], key=lambda each: each["log_loss"])
    assert found["by"] == best["by"]
    lines = run(*choose).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["by", "gradients", "mean", "3"]
    assert "leave out --by" in run(*choose, "--by", "mean", code=2).stderr


def test_from_a_base(models: list[Path], tmp_path: Path) -> None:
    base = models[0]
    later = [tmp_path / f"later{k}" for k in (1, 2)]
    for k, path in enumerate(later, 1):
        trained(models[k].with_suffix(".vw"), "--resume", base, "-o", path)
    run("merge", *later, "--base", base, "-o", tmp_path / "m")
    merged = model_file.load(tmp_path / "m")
    assert merged.engine.models[0].clock == merged.engine.models[0].total_weight == 453.0
    assert merged.training is not None
    assert merged.training["rows"] == 453
    assert merged.progressive_calibration["time"][0] == 453.0


def test_numbers_without_names(tmp_path: Path) -> None:
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text("y,x\n" + "".join(f"{3 * x + k},{x}\n" for x in range(1, 40)))
        trained(tmp_path / f"{k}.csv", "--numbers", "--no-names", *SMALL, "-o", tmp_path / f"{k}")
    held_out = tmp_path / "held-out.csv"
    held_out.write_text("y,x\n20,6\n31,10\n")
    run("merge", tmp_path / "0", tmp_path / "1", "-o", tmp_path / "m", "--choose", held_out)
    assert model_file.load(tmp_path / "m").names is None


def test_several_classes_and_held_out_calibration(tmp_path: Path) -> None:
    words = ("red", "green", "blue")
    for k in range(2):
        lines = [f"{words[(j + k) % 3]}\t{words[(j + k) % 3]} {j}" for j in range(60)]
        (tmp_path / f"{k}.tsv").write_text("label\ttext\n" + "\n".join(lines) + "\n")
    options = ("--labels", "red,green,blue", *SMALL)
    for extra in ((), ("--holdout", 5, "--calibrate")):
        for k in range(2):
            trained(tmp_path / f"{k}.tsv", *options, *extra, "-o", tmp_path / f"{k}")
        run("merge", tmp_path / "0", tmp_path / "1", "-o", tmp_path / "m")
        merged, first = model_file.load(tmp_path / "m"), model_file.load(tmp_path / "0")
        assert len(merged.engine.models) == len(first.engine.models) == 3
        assert merged.calibration is not None
        assert np.shape(merged.calibration) == (3, 3)
        found = json.loads(run("evaluate", tmp_path / "m", tmp_path / "1.tsv", "--json").stdout)
        assert found["accuracy"] > 0.9


def test_a_single_one_stays_as_it_is(models: list[Path], tmp_path: Path) -> None:
    run("merge", models[0], "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == models[0].read_bytes()


def test_models_that_do_not_belong_together(models: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    trained(models[0].with_suffix(".vw"), "--bits", 11, "--loss", "logistic", "-o", other)
    said = refused("merge", models[0], other, "-o", tmp_path / "m")
    assert said.startswith(
        f"{models[0]} and {other} have different settings and numbers of features and ways"
    )
    trained(models[0].with_suffix(".vw"), *SMALL, "--no-calibrate", "-o", other)
    assert "different calibrations" in refused("merge", other, models[0], "-o", tmp_path / "m")
    assert "and the base have different" in refused("merge", models[0], "--base", other, "-o", tmp_path / "m")
    first, second = model_file.load(models[0]), model_file.load(models[1])
    first.class_names, first.feature_names = np.array([0, 1]), np.array(["x"])
    with pytest.raises(ValueError, match="model 1 and model 2 have different classes and names of features"):
        merge([first, second])


def test_a_model_that_is_given_twice(models: list[Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(models[0])
    for again in (models[0], tmp_path / "link"):
        said = run("merge", models[0], models[1], again, "-o", tmp_path / "m", code=2).stderr
        assert f"{again} is given twice" in said
    assert not (tmp_path / "m").exists()


def test_the_tree_is_that_of_neighbours() -> None:
    assert merge_tree("abcde", lambda left, right: f"({left}{right})") == "(((ab)(cd))e)"
