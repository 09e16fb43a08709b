"""Docstrings out of files of any kind, and what is left of them."""

import re
from pathlib import Path

import pytest

from steelyard.cli.demonstration import docstrings

NOTHING = re.compile("(?!)")


def of(path: Path, source: bytes) -> list[str]:
    path.write_bytes(source)
    return docstrings.of_file(path)


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
    assert of(file, source) == ["Module.", "Class.", "Method.", "Inner."]


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
    assert of(file, source) == []


def test_a_folder_or_missing_file_has_none(tmp_path: Path) -> None:
    assert docstrings.of_file(tmp_path) == docstrings.of_file(tmp_path / "missing.py") == []


def test_other_encodings_are_read_as_they_say(file: Path) -> None:
    assert of(file, b"# -*- coding: latin-1 -*-\n'''caf\xe9'''\n") == ["café"]
    assert of(file, b"\xef\xbb\xbf'''caf\xc3\xa9'''\n") == ["café"]


def test_bad_escapes_of_others_are_no_warning_of_ours(file: Path) -> None:
    assert of(file, rb"'''\d is a digit'''" + b"\n") == [r"\d is a digit"]


def test_a_docstring_becomes_a_line_without_examples_and_names() -> None:
    docstring = """Return the\tfirst value.

    .. versionadded:: 1.2
    >>> bad.first()
    ... 1
    Of  BAD things.
    """
    cleaned = docstrings.cleaned(docstring, re.compile("(?i)bad"))
    assert cleaned == "Return the first value. Of things."


def test_what_cannot_be_printed_is_a_blank() -> None:
    assert docstrings.cleaned("one\x07two \ud800 three\u2028four", NOTHING) == "one two three four"


def test_only_the_beginning_counts() -> None:
    cleaned = docstrings.cleaned("word " * 1000, NOTHING)
    assert cleaned is not None
    assert len(cleaned.split()) == docstrings.MOST_WORDS


@pytest.mark.parametrize("text", ["", "Too short.", "--- --- --- --- ---", "1 2 3 4 five"])
def test_hardly_anything_is_nothing(text: str) -> None:
    assert docstrings.cleaned(text, NOTHING) is None
