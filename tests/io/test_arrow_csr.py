"""Ready-made rows from files of any making: taken as they are if they are sound, refused in words if not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.io.errors import InputError
from tests.io.chunks import FEATURES, rows_of, stream

pa = pytest.importorskip("pyarrow")

GOOD: dict[str, Any] = {
    "label": [1.0, -1.0, None],
    "importance": [1.0, 2.0, 3.0],
    "base": [0.0, 0.5, 1.0],
    "tag": ["a", None, "c"],
    "indices": [[1, 2], [], [63]],
    "values": [[0.5, -0.5], [], [1.0]],
}


def table(**changes: Any) -> Any:
    """The good table with other columns; None leaves one out."""
    columns = {name: column for name, column in (GOOD | changes).items() if column is not None}
    return pa.table(columns)


def write(path: Path, rows: Any) -> Path:
    with pa.ipc.new_file(path, rows.schema) as writer:
        writer.write_table(rows)
    return path


def read(tmp_path: Path, rows: Any, **options: Any) -> Any:
    return stream(write(tmp_path / "rows.arrow", rows), **options)


def test_a_foreign_table(tmp_path: Path) -> None:
    first, second, third = rows_of(read(tmp_path, table()))
    assert (first.label, first.importance, first.base, first.tag) == (1.0, 1.0, 0.0, b"a")
    assert (first.indices, first.values) == ((1, 2), (0.5, -0.5))
    assert (second.importance, second.tag, second.indices) == (2.0, b"", ())
    assert np.isnan(third.label)
    assert third.importance == 0.0


LISTS: list[Callable[[list[list[float]]], Any]] = [
    lambda rows: pa.array(rows, pa.large_list(pa.float32())),
    lambda rows: pa.array(rows, pa.list_(pa.int16())),
    lambda rows: pa.array(rows, pa.large_list(pa.uint64())),
    lambda rows: pa.array(rows, pa.list_(pa.int64(), 2)),
]


@pytest.mark.parametrize("lists", LISTS)
def test_lists_of_other_kinds(lists: Callable[[list[list[float]]], Any], tmp_path: Path) -> None:
    rows = table(indices=lists([[1, 2], [3, 4], [5, 6]]), values=lists([[7, 8], [9, 10], [11, 12]]))
    found = rows_of(read(tmp_path, rows))
    assert [row.indices for row in found] == [(1, 2), (3, 4), (5, 6)]
    assert [row.values for row in found] == [(7.0, 8.0), (9.0, 10.0), (11.0, 12.0)]


def test_label_weight_and_base_may_be_other_numbers_or_absent(tmp_path: Path) -> None:
    rows = table(label=[True, False, None], importance=[1, 2, 3], base=None, tag=[1, 2, None])
    first, second, third = rows_of(read(tmp_path, rows))
    assert [first.label, second.label] == [1.0, 0.0]
    assert [second.importance, third.importance] == [2.0, 0.0]
    assert [first.tag, third.tag] == [b"1", b""]
    (parsed,) = read(tmp_path, table(label=None, importance=None, base=None, tag=None))
    assert np.isnan(parsed.examples.labels).all()
    assert parsed.examples.sample_weight.tolist() == [0.0, 0.0, 0.0]
    assert (parsed.examples.offsets, parsed.tags) == (None, None)


def test_a_row_that_names_a_feature_twice_is_merged(tmp_path: Path) -> None:
    twice = table(indices=[[5, 2, 5], [7, 6], [9, 9]], values=[[1.0, 2.0, 0.5], [3.0, 4.0], [1.0, -1.0]])
    found = rows_of(read(tmp_path, twice))
    assert [row.indices for row in found] == [(5, 2), (7, 6), (9,)]
    assert [row.values for row in found] == [(1.5, 2.0), (3.0, 4.0), (0.0,)]
    (parsed,) = read(tmp_path, table(indices=[[5, 2], [], [63]]))
    assert not parsed.examples.indices.flags.writeable  # as it stands in the file


def test_columns_that_are_not_used_are_mentioned(tmp_path: Path) -> None:
    chunks = read(tmp_path, table(colour=["red"] * 3))
    list(chunks)
    assert chunks.remarks == {"the column 'colour' is not used"}


def nan(*values: float | None) -> Any:
    return pa.array(values, pa.float64(), from_pandas=False)


BAD = [
    ({"label": nan(1, np.nan, 1)}, 2, "the label nan is not finite; null means that there is none"),
    ({"label": nan(1, 1, -np.inf)}, 3, "the label -inf is not finite"),
    ({"importance": [1.0, -2.0, 1.0]}, 2, "the weight -2.0: weights must be finite, 0 or more"),
    ({"importance": [1.0, 1.0, None]}, 3, "the weight null or NaN: weights"),
    ({"importance": [1.0, 1.0, -1.0]}, 3, "the weight -1.0"),  # though the row has no label
    ({"importance": nan(1, 1, np.inf)}, 3, "the weight inf"),
    ({"base": [None, 1.0, 1.0]}, 1, "the offset null or NaN must be finite"),
    ({"indices": [[1, 2], [], None]}, 3, "the features are null; a row without features has empty lists"),
    ({"values": [None, [], [1.0]]}, 1, "the features are null"),
    ({"indices": [[1, 2], [1], [63]]}, 2, "there are 1 indices but 0 values"),
    ({"indices": [[1, 64], [], [3]]}, 1, "the feature index 64 is out of range .*: there are 64 features"),
    ({"indices": [[1, 2], [], [-1]]}, 3, "the feature index -1 is out of range"),
    ({"indices": [[1, 2], [], [None]]}, 3, r"the feature index -1 is out of range \(or null\)"),
    ({"values": [[1.0, 2.0], [], [None]]}, 3, "the feature value null or NaN must be finite"),
    ({"values": [[1.0, float("inf")], [], [2.0]]}, 1, "the feature value inf must be finite"),
    ({"values": [[1.0, 1e160], [], [2.0]]}, 1, r"the feature value 1e\+160 must be .* its square overflows"),
]


@pytest.mark.parametrize(("changes", "row", "message"), BAD)
def test_a_bad_row_is_named_and_can_be_skipped(
    changes: dict[str, Any], row: int, message: str, tmp_path: Path
) -> None:
    rows = table(**changes)
    with pytest.raises(InputError, match=rf"rows\.arrow, row {row}: {message}"):
        list(read(tmp_path, rows))
    twice = pa.concat_tables([table(), rows])
    with pytest.raises(InputError, match=rf"rows\.arrow, row {row + 3}: {message}"):
        list(read(tmp_path, twice, block_size=1))
    for size in (1, 1 << 20):
        skipping = read(tmp_path, twice, skip=True, block_size=size)
        found = rows_of(skipping)
        assert repr(found[:3]) == repr(rows_of(read(tmp_path, table())))
        good = rows.take([k for k in range(3) if k + 1 != row])
        assert repr(found[3:]) == repr(rows_of(read(tmp_path, good)))
        assert skipping.skipped == 1
        assert str(skipping.problems[0]).startswith(f"{tmp_path}/rows.arrow, row {row + 3}: ")


def test_many_bad_rows_are_counted_and_some_described(tmp_path: Path) -> None:
    rows = pa.table({"indices": [[99]] * 500, "values": [[1.0]] * 500})
    chunks = read(tmp_path, rows, skip=True)
    assert rows_of(chunks) == []
    assert chunks.skipped == 500
    assert len(chunks.problems) == 20


REFUSED = [
    (table(values=None), "there is a column 'indices' but no 'values'"),
    (
        pa.table([[1.0], [2.0], [[1]], [[1.0]]], ["label", "label", "indices", "values"]),
        "two columns 'label'",
    ),
    (table(label=["a", "b", "c"]), "Failed to parse string: '.' as a scalar of type double"),
    (table(values=["a", "b", "c"]), "lists are needed, not string"),
    (table(indices=pa.array([[2**63], [], []], pa.list_(pa.uint64()))), "Integer value .* not in range"),
    (table(tag=[[1], [2], [3]]), "list"),
]


@pytest.mark.parametrize(("rows", "message"), REFUSED)
def test_a_table_that_cannot_be_read_at_all(rows: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"rows\.arrow: .*{message}"):
        list(read(tmp_path, rows))


def test_slices_of_a_batch(tmp_path: Path) -> None:
    """The offsets of a slice do not begin with 0, nor do those of a column that was a slice when written."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 5, 200)
    lists = [rng.permutation(FEATURES)[:size].tolist() for size in lengths]
    rows = pa.table({"tag": [f"t{k}" for k in range(200)], "indices": lists, "values": lists})
    for size in (1, 100, 1000, 1 << 20):
        found = rows_of(read(tmp_path, rows, block_size=size))
        assert [row.tag for row in found] == [f"t{k}".encode() for k in range(200)]
        assert [list(row.indices) for row in found] == lists
        assert [list(row.values) for row in found] == lists
    assert [list(row.indices) for row in rows_of(read(tmp_path, rows.slice(50, 20)))] == lists[50:70]
