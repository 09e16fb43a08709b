"""Scores for tables in memory, and the step of a datatrove pipeline (here with a stand-in for its base)."""

import importlib
import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from steelyard.filtering import filter_files
from steelyard.filtering.table_scorer import TableScorer
from steelyard.io.errors import InputError
from tests.cli.running import run
from tests.filtering.corpus import read, rows, write_jsonl


@pytest.fixture
def table() -> Any:
    return pa.Table.from_pylist(rows(40, 8))


def expected(models: Path, folder: Path) -> list[dict[str, Any]]:
    write_jsonl(folder / "x.jsonl", rows(40, 8))
    filter_files([models / "language.model", models / "quality.model"], folder / "x.jsonl", folder / "out")
    return read(folder / "out/x.jsonl")


def test_every_kind_of_table(models: Path, tmp_path: Path, table: Any) -> None:
    scorer = pickle.loads(pickle.dumps(TableScorer([models / "language.model", models / "quality.model"])))
    wanted = expected(models, tmp_path)
    frame = scorer(table.to_pandas())
    found = [
        scorer(table).to_pylist(),
        scorer(table.to_batches()[0]).to_pylist(),
        [row for batch in scorer.batches(table.to_batches(max_chunksize=7)) for row in batch.to_pylist()],
        frame.to_dict("records"),
    ]
    for each in found:
        assert [row["language_label"] for row in each] == [row["language_label"] for row in wanted]
        assert [row["quality_p"] for row in each] == pytest.approx(
            [row["quality_p"] for row in wanted], abs=1e-8
        )
    assert list(frame.columns)[-1] == "quality_p"
    assert pickle.loads(pickle.dumps(scorer))(table) == scorer(table)


def test_some_rows_are_kept(models: Path, table: Any) -> None:
    scorer = TableScorer(models / "quality.model", keep="p >= 0.5")
    kept = scorer(table)
    assert 0 < kept.num_rows < 40
    assert min(kept["quality_p"].to_pylist()) >= 0.5
    frame = scorer(pd.DataFrame(table.to_pylist(), index=range(100, 140)))
    assert frame["id"].tolist() == kept["id"].to_pylist()
    assert frame.index[0] == 100 + frame["id"].iloc[0]
    assert scorer(table.slice(0, 0)).schema.names[-1] == "quality_p"


def test_what_is_refused(models: Path, tmp_path: Path, table: Any) -> None:
    scorer = TableScorer(models / "quality.model")
    with pytest.raises(InputError, match="has a column 'quality_p' already"):
        scorer(scorer(table))
    with pytest.raises(InputError, match="text"):
        scorer(table.drop_columns(["text"]))
    data = tmp_path / "x.csv"
    data.write_text("label,size,weight\n" + "".join(f"{k % 2},{k % 5},1\n" for k in range(30)))
    run("train", data, "--bits", "12", "-o", tmp_path / "size.model")
    with pytest.raises(InputError, match="the table, row 2: "):
        TableScorer(tmp_path / "size.model")(pa.table({"size": [1.0, 1e300]}))
    with pytest.raises(InputError, match="takes other features than one text"):
        TableScorer(tmp_path / "size.model").text_columns()
    vw = tmp_path / "x.vw"
    vw.write_text("".join(f"{1 if k % 2 else -1} |a w{k % 2}\n" for k in range(20)))
    run("train", vw, "--bits", "12", "-o", tmp_path / "vw.model")
    with pytest.raises(InputError, match="was trained on vw, not on a table"):
        TableScorer(tmp_path / "vw.model")(table)


class _BaseFilter:
    """What `SteelyardFilter` uses of datatrove's class."""

    def __init__(self, exclusion_writer: Any = None, batch_size: int = 1) -> None:
        self.exclusion_writer, self.batch_size = exclusion_writer, batch_size


def test_a_step_of_datatrove(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("datatrove", "datatrove.pipeline", "datatrove.pipeline.filters"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    base = ModuleType("datatrove.pipeline.filters.base_filter")
    base.BaseFilter = _BaseFilter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.delitem(sys.modules, "steelyard.filtering.datatrove", raising=False)
    module = importlib.import_module("steelyard.filtering.datatrove")
    documents = [SimpleNamespace(text=each["text"], metadata={}) for each in rows(40, 8)]
    step = module.SteelyardFilter([models / "language.model", models / "quality.model"], "quality_p >= 0.5")
    judged = step.filter_batch(documents)
    wanted = expected(models, tmp_path)
    assert [each is True for each in judged] == [row["quality_p"] >= 0.5 for row in wanted]
    assert judged.count((False, "score")) == 40 - judged.count(True)
    assert documents[0].metadata["language_label"] == wanted[0]["language_label"]
    assert step.filter(documents[0]) == judged[0]
    monkeypatch.delitem(sys.modules, "steelyard.filtering.datatrove")


@pytest.mark.bindings
@pytest.mark.filterwarnings("default")  # those of the engines are theirs
def test_a_real_pipeline_of_datatrove(models: Path) -> None:
    data = pytest.importorskip("datatrove.data")
    from steelyard.filtering.datatrove import SteelyardFilter

    documents = [data.Document(text=each["text"], id=str(each["id"])) for each in rows(40, 8)]
    step = SteelyardFilter(models / "quality.model", "p >= 0.5", batch_size=16)
    kept = list(step.run(iter(documents)))
    assert 0 < len(kept) < 40
    assert min(document.metadata["quality_p"] for document in kept) >= 0.5


@pytest.mark.bindings
@pytest.mark.filterwarnings("default")  # those of the engines are theirs
def test_a_real_dataset_of_ray(models: Path, table: Any) -> None:
    ray = pytest.importorskip("ray")
    found = ray.data.from_arrow(table).map_batches(
        TableScorer(models / "quality.model"), batch_format="pyarrow"
    )
    assert len([row["quality_p"] for row in found.take_all()]) == 40


@pytest.mark.bindings
@pytest.mark.filterwarnings("default")  # those of the engines are theirs
def test_a_real_frame_of_dask(models: Path, table: Any) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(table.to_pandas(), npartitions=3)
    found = frame.map_partitions(TableScorer(models / "quality.model")).compute()
    assert len(found["quality_p"]) == 40
