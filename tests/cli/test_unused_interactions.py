"""Interactions that come to nothing are spoken of."""

from pathlib import Path

import pytest

from tests.cli.running import refused, run, trained


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text("1 |user a |item b\n-1 |user c |item d\n")
    return path


def test_a_namespace_that_no_row_has(rows: Path, tmp_path: Path) -> None:
    crossed = ("--interactions", "user*itme", "--interactions", "user*item")
    said = refused("train", rows, *crossed, "-o", tmp_path / "model")
    assert said == (
        "--interactions: no row has a namespace 'itme', so nothing would be crossed; did you mean 'item'? "
        "(there are user, item)"
    )
    assert not (tmp_path / "model").exists()
    assert refused("convert", rows, "-o", tmp_path / "rows.arrow", *crossed) == said
    assert trained(rows, "--interactions", "user*item")["remarks"] == []


def test_the_beginning_of_a_name_is_not_enough(rows: Path) -> None:
    assert "no row has a namespace 'use'" in refused("train", rows, "--interactions", "use*item")


def test_letters_that_no_row_has(rows: Path) -> None:
    for option, value in [("-q", "ux"), ("--ignore", "x"), ("--keep", "xu"), ("--ngram", "x2")]:
        assert refused("train", rows, option, value) == (
            f"{option}: no row has a namespace that begins with 'x' (there are user, item); namespaces are "
            "named by their first letters here, one letter for each"
        )
    assert "begins with ' '" in refused("train", rows, "-q", "u ")


def test_of_many_namespaces_some_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 |" + " |".join(f"n{k} a" for k in range(12)) + "\n-1 | bare\n")
    said = refused("train", path, "--interactions", "n0*x")
    assert said.endswith("(there are n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, …)")
    path.write_text("1 | bare\n-1 | bone\n")
    assert refused("train", path, "--interactions", "n0*x").endswith("nothing would be crossed")
    assert trained(path, "-q", "  ")["remarks"] == []


def test_of_a_pipe_it_is_known_at_the_end(rows: Path) -> None:
    text = rows.read_bytes()
    (remark,) = trained("-", "--interactions", "user*itme", stdin=text)["remarks"]
    assert remark == (
        "--interactions: no row has a namespace 'itme', so nothing was crossed with it; "
        "did you mean 'item'? (there are user, item)"
    )
    (remark,) = trained("-", "-q", "ux", "--no-names", stdin=text)["remarks"]
    assert remark.endswith("no row has a namespace 'x', so nothing was crossed with it")
    assert trained("-", "-q", "u:", stdin=text)["remarks"] == []
    some = b"1 |" + b" |".join(b"n%d a" % k for k in range(12)) + b"\n-1 | bare\n"
    (remark,) = trained("-", "--interactions", "n0*x", stdin=some)["remarks"]
    assert remark.endswith("(there are n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, …)")


def test_while_converting_a_pipe(rows: Path, tmp_path: Path) -> None:
    arguments = ("convert", "-", "-o", tmp_path / "rows.arrow", "--interactions", "user*x")
    assert "no row has a namespace 'x'" in run(*arguments, stdin=rows.read_bytes()).stderr


def test_one_that_comes_late_or_with_others(rows: Path, tmp_path: Path) -> None:
    late = tmp_path / "late.vw"
    late.write_text("1 |user a |hour b\n")
    assert trained(rows, late, "--interactions", "user*hour")["remarks"] == []


def test_columns_are_known_beforehand(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("price,y\n1,1\n2,0\n")
    said = refused("train", path, "--interactions", "price*pryce")
    assert said == "--interactions: there is no column 'pryce'; did you mean 'price'? (there are price, y)"


@pytest.mark.parametrize("option", [("--interactions", "user*item"), ("--words", "2"), ("--label", "y")])
def test_ready_made_rows_are_as_they_are(rows: Path, tmp_path: Path, option: tuple[str, str]) -> None:
    run("convert", rows, "-o", tmp_path / "rows.arrow")
    said = refused("train", tmp_path / "rows.arrow", *option)
    assert said.startswith(option[0])
    assert said.endswith("the files are converted ones, whose features steelyard convert has made")
