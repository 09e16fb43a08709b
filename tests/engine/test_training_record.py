"""What a model file remembers of its training, however the files are cut into blocks."""

from pathlib import Path
from typing import Any

import pytest

from steelyard import model_file
from steelyard.engine.training_record import TrainingRecord
from tests.cli.running import blocks_of, file, rows, run, trained

__all__ = ["file"]


def record(path: Path) -> dict[str, Any]:
    found = model_file.load(path).training
    assert found is not None
    return found


def test_the_curve(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = trained(file, "-o", tmp_path / "m")
    found = record(tmp_path / "m")
    assert (found["rows"], found["learned"]) == (200, result["learned"])
    assert [row for row, *_ in found["curve"]] == [1, 2, 4, 8, 16, 32, 64, 128, 200]
    assert found["curve"][-1][1:] == pytest.approx(
        [result["progressive_loss"], result["progressive_error"]], rel=1e-4
    )
    table = [line.split() for line in run("train", file).stdout.splitlines()]
    shown = {int(line[2]): float(line[0]) for line in table if len(line) == 7 and line[2].isdigit()}
    assert {row: loss for row, loss, _ in found["curve"][:-1]} == pytest.approx(shown, rel=1e-4)
    blocks_of(300, monkeypatch)
    run("train", file, "-o", tmp_path / "other")
    assert record(tmp_path / "other") == found


def test_numbers_and_several_passes(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("".join(f"{k % 7 / 7} |a w{k % 7}\n" for k in range(32)) + "|a w1\n")
    run("train", path, "--loss", "squared", "--passes", 2, "-o", tmp_path / "m")
    found = record(tmp_path / "m")
    assert (found["rows"], found["learned"]) == (33, 32)
    assert [row for row, *_ in found["curve"]] == [1, 2, 4, 8, 16, 32, 33]
    assert {error for *_, error in found["curve"]} == {None}
    path.write_text("|a w1\n" * 3 + "1 |a w1\n0 |a w2\n")  # labels come late
    run("train", path, "--loss", "squared", "-o", tmp_path / "m")
    assert [row for row, *_ in record(tmp_path / "m")["curve"]] == [4, 5]


def test_files_are_known_again(tmp_path: Path, file: Path) -> None:
    more, copy = tmp_path / "more.vw", tmp_path / "copy.vw"
    more.write_text(rows(50, 9))
    copy.write_bytes(file.read_bytes())
    run("train", file, "-o", tmp_path / "m")
    run("train", more, "--resume", tmp_path / "m", "-o", tmp_path / "m")
    found = TrainingRecord.of(record(tmp_path / "m"))
    assert [entry[0] for entry in found.files] == [file.name, "more.vw"]
    assert found.rows == 250
    assert [row for row, *_ in record(tmp_path / "m")["curve"]][-3:] == [64, 128, 250]
    assert found.has(str(copy))
    assert found.has(str(more))
    assert not found.has("-")
    copy.write_text(rows(3))
    assert not found.has(str(copy))
    run("train", "-", "--format", "vw", "-o", tmp_path / "m", stdin=rows(10).encode())
    assert record(tmp_path / "m")["files"] == [["standard input"]]
    assert not TrainingRecord.of(None).has(str(file))
