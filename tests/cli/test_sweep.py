"""`steelyard sweep`: its grid, its table, its files, and going on after Ctrl-C."""

import csv
import json
import shlex
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from steelyard.cli import progress, retelling, sweep_run
from steelyard.cli.commands import sweep
from steelyard.engine.row_sources import RowsInChunks
from steelyard.io.input_spec import InputSpec
from tests.cli.running import refused, rows, run, trained

ROW_NORM = ("--scaling", "row_norm", "--bits", "8", "--loss", "squared")
RATES = ("--learning-rate", "0.1,0.5")


def swept(*arguments: Any, stdin: bytes | None = None) -> dict[str, Any]:
    """What `sweep --json` says."""
    found: dict[str, Any] = json.loads(run("sweep", *arguments, "--json", stdin=stdin).stdout)
    return found


def table(*arguments: Any) -> str:
    return run("sweep", *arguments).stdout


def test_each_model_is_that_of_train(file: Path) -> None:
    found = swept(file, *ROW_NORM, *RATES, "--update", "explicit,invariant", "--holdout", 5)
    assert [(row["learning_rate"], row["update"]) for row in found["results"]] == [
        (rate, update) for update in ("explicit", "invariant") for rate in (0.1, 0.5)
    ]
    for row in found["results"]:
        alone = trained(
            file,
            *ROW_NORM,
            "--learning-rate",
            row["learning_rate"],
            "--update",
            row["update"],
            "--holdout",
            5,
        )
        assert row["progressive_loss"] == pytest.approx(alone["progressive_loss"], rel=1e-5)
    assert found["criterion"] == "held_out_loss"
    assert found["best"] == min(found["results"], key=lambda row: row["held_out_loss"])
    assert found["examples"] == 200
    assert found["classes"] == 2


def test_the_command_that_is_told_trains_the_best(file: Path) -> None:
    found = swept(file, *ROW_NORM, *RATES, "--names", "--weight-factor", "0.5")
    alone = trained(*shlex.split(found["command"])[2:])
    assert found["best"]["progressive_loss"] == pytest.approx(alone["progressive_loss"], rel=1e-5)
    assert "--weight-factor 0.5 " in found["command"] + " "


@pytest.mark.parametrize("given", ["balanced", "-1=2,1=0.5"])
def test_class_weights(file: Path, given: str) -> None:
    found = swept(file, *ROW_NORM, "--loss", "hinge", *RATES, "--class-weight", given)
    assert f"--class-weight {given}" in found["command"]
    alone = trained(*shlex.split(found["command"])[2:])
    assert found["best"]["progressive_loss"] == pytest.approx(alone["progressive_loss"], rel=1e-5)


def test_the_table(file: Path) -> None:
    said = table(file, *ROW_NORM, "--loss", "squared,hinge", *RATES, "--update", "second_order,invariant")
    head, *lines = [line.split() for line in said.split("\n\n")[1].splitlines()]
    assert (
        " ".join(head)
        == "loss update models progressive accuracy learning rate within 0.005 within 0.001 diverged"
    )
    assert [line[:3] for line in lines] == [
        ["squared", "second_order", "2"], ["squared", "invariant", "2"], ["hinge", "invariant", "2"],
    ]  # fmt: skip
    assert "classes: -1 and 1" in said
    assert "6 models in one round" in said
    assert "best by progressive error" in said
    assert "note: 2 combinations left out: Hinge has no second_order update" in said


def test_without_any_list_rates_are_tried(file: Path) -> None:
    said = table(file, *ROW_NORM)
    assert "learning rates: 2^-6..2^4 (no option lists several values)" in said
    assert "11 models" in said
    assert swept(file, *ROW_NORM, "--learning-rate", "0.25")["models"] == 1


