"""Interactions that come to nothing are spoken of."""

from pathlib import Path

import pytest

from tests.cli.running import refused, run, trained


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text("1 |user a |item b\n-1 |user c |item d\n")
    return path


def test_a_namespace_that_no_row_has(rows: Path) -> None:
    crossed = ("--interactions", "user*itme", "--interactions", "user*item")
    (remark,) = trained(rows, *crossed)["remarks"]
    assert remark == (
        "--interactions: no row has a namespace 'itme', so nothing was crossed with it; "
        "did you mean 'item'? (there are user, item)"
    )
    assert f"note: {remark}\n" in run("train", rows, *crossed).stdout
    assert trained(rows, "--interactions", "user*item")["remarks"] == []


def test_without_names_there_is_less_to_say(rows: Path) -> None:
    (remark,) = trained(rows, "--interactions", "user*x", "--no-names")["remarks"]
    assert remark.endswith("no row has a namespace 'x', so nothing was crossed with it")


def test_of_many_namespaces_some_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 |" + " |".join(f"n{k} a" for k in range(12)) + "\n-1 | bare\n")
    (remark,) = trained(path, "--interactions", "n0*x")["remarks"]
    assert remark.endswith("(there are n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, …)")


def test_one_that_comes_late_or_with_others(rows: Path, tmp_path: Path) -> None:
    late = tmp_path / "late.vw"
    late.write_text("1 |user a |hour b\n")
    assert trained(rows, late, "--interactions", "user*hour")["remarks"] == []


def test_while_converting(rows: Path, tmp_path: Path) -> None:
    said = run("convert", rows, "-o", tmp_path / "rows.arrow", "--interactions", "user*x").stderr
    assert "no row has a namespace 'x'" in said


def test_columns_are_known_beforehand(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("price,y\n1,1\n2,0\n")
    said = refused("train", path, "--interactions", "price*pryce")
    assert said == "interactions: there is no column 'pryce'; did you mean 'price'? (there are price, y)"


@pytest.mark.parametrize("option", [("--interactions", "user*item"), ("--words", "2"), ("--label", "y")])
def test_ready_made_rows_are_as_they_are(rows: Path, tmp_path: Path, option: tuple[str, str]) -> None:
    run("convert", rows, "-o", tmp_path / "rows.arrow")
    said = refused("train", tmp_path / "rows.arrow", *option)
    assert said.startswith(option[0])
    assert said.endswith("the files are converted ones, whose features steelyard convert has made")
