"""A user's own loss, from a file in the current folder; and what a command says where something fails."""

import errno
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from steelyard.cli import options
from tests.cli.running import refused, run, stored, trained, without_record

SOURCE = '''
from dataclasses import dataclass
from steelyard.losses import Loss
from steelyard.losses import PLUS_MINUS_ONE

@dataclass(frozen=True)
class Halved(Loss):
    """Half of the squared loss, in units of tau."""
    tau: float = 1.0
    labels = PLUS_MINUS_ONE

    def value(self, p, y):
        return 0.25 * (p - y) ** 2 / self.tau

    def derivative(self, p, y):
        return 0.5 * (p - y) / self.tau

@dataclass(frozen=True)
class Plain(Loss):
    def value(self, p, y):
        return 0.5 * (p - y) ** 2

    def derivative(self, p, y):
        return p - y

@dataclass(frozen=True)
class Wordy(Loss):
    word: str = "no"

    def value(self, p, y):
        return p

    def derivative(self, p, y):
        return 1.0

not_a_loss = 3
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_losses.py").write_text(SOURCE)
    (tmp_path / "broken_losses.py").write_text("1 / 0\n")
    before = list(sys.path)
    yield
    assert sys.path == before
    sys.modules.pop("own_losses", None)


def test_train_and_use(file: Path, tmp_path: Path) -> None:
    found = trained(file, "--loss", "own_losses:Halved", "--tau", 2.5, "-o", "m")
    assert found["progressive_loss"] > 0.0
    assert stored(Path("m"), options.own_loss("own_losses:Halved")).model.settings.loss.tau == 2.5  # type: ignore[attr-defined]
    said = refused("predict", "m", file)
    assert "trained with the loss Halved(tau=2.5); give it" in said
    assert "--loss module:Class" in said
    assert "give it" in refused("predict", "m", file, "--loss", "own_losses:Plain")
    assert run("predict", "m", file, "--loss", "own_losses:Halved").stdout.count("\n") == 200
    assert (
        "loss                   Halved, tau 2.5" in run("inspect", "m", "--loss", "own_losses:Halved").stdout
    )
    whole = trained(file, file, "--loss", "own_losses:Halved", "--tau", 2.5, "-o", "whole")
    then = trained(file, "--resume", "m", "-o", "then", "--loss", "own_losses:Halved")
    assert then["progressive_loss"] == whole["progressive_loss"]
    assert without_record(Path("then")) == without_record(Path("whole"))
    assert "loss: Halved\n" in run("train", file, "--loss", "own_losses:Halved").stdout


def test_it_is_the_loss_that_it_says(file: Path) -> None:
    mine, ours = (
        trained(file, "--loss", loss, "--learning-rate", 0.5) for loss in ("own_losses:Plain", "squared")
    )
    assert mine["progressive_loss"] == pytest.approx(ours["progressive_loss"], rel=1e-6)
    assert mine["best_constant"] == pytest.approx(ours["best_constant"])


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("none:Class", "No module named 'none'"),
        ("own_losses:None_", "has no attribute 'None_'"),
        ("own_losses:not_a_loss", "not a subclass of steelyard.losses.Loss"),
        ("broken_losses:Class", "ZeroDivisionError: division by zero"),
        (":Class", "Empty module name"),
    ],
)
def test_what_is_no_loss(file: Path, name: str, what: str) -> None:
    result = run("train", file, "--loss", name, code=2)
    assert what in " ".join(result.stderr.split())


def test_parameters_that_it_does_not_have(file: Path) -> None:
    result = run("train", file, "--loss", "own_losses:Plain", "--tau", 1, code=2)
    assert "unexpected keyword argument 'tau'" in " ".join(result.stderr.split())


def test_a_loss_that_cannot_be_compiled(file: Path) -> None:
    assert "has word='no': it must be a number" in refused("train", file, "--loss", "own_losses:Wordy")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("wrong"), "wrong"),
        (FloatingPointError("beyond"), "beyond"),
        (OSError(errno.ENOSPC, "No space left on device", "m"), "m: No space left on device"),
        (OSError("odd"), "odd"),
        (MemoryError("8 GiB"), "not enough memory (8 GiB); fewer --bits need less"),
    ],
)
def test_errors_in_a_line(error: Exception, said: str) -> None:
    with pytest.raises(click.ClickException) as caught, options.errors():
        raise error
    assert caught.value.message == said


def test_other_errors_are_not_hidden() -> None:
    for kind in (BrokenPipeError, KeyError, TypeError, KeyboardInterrupt):
        with pytest.raises(kind), options.errors():
            raise kind
