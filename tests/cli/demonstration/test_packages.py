"""Which packages and files are looked at, and which names give them away."""

import sys
from pathlib import Path

import pytest

from steelyard.cli.demonstration import packages
from steelyard.cli.demonstration.packages import Package


def put(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.fixture
def found(tmp_path: Path) -> dict[str, Package]:
    lib, site, second = tmp_path / "lib", tmp_path / "lib/site-packages", tmp_path / "dist-packages"
    put(lib / "os.py", lib / "email/parser.py", lib / "test/test_os.py", lib / "idlelib/run.py")
    put(site / "b/sub/deep/x.py", site / "b/a.py", site / "b/tests/t.py", site / "b/test_b.py")
    put(site / "b/_vendor/a/y.py", site / "b/data.txt", site / "b/conftest.py")
    put(site / "b-1.0.dist-info/z.py", site / "single.py", site / "empty/readme.txt", site / "tests/t.py")
    put(second / "b/late.py", second / "c/only.py")
    return {package.name: package for package in packages.found(lib, [site, tmp_path / "missing", second])}


def test_folders_with_modules_are_packages(found: dict[str, Package]) -> None:
    assert list(found) == ["b", "c", "python"]


def test_files_are_found_at_any_depth_but_neither_tests_nor_copies_of_others(
    found: dict[str, Package], tmp_path: Path
) -> None:
    names = {name: [file.name for file in package.files] for name, package in found.items()}
    assert names == {"b": ["a.py", "x.py"], "c": ["only.py"], "python": ["os.py", "parser.py"]}


def test_this_python_has_its_standard_library_and_what_steelyard_needs() -> None:
    found = {package.name: package for package in packages.installed()}
    assert {"python", "numpy", "sklearn", "numba"} <= set(found)
    assert "numpy" not in {name for name in found if not found[name].files}
    assert not any("site-packages" in file.parts for file in found["python"].files)


def test_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site-packages"
    put(site / "bomb/__init__.py")
    (site / "bomb/__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(site))
    assert "bomb" in {package.name for package in packages.installed()}
    assert "bomb" not in sys.modules


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see sklearn.svm", "see .svm"),
        ("Scikit-learn and scikit_learn, scikit learn", " and , "),
        ("sklearnish scikit", "sklearnish scikit"),
        ("use_sklearn_here", "use__here"),
        ("_pytest and pytest", "_ and "),
        ("python stays", "python stays"),
    ],
)
def test_names_give_the_answer_away(text: str, left: str) -> None:
    known = [Package("sklearn", ()), Package("python", ()), Package("_pytest", ())]
    pattern = packages.telltales(known, {"sklearn": ["scikit-learn"]})
    assert pattern.sub("", text) == left


def test_no_packages_no_names() -> None:
    assert packages.telltales([], {}).sub("", "any text") == "any text"


def test_names_of_distributions_are_looked_up() -> None:
    assert packages.telltales([Package("sklearn", ())]).sub("", "scikit-learn") == ""
