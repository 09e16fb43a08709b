"""Which packages and files are read, what is left of their docstrings, and what is held out."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from steelyard.demo import docstrings
from steelyard.demo.docstrings import SourcePackage
from steelyard.io.errors import InputError
from tests.demo import installation

NOTHING = re.compile("(?!)")


def read(path: Path, source: bytes) -> list[str]:
    path.write_bytes(source)
    return docstrings.read_docstrings(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.py"


def test_modules_classes_and_functions_at_any_depth(file: Path) -> None:
    source = b'''"""Module."""
class A:
    """Class."""
    x = "no docstring"
    def f(self):
        """Method."""
        async def g():
            """Inner."""
def bare(): return "no docstring"
'''
    assert read(file, source) == ["Module.", "Class.", "Method.", "Inner."]


@pytest.mark.parametrize(
    "source",
    [
        b"def broken(:\n    '''text'''",
        b"print 'Python 2'\n",
        b"'''caf\xe9'''\n",
        b"# -*- coding: no-such-encoding -*-\n'''text'''\n",
        b"'''null \x00 byte'''\n",
        b"\xff\xfe\x00",
        b"x = " + b"(" * 5000 + b")" * 5000,
        b"'''large'''\n" + b"#" * (1 << 20),
        b"",
    ],
)
def test_a_file_that_cannot_be_read_has_none(file: Path, source: bytes) -> None:
    assert read(file, source) == []


def test_a_folder_or_missing_file_has_none(tmp_path: Path) -> None:
    assert docstrings.read_docstrings(tmp_path) == docstrings.read_docstrings(tmp_path / "missing.py") == []


def test_other_encodings_are_read_as_they_say(file: Path) -> None:
    assert read(file, b"# -*- coding: latin-1 -*-\n'''caf\xe9'''\n") == ["café"]
    assert read(file, b"\xef\xbb\xbf'''caf\xc3\xa9'''\n") == ["café"]


def test_bad_escapes_of_others_are_no_warning_of_ours(file: Path) -> None:
    assert read(file, rb"'''\d is a digit'''" + b"\n") == [r"\d is a digit"]


def test_a_docstring_becomes_a_line_without_examples_and_names() -> None:
    docstring = """Return the\tfirst value.

    .. versionadded:: 1.2
    >>> bad.first()
    ... 1
    Of  BAD things.
    """
    cleaned = docstrings.clean(docstring, re.compile("(?i)bad"))
    assert cleaned == "Return the first value. Of things."


def test_what_cannot_be_printed_is_a_blank() -> None:
    assert docstrings.clean("one\x07two \ud800 three\u2028four", NOTHING) == "one two three four"


def test_only_the_beginning_counts() -> None:
    cleaned = docstrings.clean("word " * 1000, NOTHING)
    assert cleaned is not None
    assert len(cleaned.split()) == docstrings.MAX_WORDS


@pytest.mark.parametrize("text", ["", "Too short.", "--- --- --- --- ---", "1 2 3 4 five"])
def test_hardly_anything_is_nothing(text: str) -> None:
    assert docstrings.clean(text, NOTHING) is None


def put(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.fixture
def found(tmp_path: Path) -> dict[str, SourcePackage]:
    lib, site, second = tmp_path / "lib", tmp_path / "lib/site-packages", tmp_path / "dist-packages"
    put(lib / "os.py", lib / "email/parser.py", lib / "test/test_os.py", lib / "idlelib/run.py")
    put(site / "b/sub/deep/x.py", site / "b/a.py", site / "b/tests/t.py", site / "b/test_b.py")
    put(site / "b/_vendor/a/y.py", site / "b/data.txt", site / "b/conftest.py")
    put(site / "b-1.0.dist-info/z.py", site / "single.py", site / "empty/readme.txt", site / "tests/t.py")
    put(second / "b/late.py", second / "c/only.py")
    return {
        package.name: package
        for package in docstrings.find_packages(lib, [site, tmp_path / "missing", second])
    }


def test_folders_with_modules_are_packages(found: dict[str, SourcePackage]) -> None:
    assert list(found) == ["b", "c", "python"]


def test_files_are_found_at_any_depth_but_neither_tests_nor_copies_of_others(
    found: dict[str, SourcePackage], tmp_path: Path
) -> None:
    names = {name: [file.name for file in package.files] for name, package in found.items()}
    assert names == {"b": ["a.py", "x.py"], "c": ["only.py"], "python": ["os.py", "parser.py"]}


def test_this_python_has_its_standard_library_and_what_steelyard_needs() -> None:
    found = {package.name: package for package in docstrings.find_installed()}
    assert {"python", "numpy", "sklearn", "numba"} <= set(found)
    assert "numpy" not in {name for name in found if not found[name].files}
    assert not any("site-packages" in file.parts for file in found["python"].files)


def test_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site-packages"
    put(site / "bomb/__init__.py")
    (site / "bomb/__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(site))
    assert "bomb" in {package.name for package in docstrings.find_installed()}
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
    known = [SourcePackage("sklearn", ()), SourcePackage("python", ()), SourcePackage("_pytest", ())]
    pattern = docstrings.match_names(known, {"sklearn": ["scikit-learn"]})
    assert pattern.sub("", text) == left


def test_no_packages_no_names() -> None:
    assert docstrings.match_names([], {}).sub("", "any text") == "any text"


def test_names_of_distributions_are_looked_up() -> None:
    assert docstrings.match_names([SourcePackage("sklearn", ())]).sub("", "scikit-learn") == ""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> list[SourcePackage]:
    return installation.make_packages(tmp_path_factory.mktemp("installation"))


def test_half_is_from_the_package(installed: list[SourcePackage]) -> None:
    collected = docstrings.collect(installed, "sklearn", seed=1)
    count = Counter(package for package, _ in collected.train + collected.held_out)
    assert collected.package == "sklearn"
    assert count["sklearn"] == count["other"] + count["python"] == installation.FILES * installation.IN_A_FILE
    assert collected.packages == 3


def test_the_same_for_the_same_seed_only(installed: list[SourcePackage]) -> None:
    first, again, other = (docstrings.collect(installed, "sklearn", seed) for seed in (1, 1, 2))
    assert first == again
    assert first.train != other.train


def test_no_docstring_comes_twice(installed: list[SourcePackage]) -> None:
    collected = docstrings.collect([*installed, SourcePackage("twin", installed[0].files)], "sklearn", seed=1)
    texts = [text for _, text in collected.train + collected.held_out]
    assert len(texts) == len(set(texts))


def test_what_is_held_out_is_from_other_files(installed: list[SourcePackage]) -> None:
    collected = docstrings.collect(installed, "sklearn", seed=1)
    (ours,) = (package for package in installed if package.name == "sklearn")
    train, held_out = ({text for _, text in rows} for rows in (collected.train, collected.held_out))
    for file in ours.files:
        source = " ".join(file.read_text(encoding="utf-8").split())
        assert not (any(text in source for text in train) and any(text in source for text in held_out))


def test_a_file_gives_no_more_than_its_part(tmp_path: Path, installed: list[SourcePackage]) -> None:
    lines = (f"def f{k}(): '''one two three number{k}'''" for k in range(1000))
    (tmp_path / "a.py").write_text("\n".join(lines))
    packed = SourcePackage("packed", (tmp_path / "a.py",))
    with pytest.raises(InputError, match=f"too few docstrings to learn from: {docstrings.MAX_PER_FILE} of"):
        docstrings.collect([packed, *installed], "packed", seed=1)


def test_there_is_a_most(installed: list[SourcePackage]) -> None:
    collected = docstrings.collect(installed, "sklearn", seed=1, most=60)
    assert len(collected.train) + len(collected.held_out) == 120


def test_another_package_can_be_asked_for(installed: list[SourcePackage]) -> None:
    assert docstrings.collect(installed, "other", seed=1).package == "other"
    with pytest.raises(InputError, match="there is no package 'nothing'; there are other, python, sklearn"):
        docstrings.collect(installed, "nothing", seed=1)


def test_the_standard_library_alone_has_nothing_to_compare_with(installed: list[SourcePackage]) -> None:
    alone = [package for package in installed if package.name == docstrings.STANDARD_LIBRARY]
    with pytest.raises(InputError, match="too few docstrings to learn from: 0 of python"):
        docstrings.collect(alone, "python", seed=1)
