"""Tables in memory → chunks of examples: pandas, polars and Arrow tables, NumPy and SciPy matrices.

The roles of ordinary columns are given or inferred, as in a file; lists `indices` and `values` are
sparse rows. Tables come through the Arrow C interface, so neither pandas nor polars is imported here;
pyarrow is: pip install "steelyard[arrow]".

>>> import pyarrow
>>> from steelyard import Learner, Settings
>>> from steelyard.io import memory
>>> from steelyard.io.columns import ColumnOverrides
>>> table = pyarrow.table({"price": [1.5, 2.0, None], "colour": ["red", "blue", "red"], "sold": [1, -1, 1]})
>>> print(memory.infer_columns(table).describe())
price   number    numbers
colour  category  2 different, for example 'red'
sold    label     the last column, of two values: -1, 1
>>> learner = Learner(Settings(), features=1 << 18)
>>> for chunk in memory.chunks(table, told=ColumnOverrides(label="sold")):
...     predictions = learner.learn(chunk)
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.examples import Examples, examples
from steelyard.features import Names
from steelyard.io import arrow_columns, arrow_csr
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.arrow_columns import ArrowColumns
from steelyard.io.arrow_csr import ArrowBlock
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule
from steelyard.text.tokens import TextOptions

ROWS = 1 << 15  # in a chunk, at most
BITS = 18


def infer_columns(table: Any, told: ColumnOverrides | None = None) -> Columns:
    """The roles of the columns of a table: inferred from its first rows, unless given."""
    head, _ = arrow_columns.take_head(_batches(table))
    if head is None:
        raise ValueError("the table has no rows: nothing to infer the columns from")
    return arrow_columns.infer_columns(head, told)


def chunks(
    thing: Any,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    columns: Columns | None = None,
    told: ColumnOverrides | None = None,
    label_rule: LabelRule | None = None,
    text_options: TextOptions | None = None,
    interactions: Sequence[str] = (),
    bits: int = BITS,
    names: Names | None = None,
    dtype: str = "float32",
) -> Iterator[Examples]:
    """The rows in order, for a learner of 2^bits features.

    For a table, `columns` are the roles; without it they are inferred, unless `told`. `names` are filled
    on the way. A matrix, with its labels and sample_weight beside it, is one chunk, and its width is the
    learner's; so it is for sparse rows that say for how many features they are made.
    """
    if not hasattr(thing, "__arrow_c_stream__"):
        yield examples(thing, labels, sample_weight)
        return
    if labels is not None or sample_weight is not None:
        raise ValueError(
            "labels and sample_weight of a table are columns: say which, as told=ColumnOverrides(label='y')"
        )
    head, batches = arrow_columns.take_head(_batches(thing))
    ordinary = None
    if head is not None and not arrow_csr.is_sparse(head.schema):
        known = columns or arrow_columns.infer_columns(head, told)
        text = text_options or TextOptions()
        spec = InputSpec("arrow", bits, tuple(interactions), label_rule, dtype, known, text=text)
        ordinary = ArrowColumns(spec, names)
    seen = 0
    for rows in batches:
        found = arrow_csr.read_header(rows.schema.metadata, "table")
        batch = ArrowBlock("table", np.zeros(0, np.uint8), 0, rows=rows, header=found)
        width = 1 << bits if found is None else found.features
        parsed = arrow_csr.parse(batch, width) if ordinary is None else ordinary.parse(batch)
        for note in parsed.notes:
            raise ValueError(f"row {seen + note.line}: {note.what}")
        seen += rows.num_rows
        parsed.collect_names(names)
        yield parsed.examples


def _batches(table: Any) -> Iterator[Any]:
    """Record batches of limited size. (pandas passes its index as one more column.)"""
    reader = import_pyarrow().RecordBatchReader.from_stream(table)
    index = [name for name in reader.schema.names if name.startswith("__index_level_")]
    for batch in reader:
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS).drop_columns(index)
