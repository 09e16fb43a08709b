"""Going on from a model or a checkpoint is as if never stopped, bit for bit."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from steelyard import _array_writer, losses, model_file
from steelyard.cli import resuming as checkpoints_of_train
from tests.cli.running import PLAIN, blocks_of, refused, rows, run, trained


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "one.vw", tmp_path / "two.vw"]
    for seed, path in enumerate(paths):
        path.write_text(rows(150, seed, weights=True))
    return paths


@pytest.mark.parametrize(
    "options",
    [(), PLAIN, ("--loss", "hinge", "--l1", "1e-3", "--l2", "1e-3"), ("--interactions", "a*b", "--bits", "6"),
     ("--update", "explicit", "--power-t", "0.5"), ("--no-names", "--no-bias", "--loss", "logarithmic")],
)  # fmt: skip
def test_two_files_one_after_the_other(two: list[Path], tmp_path: Path, options: tuple[str, ...]) -> None:
    together, first, then = (tmp_path / name for name in ("together", "first", "then"))
    whole = trained(*two, *options, "-o", together)
    trained(two[0], *options, "-o", first)
    found = trained(two[1], "--resume", first, "-o", then)
    assert then.read_bytes() == together.read_bytes()
    assert found["progressive_loss"] == whole["progressive_loss"]
    assert found["examples"] == 150
    trained(two[1], "--resume", first, "-o", first)
    assert first.read_bytes() == together.read_bytes()


def test_it_says_from_where(two: list[Path], tmp_path: Path) -> None:
    run("train", two[0], "-o", tmp_path / "m", "--average", 0)
    said = run("train", two[1], "--resume", tmp_path / "m").stdout
    assert f"resuming {tmp_path}/m after a total weight of " in said
    average, since, number = map(float, said.splitlines()[4].split()[:3])
    assert number == 1.0
    prediction = float(run("predict", tmp_path / "m", two[1]).stdout.split()[0])
    label = float(two[1].read_text().split()[0])
    assert since == pytest.approx(losses.by_name("modified_huber").value(prediction, label), abs=1e-5)
    assert average != since


def test_the_summary_tells_this_run_from_all(two: list[Path], tmp_path: Path) -> None:
    first = trained(two[0], "-o", tmp_path / "m")
    on = trained(two[1], "--resume", tmp_path / "m")
    assert on["resumed"]
    assert on["run_weight"] == pytest.approx(on["weight"] - first["weight"])
    total = on["progressive_loss"] * on["weight"]
    assert on["run_progressive_loss"] * on["run_weight"] == pytest.approx(
        total - first["progressive_loss"] * first["weight"]
    )
    said = run("train", two[1], "--resume", tmp_path / "m").stdout
    assert "examples               150 in this run\n" in said
    assert f"weight                 {on['run_weight']:,.6g} in this run, {on['weight']:,.6g} in all\n" in said
    run_loss, loss = (f"{on[key]:.6f}" for key in ("run_progressive_loss", "progressive_loss"))
    assert f"average loss           {run_loss} in this run, {loss} in all\n" in said


def test_a_run_of_no_weight_has_no_loss(two: list[Path], tmp_path: Path) -> None:
    trained(two[0], "-o", tmp_path / "m")
    (tmp_path / "none.vw").write_text("|a w1\n1 0 |a w1\n")
    on = trained(tmp_path / "none.vw", "--resume", tmp_path / "m")
    assert (on["run_weight"], on["run_progressive_loss"]) == (0.0, None)


def test_a_checkpoint_knows_where_its_run_began(
    two: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that goes on from a model, is cut short, and goes on."""
    trained(two[0], "-o", tmp_path / "m")
    whole = trained(two[1], "--resume", tmp_path / "m")
    blocks_of(500, monkeypatch)
    with monkeypatch.context() as patched:
        save = model_file.save

        def stop(path: Path, *rest: Any) -> None:
            save(path, *rest)
            raise StoppedError

        patched.setattr(model_file, "save", stop)
        with pytest.raises(StoppedError):
            run("train", two[1], "--resume", tmp_path / "m", "-o", tmp_path / "n", "--checkpoint-every", 30)
    found = trained(two[1], "--resume", tmp_path / "n.checkpoint")
    for key in ("examples", "weight", "run_weight", "progressive_loss", "run_progressive_loss"):
        assert found[key] == pytest.approx(whole[key]), key


