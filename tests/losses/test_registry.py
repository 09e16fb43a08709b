"""Finding losses by name, and adding one by dropping in a file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard
from steelyard import losses
from steelyard.losses import PLUS_MINUS_ONE, REAL_LINE, UNIT_INTERVAL
from tests.losses import laws

ROOT = Path(__file__).parents[2]

TOY = '''
"""A toy."""

from dataclasses import dataclass

from steelyard.losses import Loss


@dataclass(frozen=True)
class ToyHuber(Loss):
    """Numeric flow, one parameter."""

    width: float = 2.0

    def value(self, p, y):
        gap = abs(p - y)
        return 0.5 * gap * gap if gap < self.width else self.width * (gap - 0.5 * self.width)

    def derivative(self, p, y):
        return max(-self.width, min(self.width, p - y))
'''


def test_names_are_the_files() -> None:
    folder = Path(losses.__file__).parent
    assert losses.names() == sorted(file.stem for file in folder.glob("[!_]*.py"))


def test_by_name() -> None:
    assert losses.by_name("quantile", tau=0.9) == losses.Quantile(tau=0.9)
    assert losses.by_name("squared") == losses.Squared()
    assert losses.parameters("quantile") == {"tau": 0.5}
    assert losses.parameters("hinge") == {}
    assert losses.name_of(losses.TanhLogarithmic()) == "tanh_logarithmic"


def test_a_users_class_has_no_registered_name() -> None:
    class Hinge(losses.Loss):
        pass

    assert losses.name_of(Hinge()) is None


def test_errors_list_what_exists() -> None:
    with pytest.raises(
        ValueError, match=r"no loss 'sqared'; the losses are exponential, hellinger, .*tanh_logarithmic"
    ):
        losses.by_name("sqared")
    with pytest.raises(ValueError, match="'quantile' has no parameter 'alpha'; its parameters are tau"):
        losses.by_name("quantile", alpha=0.1)
    with pytest.raises(ValueError, match="'squared' has no parameter 'tau'; it has no parameters"):
        losses.by_name("squared", tau=0.1)
    with pytest.raises(ValueError, match=r"it belongs to a loss, loss=losses\.by_name\('quantile', tau=…\)"):
        losses.by_name("squared", tau=0.5)
    with pytest.raises(ValueError, match=r"'squared' has no parameter 'nu'; it has no parameters$"):
        losses.by_name("squared", nu=0.5)
    for tau in (0.0, 1.0, -3.0, float("nan")):
        with pytest.raises(ValueError, match=f"tau must lie between 0 and 1, exclusive; got {tau}"):
            losses.by_name("quantile", tau=tau)
    with pytest.raises(AttributeError, match="no attribute 'Squarred'"):
        losses.Squarred  # noqa: B018


def test_classes_are_attributes() -> None:
    assert "Hellinger" in dir(losses)


def test_label_sets() -> None:
    assert str(losses.Hinge().labels) == "-1 or 1"
    assert str(REAL_LINE) == "any finite number"
    assert str(UNIT_INTERVAL) == "a number between 0 and 1"
    assert 0.5 in UNIT_INTERVAL
    assert 1.0 not in UNIT_INTERVAL
    assert -1.0 in PLUS_MINUS_ONE
    assert 0.0 not in PLUS_MINUS_ONE
    assert float("inf") not in REAL_LINE


@pytest.mark.parametrize("name", losses.names())
def test_kink_conventions(name: str) -> None:
    """Where a loss has a kink, the slope at the kink itself is 0 and the flow rests there."""
    loss = losses.by_name(name)
    edges = [(1.0 - 1e-6, 1.0), (1e-6, 0.0)]
    kinks = {
        "hinge": [(1.0, 1.0), (-1.0, -1.0)],
        "quantile": [(2.5, 2.5)],
        "logarithmic": edges,
        "hellinger": edges,
    }
    for p, y in kinks.get(name, []):
        assert loss.derivative(p, y) == loss.flow(p, y, 3.0) == loss.implicit(p, y, 3.0) == 0.0


@pytest.mark.no_cover
def test_a_loss_in_one_new_file_is_found_and_put_under_every_law(tmp_path: Path) -> None:
    shutil.copytree(Path(steelyard.__file__).parent, tmp_path / "steelyard")
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    (tmp_path / "steelyard/losses/toy_huber.py").write_text(TOY)
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        str(tmp_path),
    ]
    result = subprocess.run(
        [*run, "tests/losses/test_laws.py", "-k", "ToyHuber and not length"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert f"{len(laws.ALL)} passed" in result.stdout, result.stdout
