"""`train --holdout 0.2`, and the rows it kept aside found again by `evaluate` and `report`."""

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.engine import file_checkpoints
from steelyard.engine.holdout import Share, marker
from steelyard.engine.run_options import RunOptions
from tests.cli.running import PLAIN, blocks_of, file, refused, rows, run, trained

__all__ = ["file"]

SHARE = ("--holdout", 0.3, "--loss", "logistic", *PLAIN)


def evaluated(*arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("evaluate", *arguments, "--json").stdout)
    return found


def test_rows_kept_aside_are_not_learned_and_found_again(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, lines = tmp_path / "m", file.read_text().splitlines(keepends=True)
    result = trained(file, *SHARE, "--seed", 3, "-o", model)
    held = marker(Share(0.3, 3))(len(lines))
    for name, wanted in (("learned.vw", ~held), ("aside.vw", held)):
        chosen = [line for line, keep in zip(lines, wanted.tolist(), strict=True) if keep]
        (tmp_path / name).write_text("".join(chosen))
    alone = tmp_path / "alone"
    trained(tmp_path / "learned.vw", "--loss", "logistic", *PLAIN, "-o", alone)
    expected = evaluated(alone, tmp_path / "aside.vw")
    for found in (result["held_out"], evaluated(model, file, "--held-out")):
        for figure in ("examples", "unlabelled", "weight", "confusion", "auc", "classes"):
            assert found[figure] == expected[figure]
        assert found["log_loss"] == pytest.approx(expected["log_loss"])
        assert not any("has learned" in note for note in found["notes"])
    blocks_of(300, monkeypatch)
    assert evaluated(model, file, "--held-out")["confusion"] == expected["confusion"]
    page = tmp_path / "page.html"
    run("report", model, file, "--held-out", "-o", page)
    assert "rows.vw (held-out rows)" in page.read_text()


def test_the_summary_ends_with_the_evaluation(tmp_path: Path, file: Path) -> None:
    shown = run("train", file, *SHARE, "-o", tmp_path / "m").stdout
    summary, _, evaluation = shown.partition("on the rows held out, none of which was learned:")
    assert "held-out" not in summary
    assert "base-rate accuracy" in evaluation
    assert "actual \\ predicted" in evaluation
    notes = trained(file, *SHARE, "--calibrate", "--early-stopping", "--passes", 2)["held_out"]["notes"]
    assert notes == [
        "these rows also decided when to stop and the probabilities, which flatters the model a little"
    ]


def test_what_may_be_wrong_comes_last(tmp_path: Path) -> None:
    """Not between the summary and the evaluation, where nobody looks."""
    table = tmp_path / "sorted.csv"
    table.write_text("label,a\n" + "x,1\n" * 200 + "bad\n" + "y,2\n" * 200)
    lines = run("train", table, "--bits", 8, "--holdout", 0.3, "--on-error", "skip").stdout.splitlines()
    assert lines[-1].startswith("note: the label changes 1 time from row to row, where shuffled rows")
    assert lines[-3].startswith("skipped 1 line that could not be read")
    assert lines[-4] == ""
    assert "actual \\ predicted" in "\n".join(lines[:-4])


def test_what_cannot_be_evaluated(tmp_path: Path, file: Path) -> None:
    piped = trained("-", "--format", "vw", *SHARE, stdin=file.read_bytes())
    assert piped["held_out"] is None
    assert piped["held_out_loss"] is not None
    (tmp_path / "few.vw").write_text("1 |a b\n-1 |a c\n")
    few = trained(tmp_path / "few.vw", *SHARE, "--holdout", 0.01)
    assert few["held_out"] is None
    assert any("too few rows" in remark for remark in few["remarks"])


def test_files_that_were_not_held_out(tmp_path: Path, file: Path) -> None:
    model, more = tmp_path / "m", tmp_path / "more.vw"
    more.write_text(rows(40, 5))
    trained(file, "--loss", "logistic", *PLAIN, "-o", model)
    assert "no rows were held out" in refused("evaluate", model, file, "--held-out")
    trained(file, *SHARE, "-o", model, "--force")
    assert "other files than" in refused("report", model, more, "--held-out", "-o", tmp_path / "page.html")
    trained(more, "--resume", model, "-o", model, "--holdout", 4)
    assert evaluated(model, more, "--held-out")["examples"] == 10
    assert evaluated(model, file, "--held-out")["examples"] > 0
    trained(file, "--resume", model, "-o", model)  # all of it is learned now
    assert "held out at first, but a later run learned them" in refused("evaluate", model, file, "--held-out")


def test_words_that_are_no_rows(file: Path) -> None:
    assert "neither 2 or more" in run("train", file, "--holdout", "1", code=2).stderr
    assert "neither 2 or more" in run("sweep", file, "--holdout", "much", code=2).stderr
    assert "--seed is for" in refused("train", file, "--holdout", 5, "--seed", 1)


def test_a_checkpoint_keeps_the_share(tmp_path: Path, file: Path) -> None:
    stored = {"paths": [str(file)], "options": {"passes": 1, "holdout": [0.3, 2], "shuffle": None}}
    found = file_checkpoints.options_of(stored, "m", [str(file)], RunOptions(), [])
    assert found.holdout == Share(0.3, 2)
    with pytest.raises(ValueError, match=r"with holdout=0.3 \(seed 2\), and cannot continue with holdout=5"):
        file_checkpoints.options_of(stored, "m", [str(file)], RunOptions(holdout=5), ["holdout"])


def test_rows_of_counts_are_held_out_whole(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    lines = [f"{place},{shown},{shown // 3}" for shown in range(3, 23) for place in ("top", "side")]
    table.write_text("place,shown,clicked\n" + "\n".join(lines) + "\n")
    options = ("--count", "shown", "--positives", "clicked", *SHARE)
    found = trained(table, *options, "-o", tmp_path / "m")["held_out"]
    held = marker(Share(0.3))(40)
    assert found["examples"] == held.sum()
    assert found["weight"] == sum(
        int(line.split(",")[1]) for line, out in zip(lines, held, strict=True) if out
    )
    assert evaluated(tmp_path / "m", table, "--held-out") == found
