"""Texts, rows by name and frames, predicted by estimators that have learned files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from steelyard import OnlineClassifier, OnlineRegressor
from steelyard.estimators import named_rows
from tests.cli.running import run

KINDS = {
    "good": "a clear proof of the theorem",
    "bad": "cheap pills, buy now",
    "dull": 'he said "well", \\ é 漢',
}
TEXTS = [f"{text} {k % 7}" for k in range(30) for text in KINDS.values()]
LABELS = [*KINDS] * 30
ROWS = [
    {"text": text, "size": k % 5 - 0.1 if k % 11 else None, "shop": "ab"[k % 2], "base": k / 7}
    for k, text in enumerate(TEXTS)
]
COLUMNS: dict[str, Any] = {"text": "text", "number": "size", "category": "shop", "offset": "base"}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.tsv"
    path.write_text(
        "label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in zip(LABELS, TEXTS, strict=True))
    )
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.jsonl"
    lines = [json.dumps({"label": label} | row) for label, row in zip(LABELS, ROWS, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("labels", [None, "*,good"], ids=["three", "two"])
def test_texts_are_predicted_as_the_file_with_them(labels: str | None, texts: Path, tmp_path: Path) -> None:
    run("train", texts, "--bits", 12, "-o", tmp_path / "m", *([] if labels is None else ["--labels", labels]))
    model = OnlineClassifier.load(tmp_path / "m")
    np.testing.assert_array_equal(model.predict(TEXTS), model.predict_files(texts))
    np.testing.assert_array_equal(model.predict_proba(TEXTS), model.predict_proba_files(texts))
    for same in (tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, object), pd.Series(TEXTS), pl.Series(TEXTS),
                 [{"text": text} for text in TEXTS], pd.DataFrame({"text": TEXTS})):  # fmt: skip
        np.testing.assert_array_equal(model.decision_function(same), model.decision_function(TEXTS))
    assert model.score(TEXTS, model.predict(TEXTS)) == 1.0
    assert len(model.predict([])) == 0


def test_chunks_do_not_matter(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = OnlineClassifier().fit_files(texts, bits=12)
    whole = model.decision_function(TEXTS)
    monkeypatch.setattr(named_rows, "_TOGETHER", 7)
    np.testing.assert_array_equal(model.decision_function(TEXTS), whole)
    with pytest.raises(ValueError, match="row 50 is 3, neither a text nor a dict by the names of columns"):
        model.predict([*TEXTS[:50], 3])


def test_rows_and_frames_with_several_columns(table: Path) -> None:
    model = OnlineClassifier().fit_files(table, bits=12, **COLUMNS)
    wanted = model._file_predictions(table, None, "stop", 1)
    frame = pd.DataFrame(ROWS)
    strange: list[Any] = [
        {"text": np.str_(row["text"]), "size": None if row["size"] is None else np.float64(row["size"]),
         "shop": row["shop"], "base": np.float64(row["base"]), "other": object(), 5: 6}
        for row in ROWS
    ]  # fmt: skip
    for same in (ROWS, strange, frame, frame[["shop", "base", "size", "text"]], pl.DataFrame(ROWS)):
        np.testing.assert_array_equal(model.decision_function(same), wanted)
    assert len(model.predict(frame[:0])) == 0
    assert np.any(model.decision_function(frame.drop(columns="base")) != wanted), "the offset counts"


def test_numbers_and_converted_files(table: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("y,a,b\n" + "".join(f"{k % 7 / 3},{k % 7},{k % 3}\n" for k in range(70)))
    regressor = OnlineRegressor().fit_files(numbers, label="y", bits=8)
    rows = [{"a": np.int64(k % 7), "b": np.float32(k % 3)} for k in range(70)]
    np.testing.assert_array_equal(regressor.predict(rows), regressor.predict_files(numbers))
    run("convert", numbers, "--label", "y", "--bits", 8, "-o", tmp_path / "numbers.arrow")
    converted = OnlineRegressor().fit_files(tmp_path / "numbers.arrow")
    np.testing.assert_array_equal(converted.predict(rows), regressor.predict_files(numbers))


def test_what_is_wrong_is_said(table: Path, texts: Path, tmp_path: Path) -> None:
    one, several = (
        OnlineClassifier().fit_files(texts, bits=10),
        OnlineClassifier().fit_files(table, bits=10, **COLUMNS),
    )
    for single in ("a text", {"text": "a text"}):
        with pytest.raises(ValueError, match=r"rows come in a list, a single one too: \[row\]"):
            one.predict(single)
    with pytest.raises(ValueError, match="row 0 is a text, and the model takes the columns text, size, shop"):
        several.predict(["a text"])
    with pytest.raises(ValueError, match="row 1 has none of the columns of the model: text"):
        one.predict([{"text": "a"}, {"txt": "b"}])
    with pytest.raises(ValueError, match="row 1: column size: 'many' is not a number"):
        several.predict([{"size": 1}, {"size": "many"}])
    with pytest.raises(ValueError, match=r"the frame: there is no column 'text'; did you mean 'txt'\? "):
        one.predict(pd.DataFrame({"txt": TEXTS}))
    vw = tmp_path / "rows.vw"
    vw.write_text("1 |f a\n-1 |f b\n" * 20)
    with pytest.raises(ValueError, match="has learned vw, not a table with named columns: use predict_files"):
        OnlineClassifier().fit_files(vw, bits=8).predict(["|f a"])


def test_matrices_are_matrices(texts: Path) -> None:
    model = OnlineClassifier().fit_files(texts, bits=4)
    zeros = np.zeros((3, 16))
    for same in (sparse.csr_matrix(zeros), zeros.tolist(), np.zeros((3, 16), np.float32)):
        np.testing.assert_array_equal(model.decision_function(same), model.decision_function(zeros))
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict([1.0, 2.0])
    with pytest.raises(ValueError, match="Expected 2D array, got scalar array"):
        model.predict(3)
    for call in (OnlineClassifier().fit(np.eye(2), [0, 1]).predict, lambda X: OnlineClassifier().fit(X, [0])):
        with pytest.raises(
            ValueError, match="X holds texts, and these are rows of numbers: a pipeline makes"
        ):
            call(["a text"])


def test_the_text_of_files_may_have_another_name(texts: Path, tmp_path: Path) -> None:
    model = OnlineClassifier().fit_files(texts, bits=12)
    other = tmp_path / "other.tsv"
    other.write_text(texts.read_text().replace("label\ttext", "label\tcontent"))
    np.testing.assert_array_equal(model.predict_files(other, text="content"), model.predict_files(texts))
    np.testing.assert_array_equal(
        model.predict_proba_files(other, text="content"), model.predict_proba_files(texts)
    )
    with pytest.raises(ValueError, match="text='label': "):
        OnlineClassifier().fit_files(texts, bits=8, category="text").predict_files(other, text="label")
    numbers = tmp_path / "numbers.tsv"
    numbers.write_text("y\ttext\n" + "".join(f"{k % 7}\tword{k % 7} and more\n" for k in range(70)))
    regressor = OnlineRegressor().fit_files(numbers, label="y", text="text", bits=8)
    renamed = tmp_path / "renamed.tsv"
    renamed.write_text(numbers.read_text().replace("y\ttext", "y\tbody"))
    np.testing.assert_array_equal(
        regressor.predict_files(renamed, text="body"), regressor.predict_files(numbers)
    )
