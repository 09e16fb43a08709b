"""What is misspelt is answered with what was probably meant."""

from pathlib import Path

import pytest

from tests.cli.running import PLAIN, refused, run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("trian",), "No such command 'trian'; did you mean 'train'?"),
        (("weigh",), "No such command 'weigh'.\n"),
        (("train", "rows.vw", "--update", "invarient"), "'invariant'; did you mean 'invariant'?"),
        (("train", "rows.vw", "--update", "magic"), "'second_order', 'invariant'.\n"),
        (("train", "rows.vw", "--format", "json"), "; did you mean 'jsonl'?"),
        (("predict", "m", "rows.vw", "--as", "probabilities"), "; did you mean 'probability'?"),
        (("convert", "rows.vw", "-o", "a.arrow", "--dtype", "float"), "; did you mean 'float"),
    ],
)
def test_usage(arguments: tuple[str, ...], said: str) -> None:
    assert said in run(*arguments, code=2).stderr


def test_a_file_in_the_place_of_a_command(file: Path) -> None:
    assert f"No such command '{file}'; to learn a file: steelyard train {file}" in run(file, code=2).stderr


def test_an_option_in_the_place_of_a_command() -> None:
    assert "No such option" in run("--lable", code=2).stderr
    assert "No such" in run("--", "-x", code=2).stderr


def test_losses_and_columns(file: Path, tmp_path: Path) -> None:
    assert refused("train", file, "--loss", "logistc").endswith("; did you mean 'logistic'?")
    table = tmp_path / "rows.csv"
    table.write_text("colour,y\nred,1\nblue,0\n")
    said = refused("train", table, "--category", "color")
    assert said == "--category: there is no column 'color'; did you mean 'colour'? (there are colour, y)"


def test_files(file: Path) -> None:
    said = refused("train", file.with_name("row.vw"))
    assert said == f"{file.with_name('row.vw')}: there is no such file; did you mean '{file}'?"
    assert "no file matches this pattern" in refused("train", file.with_name("part-*.vw"))


def test_models_by_a_wrong_name(file: Path) -> None:
    model = file.with_name("good.model")
    run("train", file, *PLAIN, "-o", model)
    said = f"{file.with_name('god.model')}: there is no such file; did you mean '{model}'?"
    for command in (["predict"], ["evaluate"], ["filter", "-o", file.with_name("out")]):
        assert refused(*command, file.with_name("god.model"), file) == said
    assert refused("inspect", file.with_name("god.model")) == said
