"""The package as others meet it: its public names, what importing it costs, its version."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import steelyard

HEAVY = {"jinja2", "llvmlite", "matplotlib", "numba", "numpy", "pandas", "scipy", "sklearn"}
LIGHT = ["active", "estimators", "losses", "schedules", "updates"]
NEEDS = ["examples", "weight_summary", "learner", "model"]


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running this code."""
    code += "\nimport json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_public_surface() -> None:
    estimators = ["ActiveClassifier", "DistributedClassifier", "OnlineClassifier", "OnlineRegressor", "Sweep"]
    classes = [
        *estimators,
        "AbsentColumnsWarning",
        "JoinedLabelsWarning",
        "LargeModelWarning",
        "Learner",
        "RowOrderWarning",
        "Settings",
        "WeightWarning",
    ]
    rooms = [*LIGHT, *NEEDS]
    assert sorted(steelyard.__all__) == sorted([*classes, "__version__", *rooms])
    assert dir(steelyard) == sorted(steelyard.__all__)
    for name in steelyard.__all__:
        assert getattr(steelyard, name) is not None
    assert steelyard.OnlineClassifier is steelyard.estimators.OnlineClassifier
    assert dir(steelyard.estimators) == estimators


@pytest.mark.parametrize("room", LIGHT)
def test_a_room_is_imported_when_it_is_asked_for(room: str) -> None:
    code = f"import sys, steelyard; assert steelyard.{room} is sys.modules['steelyard.{room}']"
    assert not modules_after(code) & HEAVY


@pytest.mark.parametrize("room", NEEDS)
def test_a_room_brings_no_more_than_it_needs(room: str) -> None:
    assert modules_after(f"import steelyard; steelyard.{room}") & HEAVY <= {"numpy"}


@pytest.mark.parametrize("name", ["steelyard", "steelyard.estimators"])
def test_the_estimators_are_loaded_by_name(name: str) -> None:
    assert not modules_after(f"import {name}") & HEAVY
    assert "sklearn" in modules_after(f"import {name}; {name}.OnlineRegressor")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'steelyard' has no attribute 'weights'"):
        _ = steelyard.weights
    with pytest.raises(AttributeError, match=r"'steelyard\.estimators' has no attribute 'Offline'"):
        _ = steelyard.estimators.Offline


def test_importing_the_package_imports_no_room() -> None:
    code = "import sys, steelyard; assert not [name for name in sys.modules if name.startswith('steelyard.')]"
    assert not modules_after(code) & HEAVY


def test_help_imports_nothing_heavy_and_no_command() -> None:
    code = """
import sys
from steelyard.cli import main
main(["--help"], standalone_mode=False)
assert "steelyard.cli.commands.demo" not in sys.modules
"""
    assert not modules_after(code) & (HEAVY | {"rich"})


def test_the_script_is_installed() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="steelyard")
    assert script.load() is steelyard.cli.main


def test_version_is_that_of_the_installed_package() -> None:
    assert metadata.version("steelyard") == steelyard.__version__


def test_commands_need_neither_a_compiler_nor_scikit_learn(tmp_path: Path) -> None:
    """Whoever trains or predicts waits for none of them; nor for SciPy, whose import takes longer than a command."""
    rows = "".join(f"{'no' if k % 3 else 'yes'},{k % 7},word{k % 5} two\n" for k in range(60))
    (tmp_path / "rows.csv").write_text("label,number,text\n" + rows)
    commands = [
        ["train", "rows.csv", "-o", "m"],
        ["train", "rows.csv", "-o", "auto", "--learning-rate", "auto"],
        ["predict", "m", "rows.csv", "-o", "scored.csv"],
        ["evaluate", "m", "rows.csv"],
        ["filter", "m", "rows.csv", "-o", "kept", "--keep", "p[yes] >= 0.5"],
        ["inspect", "m"],
        ["explain", "m", "rows.csv"],
    ]
    for arguments in commands:
        code = f"import os; os.chdir({str(tmp_path)!r})\n"
        code += f"from steelyard.cli import main; main({arguments!r}, standalone_mode=False)"
        modules = modules_after(code)
        assert "numpy" in modules, arguments
        assert not modules & (HEAVY - {"numpy"}), arguments
