"""`inspect`, `explain` and `losses`: a model read by people."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses, model_file
from tests.cli.running import blocks_of, refused, run, stored


def test_inspect(file: Path, model: Path) -> None:
    found = json.loads(run("inspect", model, "--top", 3, "--json").stdout)
    kept = stored(model)
    weights = kept.model.coefficients()
    assert kept.content.names is not None
    names = kept.content.names.by_index()
    order = np.argsort(weights)
    assert found["top_positive"] == [
        {"feature": names[int(k)], "weight": float(weights[k])} for k in order[::-1][:3]
    ]
    assert found["top_negative"] == [
        {"feature": names[int(k)], "weight": float(weights[k])} for k in order[:3]
    ]
    assert found["settings"]["loss"] == "logistic"
    assert found["settings"]["learning_rate"] == 0.5
    assert found["reading"] == kept.spec.as_json()
    assert (found["names"], found["nonzero"], found["features"]) == (24, 24, 4096)
    assert found["finished"]
    assert found["progressive_loss"] == kept.model.progressive_loss


def test_inspect_in_words(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    run("train", file, "--loss", "quantile", "--tau", 0.25, "-o", path, "--interactions", "a*b", "--bits", 9)
    said = run("inspect", path).stdout
    assert said.startswith("loss                   quantile, tau 0.25\n")
    assert "reads                  vw, a*b\n" in said
    assert "largest coefficients\n" in said
    assert "a^w" in said
    assert "columns" not in said
    bare = run("inspect", path, "--top", 0).stdout
    assert "coefficients\n" not in bare
    run("train", file, "--no-names", "-o", path, "--bits", 9)
    assert "  #" in run("inspect", path).stdout


def test_inspect_the_columns_of_a_table(tmp_path: Path) -> None:
    table, path = tmp_path / "rows.csv", tmp_path / "m"
    table.write_text("when,age,mood\n2024-01-01,7,good\n2024-01-02,8,bad\n")
    run("train", table, "-o", path)
    said = run("inspect", path).stdout
    assert "labels                 bad is -1, good is 1\n" in said
    assert (
        "\ncolumns\n  when  ignore    a date or time\n  age   number    numbers\n"
        "  mood  label     the last column, of two values: bad, good\n" in said
    )
    found = json.loads(run("inspect", path, "--json").stdout)
    assert found["labels"] == {"bad": -1.0, "good": 1.0}
    assert found["columns"][1] == {"name": "age", "role": "number", "why": "numbers"}
    run("convert", table, "-o", tmp_path / "rows.arrow")
    run("train", tmp_path / "rows.arrow", "-o", path)
    converted = json.loads(run("inspect", path, "--json").stdout)
    assert (converted["columns"], converted["labels"]) == (found["columns"], found["labels"])


def test_inspect_a_model_without_a_loss_yet(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    run("train", file, "-o", path)
    content = model_file.load(path)
    content.engine.models[0].state[:] = 0.0
    model_file.save(path, content)
    assert json.loads(run("inspect", path, "--json").stdout)["progressive_loss"] is None
    assert "average loss           unknown\n" in run("inspect", path).stdout


@pytest.mark.parametrize("size", [1, 1 << 21])
def test_contributions_add_up(
    file: Path, model: Path, tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(size, monkeypatch)
    path = tmp_path / "based.vw"
    path.write_text("1 1 0.75 'tag|a w1 w2:2 |b 1\n" + file.read_text())
    said = run("explain", model, path, "--rows", 20, "--top", 50, "--json").stdout
    found = [json.loads(line) for line in said.splitlines()]
    predictions = [float(line.split()[0]) for line in run("predict", model, path).stdout.splitlines()]
    assert [row["row"] for row in found] == list(range(1, 21))
    for row, prediction in zip(found, predictions[:20], strict=True):
        parts = [part["contribution"] for part in row["contributions"]]
        assert sum(parts) + row["bias"] + row["offset"] == pytest.approx(prediction, abs=1e-6)
        assert parts == sorted(parts, key=lambda part: -abs(part))
        for part in row["contributions"]:
            assert part["contribution"] == pytest.approx(part["weight"] * part["value"])
    assert (found[0]["tag"], found[0]["label"], found[0]["offset"]) == ("tag", 1.0, 0.75)
    assert {part["feature"] for part in found[0]["contributions"]} == {"a^w1", "a^w2", "b^1"}


def test_explain_in_words(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 1 2.5 'anna|a w1 w2:2\n|a w1\n|\n|a none\n")
    said = run("explain", model, path, "--top", 1).stdout.splitlines()
    assert re.match(r"row 1 anna: (-1|1) with probability 0\.\d{4}, prediction ", said[0])
    assert ", label 1 (bias " in said[0]
    assert said[0].endswith(", offset 2.500000)")
    assert " × " in said[1]
    assert said[2].startswith("row 2: ")
    assert "label" not in said[2]
    assert "offset" not in said[2]
    assert said[4].startswith("row 3: ")
    assert said[-1].endswith("#" + said[-1].rpartition("#")[2])


def test_losses() -> None:
    said = run("losses").stdout
    for name in losses.names():
        assert name in said
    assert "--tau" in said
    assert "or a number" in said  # that is neither 0 nor 1, but between them


def test_explain_some_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,label,x\n" + "".join(f"t{k},{'ab'[k % 2]},{k % 2}\n" for k in range(40)))
    run("train", path, "-o", tmp_path / "m", "--tag", "id", "--bits", "8")

    def explained(*options: Any) -> list[dict[str, Any]]:
        said = run("explain", tmp_path / "m", path, "--json", *options).stdout
        return [json.loads(line) for line in said.splitlines()]

    assert [row["row"] for row in explained("--row", 17, "--row", 3)] == [3, 17]
    (row,) = explained("--tag", "t20")
    assert (row["row"], row["label"], row["predicted"]) == (21, "a", "a")
    assert 0.5 < row["probability"] < 1.0
    assert [row["row"] for row in explained("--tag", "t3", "--row", 2)] == [2, 4]
    assert len(explained()) == 10
    assert refused("explain", tmp_path / "m", path, "--row", 41) == "there is no row 41; there are 40 rows"
    assert "there is no tag 'z'" in refused("explain", tmp_path / "m", path, "--tag", "z")
