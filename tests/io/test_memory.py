"""Tables and matrices in memory: pandas, polars and Arrow give the same rows."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from steelyard import Learner, Settings
from steelyard.examples import Examples, examples
from steelyard.features import Names
from steelyard.io import memory
from steelyard.io.arrow_csr import Header
from steelyard.io.columns import ColumnOverrides
from steelyard.io.errors import InputError
from steelyard.io.labels import two_classes
from tests.support import tables

pa = pytest.importorskip("pyarrow")

COLUMNS: dict[str, Any] = {
    "price": [1.5, 2.0, None, -3.25],
    "colour": ["red", "blue", None, "17"],
    "note": ["a b a", "", "b", None],
    "sold": [1.0, -1.0, 1.0, None],
}
ROLES = tables.columns(price="number", colour="category", note="text", sold="label")


def plain(chunks: Any) -> list[Any]:
    return [
        [array.tolist() for array in (part.indptr, part.indices, part.values, part.sample_weight)]
        for part in chunks
    ]


@pytest.mark.parametrize(
    "table",
    [
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[7, 8, 9, 11]).astype({"colour": "category"}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("colour").cast(pl.Categorical)),
    ],
    ids=["arrow", "batch", "pandas", "pandas-index", "polars", "polars-categories"],
)
def test_all_kinds_of_tables_give_the_same(table: Any) -> None:
    names = Names(1 << 18)
    (found,) = memory.chunks(table, columns=ROLES, names=names)
    twins = [tables.row({name: column[k] for name, column in COLUMNS.items()}, ROLES) for k in range(4)]
    expected = [tables.folded(row.features, 18) for row in twins]
    for k in range(4):
        part = slice(found.indptr[k], found.indptr[k + 1])
        assert dict(zip(found.indices[part].tolist(), found.values[part], strict=True)) == expected[k]
    assert str(found.labels.tolist()) == "[1.0, -1.0, 1.0, nan]"
    assert found.sample_weight.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert set(names.by_index().values()) == {
        "price", "price=missing", "colour=red", "colour=blue", "colour=missing", "colour=17", "note^a",
        "note^b",
    }  # fmt: skip


def test_guessed_columns() -> None:
    table = pa.table(COLUMNS)
    guessed = memory.infer_columns(table, ColumnOverrides(text=("note",)))
    assert guessed.names == ROLES.names
    assert [column.role for column in guessed.columns] == ["number", "category", "text", "label"]
    assert plain(memory.chunks(table, told=ColumnOverrides(text=("note",)))) == plain(
        memory.chunks(table, columns=ROLES)
    )
    with pytest.raises(ValueError, match="the table has no rows: nothing to infer the columns from"):
        memory.infer_columns(table.slice(0, 0))
    assert list(memory.chunks(table.slice(0, 0))) == []


def test_guesses_do_not_depend_on_the_batches() -> None:
    """A first batch of two rows would make a category of what is text."""
    texts = [f"many different words {k}" for k in range(50)]
    whole = pa.table({"words": texts, "y": [0, 1] * 25})
    cut = pa.concat_tables([whole.slice(0, 2), whole.slice(2)])
    assert memory.infer_columns(cut) == memory.infer_columns(whole)
    rows = [list(memory.chunks(table)) for table in (whole, cut)]
    assert [len(parts) for parts in rows] == [1, 2]
    joined = [np.concatenate([part.indices for part in parts]).tolist() for parts in rows]
    assert joined[0] == joined[1]


def test_long_tables_come_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ROWS", 3)
    table = pa.table({"x": np.arange(10.0), "y": [0.0, 1.0] * 5})
    parts = list(memory.chunks(table, columns=tables.columns(x="number", y="label")))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    assert np.concatenate([part.values for part in parts]).tolist() == list(range(10))


def test_ready_made_rows() -> None:
    table = pl.DataFrame({"label": [1.0, None], "indices": [[3, 1], [0]], "values": [[0.5, 2.0], [1.0]]})
    (found,) = memory.chunks(table, bits=2)
    assert (found.features, found.indices.tolist(), found.values.tolist()) == (4, [3, 1, 0], [0.5, 2.0, 1.0])
    assert found.sample_weight.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="row 0: the feature index 3 is out of range"):
        list(memory.chunks(table, bits=1))
    (own,) = memory.chunks(table.to_arrow().replace_schema_metadata(Header(7).metadata()))
    assert own.features == 7


def test_what_is_wrong_is_said_with_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ROWS", 2)
    table = pa.table({"y": [1, 1, 1, 2], "x": [1.0, 2.0, 3.0, 4.0], "c": ["red"] * 4})
    columns = tables.columns(y="label", x="number", c="category")
    for kind in (table, pl.from_arrow(table)):
        with pytest.raises(ValueError, match="row 3: the label '2' is neither 0 nor 1"):
            list(memory.chunks(kind, columns=columns, label_rule=two_classes("0", "1")))
    with pytest.raises(ValueError, match="labels and sample_weight of a table are columns"):
        next(memory.chunks(table, [1, 1, 1, 1]))
    with pytest.raises(InputError, match="there is no column 'z'"):
        list(memory.chunks(table, told=ColumnOverrides(label="z")))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_matrices(make: Any) -> None:
    matrix = make(np.eye(3))
    (found,) = memory.chunks(matrix, [1.0, -1.0, 1.0], [1.0, 2.0, 3.0])
    expected = examples(matrix, [1.0, -1.0, 1.0], [1.0, 2.0, 3.0])
    assert isinstance(found, Examples)
    assert plain([found]) == plain([expected])


def test_a_learner_learns_from_a_table() -> None:
    learner = Learner(Settings(), features=1 << 18)
    for _ in range(50):
        for chunk in memory.chunks(pa.table(COLUMNS), columns=ROLES, interactions=("price*colour",)):
            learner.learn(chunk)
    (chunk,) = memory.chunks(pa.table(COLUMNS), columns=ROLES, interactions=("price*colour",))
    assert np.sign(learner.predict(chunk)[:3]).tolist() == [1.0, -1.0, 1.0]


def test_nothing_is_imported_for_it() -> None:
    code = "import sys, steelyard.io.memory; assert not {'pyarrow', 'pandas', 'polars'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
