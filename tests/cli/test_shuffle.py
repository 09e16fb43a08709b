"""`train --shuffle`, and the same in Python: files sorted by label."""

import csv
from pathlib import Path
from typing import Any

import pytest

from steelyard import OnlineClassifier, RowOrderWarning, model_file
from steelyard.engine import shuffled_rows
from tests.cli.running import blocks_of, refused, run, trained

SMALL = ("--bits", "8", "--label", "topic")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Sorted by label, with a header, and cells with commas, quotes and line breaks."""
    path = tmp_path / "sorted.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["topic", "text"])
        for topic, words in (("food", "salt"), ("music", "song"), ("sport", "goal")):
            writer.writerows([topic, f'a "{words}",\nand number {k % 5}'] for k in range(100))
    return path


def bytes_of(path: Path, *options: Any) -> bytes:
    model = path.with_name("m")
    run("train", path, *SMALL, *options, "-o", model)
    return model.read_bytes()


def test_sorted_rows_are_spoken_of_and_shuffled(table: Path) -> None:
    plain, shuffled = trained(table, *SMALL), trained(table, *SMALL, "--shuffle")
    (remark,) = plain["remarks"]
    assert remark.endswith("unless this is their order in time, --shuffle learns them in random order")
    assert shuffled["remarks"] == []
    assert shuffled["examples"] == plain["examples"] == 300
    assert shuffled["progressive_error"] > plain["progressive_error"], "the true figure"


def test_the_order_is_that_of_the_seed(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = bytes_of(table, "--shuffle", "--passes", 2)
    assert bytes_of(table, "--shuffle", "--passes", 2, "--seed", 1) != reference
    blocks_of(500, monkeypatch)
    monkeypatch.setattr(shuffled_rows, "MEMORY", 0)
    assert bytes_of(table, "--shuffle", "--passes", 2, "--threads", 2) == reference


def test_other_formats_and_standard_input(table: Path) -> None:
    arrow = table.with_suffix(".arrow")
    run("convert", table, "-o", arrow, *SMALL)
    files = trained(table, *SMALL, "--shuffle")
    for found in (
        trained(arrow, "--shuffle"),
        trained("-", *SMALL, "--format", "csv", "--labels", "food,music,sport", "--shuffle",
                stdin=table.read_bytes()),
    ):  # fmt: skip
        assert found["progressive_loss"] == files["progressive_loss"]


def test_a_checkpoint_knows_the_order(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffled_rows, "PIECE", 64)
    options = ("--shuffle", "--seed", 3, "--passes", 2, "--holdout", 10)
    whole = bytes_of(table, *options)
    save, saved = model_file.save, []

    def stop(path: Path, *rest: Any) -> None:
        save(path, *rest)
        saved.append(path)
        if len(saved) == 3:
            raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", stop)
        with pytest.raises(RuntimeError):
            bytes_of(table, *options, "--checkpoint-every", 50)
    checkpoint = table.with_name("m.checkpoint")
    said = refused("train", table, "--resume", checkpoint, "--shuffle", "--seed", 4)
    assert said.endswith("is the checkpoint of a run with --seed 3, and cannot continue with --seed 4")
    run("train", table, "--resume", checkpoint, "-o", table.with_name("m"))
    assert table.with_name("m").read_bytes() == whole


def test_a_seed_alone(table: Path) -> None:
    assert refused("train", table, *SMALL, "--seed", 3) == (
        "--seed is for --shuffle, or for a share in --holdout: give one of these, or leave out --seed"
    )


def test_in_python(table: Path) -> None:
    model = table.with_name("m")
    run("train", table, *SMALL, "--shuffle", "--seed", 5, "-o", model)
    expected = OnlineClassifier.load(model)
    fitted = OnlineClassifier(random_state=5).fit_files(table, bits=8, label="topic", shuffle=True)
    assert fitted.coef_.tolist() == expected.coef_.tolist()
    with pytest.warns(RowOrderWarning, match=r"fit_files\(…, shuffle=True\) learns them in random order"):
        OnlineClassifier().fit_files(table, bits=8, label="topic")
    fitted.partial_fit_files(table, shuffle=True)
    assert fitted.n_iter_ == 1
