"""Every check can fail: each is run over a copy of the package with something wrong in it."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("src", "paper"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def add(copy: Path, file: str, line: str) -> None:
    """Add a line to a file of the copied package; make the file, and its folder a package, if need be."""
    path = copy / "src/steelyard" / file
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    with path.open("a") as stream:
        stream.write(f"\n{line}\n")


def lint_imports(copy: Path) -> subprocess.CompletedProcess[str]:
    """What `lint-imports` says about the copy, which PYTHONPATH puts before the installed package."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return run(copy, "-c", code, "--no-logo", "--no-cache")


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env={"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"},
        capture_output=True,
        text=True,
        check=False,
    )


GOOD = [
    ("updates.py", "import numpy"),
    ("native/jit.py", "import numba.core"),
    ("learn/__init__.py", "import numba"),
    ("estimators/online.py", "from sklearn.base import BaseEstimator"),
    ("learner.py", "import steelyard.native.jit"),
    ("sweep/grid.py", "from steelyard import learner"),
]
BAD = [
    ("losses/squared.py", "import steelyard.updates", "Rooms import downwards only"),
    ("updates.py", "from steelyard import schedules", "Rooms import downwards only"),
    ("schedules.py", "import steelyard.cli", "Rooms import downwards only"),
    ("model.py", "import steelyard.io.stream", "Rooms import downwards only"),
    ("learn/linear.py", "from steelyard.examples import Examples", "Rooms import downwards only"),
    ("attic.py", "", "Rooms import downwards only"),
    ("updates.py", "from numba import njit", "Numba lives in learn, text and native only"),
    ("cli/commands/demo.py", "import llvmlite", "Numba lives in learn, text and native only"),
    ("learner.py", "import numba.core", "Numba lives in learn, text and native only"),
    ("cli/commands/demo.py", "from sklearn.base import clone", "scikit-learn lives in estimators only"),
    ("learner.py", "def fit():\n    import sklearn", "scikit-learn lives in estimators only"),
    ("losses/numeric.py", "import numpy as np", "Losses are plain Python, without NumPy"),
    ("losses/special.py", "from scipy.special import lambertw", "Losses are plain Python, without NumPy"),
    (
        "predictor/tokens.py",
        "from scipy.special import lambertw",
        "The predictor needs NumPy and nothing else",
    ),
    ("../../paper/data.py", "import steelyard.io", "The paper's experiments use what everybody may use"),
]


def test_contracts_hold_as_rooms_are_built(copy: Path) -> None:
    for file, line in GOOD:
        add(copy, file, line)
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout
    assert "6 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(("file", "line", "contract"), BAD)
def test_a_bad_import_breaks_its_contract(copy: Path, file: str, line: str, contract: str) -> None:
    for good in ("io/stream.py", "examples.py"):
        add(copy, good, "")
    add(copy, file, line)
    done = lint_imports(copy)
    assert done.returncode == 1, done.stdout
    assert f"{contract} BROKEN" in done.stdout
    assert "5 kept, 1 broken" in done.stdout


def test_ruff_can_fail(copy: Path) -> None:
    assert run(copy, "-m", "ruff", "check", "--no-cache").returncode == 0
    add(copy, "updates.py", "import os")
    done = run(copy, "-m", "ruff", "check", "--no-cache")
    assert done.returncode == 1
    assert "F401" in done.stdout


def test_ruff_format_can_fail(copy: Path) -> None:
    add(copy, "updates.py", "a  =  1")
    assert run(copy, "-m", "ruff", "format", "--check", "--no-cache").returncode == 1


def test_mypy_can_fail(copy: Path) -> None:
    add(copy, "updates.py", "def f(x):\n    return x")
    done = run(copy, "-m", "mypy", "src/steelyard/updates.py", "--cache-dir", "/dev/null")
    assert done.returncode == 1
    assert "[no-untyped-def]" in done.stdout


def test_a_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="careless"):
        warnings.warn("careless", stacklevel=1)


def test_a_missed_branch_fails_the_coverage(copy: Path) -> None:
    shutil.rmtree(copy / "src/steelyard")
    add(copy, "__init__.py", "def f(x: bool) -> int:\n    if x:\n        return 1\n    return 0")
    (copy / "tests").mkdir()
    test = copy / "tests/test_f.py"
    for calls, returncode in (("f(True)", 1), ("f(True) + f(False)", 0)):
        test.write_text(f"from steelyard import f\n\ndef test_f():\n    assert {calls}\n")
        done = run(copy, "-m", "pytest", "--cov", "-p", "no:cacheprovider", "tests")
        assert done.returncode == returncode, done.stdout
