"""Choosing versions and interpreters for `make test-versions`, without installing anything."""

import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support import versions
from tests.support.versions import Result, admitted, find_interpreter, report


def test_the_oldest_admitted_version_comes_first() -> None:
    available = ["0.70.0", "0.68.1", "0.62.0", "0.61.2", "0.61.0", "0.9.0"]
    assert admitted(Requirement("numba>=0.61,<0.69"), available) == ["0.61.0", "0.61.2", "0.62.0", "0.68.1"]


def test_all_have_a_lower_bound() -> None:
    requirements = {each.name: each.specifier for each in versions.read_requirements()}
    for name, bounds in requirements.items():
        assert any(bound.operator == ">=" for bound in bounds), name


def test_an_interpreter_must_be_of_the_version_it_is_named_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("HOME", str(tmp_path))
    own, other = f"3.{sys.version_info.minor}", f"3.{sys.version_info.minor + 1}"
    for version in (own, other):
        (tmp_path / f"python{version}").symlink_to(sys.executable)
    assert find_interpreter(own) == tmp_path / f"python{own}"
    assert find_interpreter(other) is None


def test_the_report_names_what_failed_and_what_was_absent() -> None:
    results = [
        Result("3.11", "oldest", "numba==0.61.0", "9 passed", True),
        Result("3.11", "newest", "numba==0.68.1", "1 failed", False),
    ]
    assert list(report(results, ["3.14"])) == [
        "passed  Python 3.11 oldest: 9 passed",
        "FAILED  Python 3.11 newest: 1 failed",
        "absent  Python 3.14: no interpreter on PATH, nor in the folders of pyenv or uv",
    ]