def test_the_grid_of_the_paper() -> None:
    given = sweep.command.make_context("sweep", ["rows.vw", "--paper"]).params
    wanted = sweep_run.SweepOptions.from_given(given)
    spec = InputSpec("vw")
    points = sweep_run._expand(wanted, list(sweep_run._losses(wanted, spec, ["-1", "1"])))[0].points
    assert len(points) == 12 * 198
    assert {point.settings.scaling for point in points} == {"row_norm"}
    wanted = replace(wanted, axes={"update": ["invariant"]})
    assert len(sweep_run._expand(wanted, list(sweep_run._losses(wanted, spec, [])))[0].points) == 4 * 198


def test_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.vw"
    path.write_text("\n".join(f"{k % 7 / 3} | a:{k % 7} b:{k % 5}" for k in range(70)))
    found = swept(path, *ROW_NORM, *RATES)
    assert found["classes"] == 0
    assert "progressive_error" not in found["results"][0]
    two = (path, *ROW_NORM, *RATES, "--loss", "squared,quantile", "--tau", "0.3")
    assert swept(*two)["best"] is None
    assert "progressive loss" in table(*two)
    assert "held-out loss" in table(*two, "--holdout", 5)
    assert "losses of numbers cannot be compared" in refused("sweep", *two, "--save", tmp_path / "model")
    assert "its labels are numbers with fractions, not classes" in refused("sweep", path, "--loss", "hinge")


