"""Options of Vowpal Wabbit for namespaces: what is learned with them, and those that make no sense."""

from pathlib import Path

import pytest

from tests.cli.running import PLAIN, refused, run, stored, trained

TEXT = """\
1 |abc a b c |b x:2
-1 |b y |abc c b |axe q
1 |b
-1 | bare
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(TEXT)
    return path


def names(file: Path, *options: str) -> set[str]:
    model = file.with_suffix(".model")
    run("train", file, *PLAIN, *options, "-o", model)
    found = stored(model).content.names
    assert found is not None
    return set(found.by_index().values())


ALL = {"abc^a", "abc^b", "abc^c", "b^x", "b^y", "axe^q", "bare"}


def test_names(rows: Path) -> None:
    assert names(rows) == ALL
    pairs = {"abc^a^b", "abc^b^c", "abc^c^b", "abc^b^q"}  # namespaces of one letter are one sequence
    assert names(rows, "--ngram", "2") == names(rows, "--ngram", "a2") == ALL | pairs
    assert names(rows, "--ngram", "b2") == ALL
    skipping = {"abc^a^c", "abc^c^q"}
    assert names(rows, "--ngram", "2", "--skips", "1") == ALL | pairs | skipping
    assert names(rows, "--ngram", "3") == ALL | pairs | {"abc^a^b^c", "abc^c^b^q"}
    assert names(rows, "--ignore", "a") == {"b^x", "b^y", "bare"}
    assert names(rows, "--ignore", "ab", "--ignore", " ") == set()
    assert names(rows, "--keep", "b") == {"b^x", "b^y"}
    crossed = {"b^x*abc^a", "b^x*abc^b", "b^x*abc^c", "b^y*abc^c", "b^y*abc^b", "b^y*axe^q"}
    assert names(rows, "-q", "ba") == ALL | crossed
    assert (
        names(rows, "-q", "b*abc") == names(rows, "--interactions", "b*abc") == ALL | crossed - {"b^y*axe^q"}
    )


def test_later_files_are_read_alike(rows: Path, tmp_path: Path) -> None:
    options = ("--ngram", "2", "-q", "ab", "--ignore", " ")
    model, arrow = tmp_path / "m.model", tmp_path / "rows.arrow"
    run("train", rows, *PLAIN, *options, "-o", model)
    before = run("predict", model, rows).stdout
    run("train", rows, "--resume", model, "-o", tmp_path / "more.model")
    run("convert", rows, "-o", arrow, "--bits", "12", "--dtype", "float64", *options)
    assert run("predict", model, arrow).stdout == before
    assert "abc^a^b" in run("explain", model, rows).stdout
    run("convert", rows, "-o", arrow, "--bits", "12", "--dtype", "float64", "--force")
    assert "was converted with other options of namespaces" in refused("predict", model, arrow)
    assert "--resume keeps the settings" in refused("train", rows, "--resume", model, "--ngram", "3")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--ngram", "two"),
            "--ngram two: give a number, or the first letter of a namespace and a number: a2",
        ),
        (("--ngram", "9"), "--ngram 9 with --skips 0: 1 to 8 words"),
        (("--ngram", "2", "--skips", "30"), "--ngram 2 with --skips 30"),
        (("--skips", "1"), "--skips leaves out words of n-grams: give --ngram 2, say"),
        (("-q", "a"), "-q a: give the first letters of 2 to 8 namespaces, as in -q ab"),
        (
            ("-q", "ab", "--interactions", "abc*b"),
            "-q ab names namespaces by first letters, abc*b by whole names",
        ),
    ],
)
def test_what_makes_no_sense(rows: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refused("train", rows, *options)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--ngram 2", "use --words for columns of text"),
        ("--keep a", "leave out columns with --ignore"),
        ("-q ab", "write -q 'one*other' with the names of columns"),
    ],
)  # fmt: skip
def test_tables_have_columns(tmp_path: Path, option: str, said: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("price,colour,y\n1,red,1\n2,blue,0\n")
    name, _ = option.split()
    wanted = f"{name} is for the namespaces of vw, and the files are csv; {said}"
    assert refused("train", path, *option.split()) == wanted
    assert trained(path, "-q", "price*colour")["remarks"] == []


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--ngram 2", "--ngram is for the namespaces of vw, and the files are svmlight"),
        ("--ignore a", "--ignore is for tables and vw, and the files are svmlight"),
        ("-q ab", "-q needs namespaces or columns, and the files are svmlight"),
    ],
)
def test_svmlight_has_neither(tmp_path: Path, option: str, said: str) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 2:1\n")
    assert refused("train", path, *option.split()) == said
