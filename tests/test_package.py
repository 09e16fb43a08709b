"""The package as others meet it: its public names, what importing it costs, its version."""

import json
import subprocess
import sys
from importlib import metadata

import pytest

import steelyard

HEAVY = {"jinja2", "llvmlite", "matplotlib", "numba", "numpy", "pandas", "scipy", "sklearn"}
LIGHT = ["active", "estimators", "losses", "schedules", "updates"]
COMPILED = {"llvmlite", "numba", "numpy", "scipy"}  # Numba looks for SciPy itself
NEEDS = {
    "examples": COMPILED,
    "weight_summary": {"numpy"},
    "learner": COMPILED,
    "model": COMPILED,
}


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


@pytest.mark.parametrize(("room", "needed"), NEEDS.items(), ids=list(NEEDS))
def test_a_room_brings_no_more_than_it_needs(room: str, needed: set[str]) -> None:
    assert modules_after(f"import steelyard; steelyard.{room}") & HEAVY <= needed


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
assert "steelyard.cli.demo" not in sys.modules
"""
    assert not modules_after(code) & (HEAVY | {"rich"})


def test_the_script_is_installed() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="steelyard")
    assert script.load() is steelyard.cli.main


def test_version_is_that_of_the_installed_package() -> None:
    assert metadata.version("steelyard") == steelyard.__version__