def test_all_have_diverged(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(rows(300))
    wild = (path, *ROW_NORM, "--update", "explicit", "--learning-rate", "1000,2000")
    found = swept(*wild)
    assert found["diverged"] == 2
    assert found["best"] is None
    said = table(*wild)
    assert "every model has diverged" in said
    assert said.split("\n\n")[1].splitlines()[1].split()[3:5] == ["–", "–"]


def test_files(file: Path, tmp_path: Path) -> None:
    model, output, pictures = tmp_path / "best.model", tmp_path / "all.csv", tmp_path / "pictures"
    said = table(
        file, *ROW_NORM, *RATES, "--initial-t", "1,10", "--power-t", "0.5", "--update", "explicit,invariant",
        "--save", model, "-o", output, "--pictures", pictures,
    )  # fmt: skip
    assert f"all results: {output}" in said
    with output.open() as lines:
        assert len(list(csv.DictReader(lines))) == 8
    assert sorted(path.name for path in pictures.iterdir()) == [
        "explicit-against-invariant.png", "explicit-against-invariant.svg",
        "schedules-squared.png", "schedules-squared.svg",
    ]  # fmt: skip
    assert len(run("predict", model, file).stdout.splitlines()) == 200
    assert '"progressive_loss"' in run("inspect", model, "--json").stdout
    assert swept(file, *ROW_NORM, *RATES, "--save", model, "--no-names", "--passes", 2)["model"] == str(model)


def test_classes_by_name(tmp_path: Path) -> None:
    path, model = tmp_path / "mail.csv", tmp_path / "model"
    lines = [f"{'spam' if k % 3 else 'ham'},{'buy' if k % 3 else 'hello'}" for k in range(40)]
    path.write_text("\n".join(["kind,words", *lines]))
    told = (path, *ROW_NORM, *RATES, "--label", "kind", "--loss", "hinge")
    found = swept(*told, "--save", model)
    assert found["best"]["progressive_error"] < 0.2
    assert "--label kind" in found["command"]
    assert set(run("predict", model, path, "--as", "label").stdout.split()) == {"ham", "spam"}
    assert "classes: spam and ham" in table(*told, "--labels", "spam,ham")


def test_standard_input(file: Path) -> None:
    text = file.read_bytes()
    found = swept("-", *ROW_NORM, *RATES, "--passes", 2, "--holdout", 4, stdin=text)
    assert found["results"] == swept(file, *ROW_NORM, *RATES, "--passes", 2, "--holdout", 4)["results"]
    assert "once more" in refused("sweep", "-", *ROW_NORM, "--save", "model", stdin=text)
    small = ("--memory", "66k", "--passes", 2)
    assert "larger than the memory for rows" in refused(
        "sweep", "-", *ROW_NORM, *RATES, *small, stdin=text * 20
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tau", "0.3"), "--tau: none of the losses has it"),
        (("-o", "all.txt"), "results are written as"),
        (("-o", "nowhere/all.csv"), "there is no folder 'nowhere'"),
        (("--resume", "nowhere/state"), "there is no folder 'nowhere'"),
        (("--memory", "1k"), "allow more memory"),
        (("--l2", "-1,0"), "which no combination allows"),
        (("--select", "held_out_loss"), "no 'held_out_loss' to select by"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(file: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refused("sweep", file, *ROW_NORM, *options)


def test_lines_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(rows(30) + "1 |a b:c:d\n" + rows(5))
    assert "line 31" in refused("sweep", path, *ROW_NORM)
    said = table(path, *ROW_NORM, "--on-error", "skip")
    assert "skipped 1 line that could not be read:" in said
    path.write_text("1 |a b:c:d\n")
    assert "no row is left" in refused("sweep", path, *ROW_NORM, "--on-error", "skip")


def test_rounds(file: Path) -> None:
    whole = swept(file, *ROW_NORM, "--learning-rate", "0.1:1:70", "--holdout", 5)
    cut = swept(file, *ROW_NORM, "--learning-rate", "0.1:1:70", "--holdout", 5, "--memory", "100k")
    assert cut["rounds"] > whole["rounds"] == 1
    assert cut["results"] == whole["results"]
    assert "rounds of" in table(file, *ROW_NORM, "--learning-rate", "0.1:1:70", "--memory", "100k")


def test_ctrl_c_leaves_the_state(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    given = (file, *ROW_NORM, *RATES, "--passes", 3, "--holdout", 5)
    whole = swept(*given)
    raised = iter([True, False, False, False])
    pieces = RowsInChunks.pieces

    def learned(self: Any, number: int) -> Any:
        for piece in pieces(self, number):
            yield piece
            if next(raised, False):
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(RowsInChunks, "pieces", learned)
    stopped = run("sweep", *given, "--resume", state, code=progress.INTERRUPTED)
    assert f"interrupted: the state is in {state}; the same command continues from there" in stopped.stderr
    kept = state.read_bytes()
    assert swept(*given, "--resume", state)["results"] == whole["results"]
    assert not state.exists()
    state.write_bytes(kept)
    assert f"continuing from {state}" in run("sweep", *given, "--resume", state).output
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_held_out(file: Path, tmp_path: Path) -> None:
    few = (file, *ROW_NORM, *RATES, "--holdout", 1_000_000)
    found = swept(*few)
    assert found["best"] is None
    assert all(group["best"] is None for group in found["groups"])
    assert "no row with a label and a weight was held out" in found["notes"][0]
    assert "so there is no best" in table(*few)
    assert "there is no held_out_" in refused("sweep", *few, "--save", tmp_path / "model")


def test_retold_numbers_are_short() -> None:
    shown = [retelling.shown_number(value) for value in (0.1, 4.0, 1e7, 1e-7, "hinge")]
    assert shown == ["0.1", "4", "10000000", "1e-07", "hinge"]


def test_retold_options() -> None:
    flag = click.Option(["--bias/--no-bias"])
    assert retelling.option_words(flag, True) == ["--bias"]
    assert retelling.option_words(flag, False) == ["--no-bias"]
    assert retelling.option_words(click.Option(["--text"], multiple=True), ("a", "b")) == [
        "--text",
        "a",
        "--text",
        "b",
    ]
    assert retelling.option_words(click.Option(["--characters"]), (3, 5)) == ["--characters", "3-5"]
    weights = click.Option(["--class-weight"])
    assert retelling.option_words(weights, {"a": 2.0, "b": 0.5}) == ["--class-weight", "a=2,b=0.5"]
