"""Slips in tables, and what is said where nothing is left to work with."""

from pathlib import Path

import pytest

from tests.cli.running import refused, run, trained


def table(path: Path, slip: str) -> Path:
    rows = [f"{k % 40},{1 + k % 3},{('no', 'yes')[k % 2]}" for k in range(200)]
    path.write_text("age,weight,answer\n" + "\n".join([*rows[:10], slip, *rows[10:]]) + "\n")
    return path


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ("3,-1,no", "line 12: column weight: the weight '-1' is negative"),
        ("3,abc,no", "line 12: column weight: the weight 'abc' is not a number"),
        ("4O,1,no", "line 12: column age: '4O' is not a number"),
    ],
)
def test_a_slip_among_numbers_is_an_error(slip: str, said: str, tmp_path: Path) -> None:
    """The column is still what all its other values say, so that the slip is found."""
    path = table(tmp_path / "rows.csv", slip)
    assert said in refused("train", path)
    assert trained(path, "--on-error", "skip")["skipped"] == 1


def test_the_guess_names_the_slip(tmp_path: Path) -> None:
    said = run("train", table(tmp_path / "rows.csv", "4O,1,no"), "--on-error", "skip").stdout
    assert "number    numbers, but for '4O'" in said


def test_a_name_that_comes_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("x,x,y\n1,2,0\n2,2,1\n")
    assert "2 columns are called 'x'" in refused("train", path)


def test_nothing_is_left(tmp_path: Path) -> None:
    path, other = table(tmp_path / "rows.csv", "1,1,no"), tmp_path / "other.csv"
    trained(path, "-o", tmp_path / "m")
    other.write_text("age,weight,answer\n1,1,nein\n2,1,ja\n")
    said = refused("evaluate", tmp_path / "m", other, "--on-error", "skip")
    assert "no row is left: 2 could not be used; the first is" in said
    assert "line 2: column answer: the label 'nein'" in said
    assert run("explain", tmp_path / "m", other).stdout.count("prediction") == 2
    bad = tmp_path / "bad.vw"
    bad.write_text("x |a b\n")
    assert "no row is left: 1 could not be used" in refused(
        "train", bad, "--on-error", "skip", "--loss", "squared"
    )


def test_a_damaged_way_of_reading(tmp_path: Path) -> None:
    path = table(tmp_path / "rows.csv", "1,1,no")
    trained(path, "-o", tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    at = whole.rindex(b'float32\\"')
    (tmp_path / "m").write_bytes(whole[:at] + b"floaX32" + whole[at + 7 :])
    assert "damaged: how rows are to be read" in refused("predict", tmp_path / "m", path)