def test_who_interrupts_is_told_what_is_kept(
    two: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(500, monkeypatch)
    checkpoint, after_piece = tmp_path / "m.checkpoint", checkpoints_of_train.Checkpoints.after_piece
    interrupted = "train", *two, "-o", tmp_path / "m", "--checkpoint-every", 30

    def interrupt(checkpoints: Any, learned: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints_of_train.Checkpoints, "after_piece", interrupt)
    assert run(*interrupted, code=1).stderr.split() == ["Aborted!"]

    def interrupt_later(checkpoints: Any, learned: Any) -> None:
        after_piece(checkpoints, learned)
        if checkpoint.exists():
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints_of_train.Checkpoints, "after_piece", interrupt_later)
    said = f"interrupted: --resume {checkpoint} continues from its last checkpoint\n"
    assert run(*interrupted, code=1).stderr.startswith(said)


class StoppedError(Exception):
    """As if the power had failed."""


@pytest.mark.no_cover
@pytest.mark.parametrize("size", [1, 500, 3000])
@pytest.mark.parametrize("when", [0, 4, 11])
def test_a_checkpoint(
    two: list[Path], tmp_path: Path, size: int, when: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run that is cut short right after it was written, in whichever pass."""
    options = ("--passes", 3, "--holdout", 7, "--bits", 10)
    whole = trained(*two, *options, "-o", tmp_path / "whole")
    blocks_of(size, monkeypatch)
    written = []
    save = model_file.save

    def stop(path: Path, *rest: Any) -> None:
        save(path, *rest)
        written.append(path)
        if len(written) > when:
            raise StoppedError

    output = tmp_path / "m"
    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", stop)
        with pytest.raises(StoppedError):
            run("train", *two, *options, "-o", output, "--checkpoint-every", 45)
    assert not output.exists()
    checkpoint = tmp_path / "m.checkpoint"
    assert run("inspect", checkpoint).stdout.count("(a checkpoint, not finished)") == 1
    said = run("train", *two, "--resume", checkpoint, "-o", output).stdout
    assert f"resuming {checkpoint} after " in said
    assert not checkpoint.exists()
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()
    found = _again(two, whole, tmp_path, monkeypatch, options, when, stop, written)
    for key in ("examples", "learned", "weight", "progressive_loss", "best_constant", "names", "passes"):
        assert found[key] == whole[key], key
    for key in ("held_out_loss", "effective_sample_size", "best_constant_loss"):
        assert found[key] == pytest.approx(whole[key], rel=1e-12), key


def _again(
    two: list[Path], whole: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, when: int,
    stop: Any, written: list[Path],
) -> dict[str, Any]:  # fmt: skip
    """The same once more, for what is said as JSON."""
    written.clear()
    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", stop)
        with pytest.raises(StoppedError):
            run("train", *two, *options, "-o", tmp_path / "m", "--checkpoint-every", 45)
    return trained(*two, "--resume", tmp_path / "m.checkpoint")


def test_a_checkpoint_goes_when_the_run_is_through(
    two: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(500, monkeypatch)
    names = []
    save = model_file.save

    def watched(path: Path, *rest: Any) -> None:
        names.append(path.name)
        save(path, *rest)

    monkeypatch.setattr(model_file, "save", watched)
    run("train", *two, "-o", tmp_path / "m", "--checkpoint-every", 100)
    assert names == ["m.checkpoint", "m.checkpoint", "m"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "one.vw", "two.vw"]


@pytest.fixture
def checkpoint(two: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save = model_file.save

    def stop(path: Path, *rest: Any) -> None:
        save(path, *rest)
        raise StoppedError

    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", stop)
        with pytest.raises(StoppedError):
            run("train", *two, "-o", tmp_path / "m", "--checkpoint-every", 1, "--passes", 2)
    return tmp_path / "m.checkpoint"


def test_a_checkpoint_is_of_its_files_and_its_run(two: list[Path], checkpoint: Path, tmp_path: Path) -> None:
    said = refused("train", *two, "--resume", checkpoint, "--power-t", 1)
    assert said.endswith("is the checkpoint of a run, which keeps its settings: leave out --power-t")
    said = refused("train", two[0], "--resume", checkpoint)
    assert said == (f"{checkpoint} is the checkpoint of a run over {two[0]} {two[1]}: name the same files")
    said = refused("train", *two, "--resume", checkpoint, "--passes", 5)
    assert (
        said
        == f"{checkpoint} is the checkpoint of a run with --passes 2, and cannot continue with --passes 5"
    )
    assert "run without --holdout" in refused("train", *two, "--resume", checkpoint, "--holdout", 5)
    assert trained(*two, "--resume", checkpoint, "--passes", 2)["passes"] == 2


@pytest.mark.parametrize(
    "options",
    [("--loss", "hinge"), ("--bits", "9"), ("--l1", "0"), ("--ngram", "2"), ("--classes",), ("--no-bias",),
     ("--interactions", "a*b"), ("--labels", "0,1"), ("--format", "vw"), ("--dtype", "float32"),
     ("--tau", "0.5"), ("--no-names",), ("--words", "1"), ("--label", "y"), ("--update", "invariant")],
)  # fmt: skip
def test_settings_are_those_of_the_model(file: Path, model: Path, options: tuple[str, ...]) -> None:
    said = refused("train", file, "--resume", model, *options)
    name = options[0].replace("--no-", "--")
    assert said == f"--resume keeps the settings of {model}: leave out {name}"


def test_what_is_no_model(file: Path, tmp_path: Path) -> None:
    assert "there is no such file" in refused("train", file, "--resume", tmp_path / "none")
    assert "not a model file, or a damaged one" in refused("train", file, "--resume", file)


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_a_full_disk_leaves_the_old_model(
    file: Path, model: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = model.read_bytes()

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if failing == "write":
        monkeypatch.setattr(_array_writer, "write", full)
    else:
        monkeypatch.setattr(os, "fsync", full)
    assert refused("train", file, "--resume", model, "-o", model) == f"{model}: No space left on device"
    assert model.read_bytes() == before
    assert sorted(path.name for path in model.parent.iterdir()) == ["rows.model", "rows.vw"]


def test_devices_are_written_to_and_stay(file: Path) -> None:
    trained(file, "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    "text",
    ["1e300 |a b\n-1e300 |a c\n1 |a b\n", "1 1 1e300 |a b\n2 |a b\n3 |a c\n", "1 1e308 |a b\n0 1e308 |a c\n"],
)
@pytest.mark.parametrize("every", [(), ("--checkpoint-every", 1)])
def test_a_model_beyond_all_numbers_is_not_kept(tmp_path: Path, text: str, every: tuple[object, ...]) -> None:
    path = tmp_path / "large.vw"
    path.write_text(text)
    said = refused("train", path, "--loss", "squared", "--scaling", "plain", "-o", tmp_path / "m", *every)
    assert "would leave the range of float32" in said
    assert list(tmp_path.iterdir()) == [path]


def test_another_learning_rate(file: Path, model: Path, tmp_path: Path) -> None:
    slow, fast = tmp_path / "slow.model", tmp_path / "fast.model"
    said = run("train", file, "--resume", model, "--learning-rate", "1e-30", "-o", slow).stdout
    assert "\nlearning rate 1e-30, power_t 0, initial_t 1\n" in said
    assert run("predict", slow, file).stdout == run("predict", model, file).stdout
    run("train", file, "--resume", model, "--learning-rate", "2", "--power-t", "0.5", "-o", fast)
    assert run("predict", fast, file).stdout != run("predict", model, file).stdout
    assert "learning rate          2, initial_t 1, power_t 0.5" in run("inspect", fast).stdout


def test_rates_that_cannot_change(file: Path, model: Path, tmp_path: Path) -> None:
    auto = tmp_path / "auto.model"
    run("train", file, "--learning-rate", "auto", "--bits", "12", "-o", auto)
    wanted = "--learning-rate auto is for a new model"
    assert wanted in refused("train", file, "--resume", auto, "--learning-rate", "1")
    assert wanted in refused("train", file, "--resume", model, "--learning-rate", "auto")


def test_a_class_that_the_model_does_not_know(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("y,x\n" + "a,1\nb,2\nc,3\n" * 5)
    run("train", table, *PLAIN, "-o", tmp_path / "m")
    table.write_text("y,x\na,1\nd,2\n")
    said = refused("train", table, "--resume", tmp_path / "m", "-o", tmp_path / "n")
    assert "the label 'd' is none of the 3 classes a, b, c; a model keeps the classes it began with" in said
    said = refused("evaluate", tmp_path / "m", table)
    assert "a model keeps the classes it began with: train a new one" in said
    assert "--on-error skip leaves such lines out" in said
