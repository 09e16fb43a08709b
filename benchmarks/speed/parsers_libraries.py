"""CSV, TSV and JSON lines as other libraries read them: pyarrow, polars and orjson, as Arrow columns.

Each library is told all that is known beforehand: the types of the columns, which of them are used, the
separator, the quoting and the words for a missing number. What it makes goes through `ArrowColumns`, the
path of every typed table, on as many threads as ours. So the parser is all that differs.
"""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.csv
import pyarrow.json

from steelyard.io import columns as roles
from steelyard.io.arrow_columns import ArrowColumns
from steelyard.io.arrow_csr import NO_TEXT, ArrowBlock
from steelyard.io.blocks import ParsedBlock, usual_size
from steelyard.io.csv_reader import read_head
from steelyard.io.input_spec import InputSpec
from steelyard.io.read_ahead import map_ahead
from steelyard.io.sources import open_source
from steelyard.io.stream import Stream

ROWS = 1 << 13  # in a batch of a table that is read as a whole
_POLARS_MISSING = "NA"  # polars takes one word for a column
_TEXTS = (roles.TAG, roles.TEXT, roles.CATEGORY)

Batches = Callable[[Path, InputSpec, int], Iterator[Any]]
"""A file, how it is read, and the number of threads → record batches, or parts to make them of."""
Convert = Callable[[Any, InputSpec], Any]
"""A part, on one of the threads → a record batch."""


@dataclass(frozen=True)
class Library:
    """A way to read a format with a library."""

    name: str
    format: str
    batches: Batches
    convert: Convert = lambda rows, _: rows

    def columns(self, path: Path, spec: InputSpec, threads: int) -> Iterator[Any]:
        """The rows of the file as record batches."""
        return map_ahead(lambda part: self.convert(part, spec), self.batches(path, spec, threads), threads)

    def examples(self, path: Path, spec: InputSpec, threads: int) -> Iterator[ParsedBlock]:
        """The rows of the file as examples, rows with errors left out."""
        ordinary = ArrowColumns(spec)

        def parse(part: Any) -> ParsedBlock:
            return ordinary.parse(ArrowBlock(str(path), NO_TEXT, 0, rows=self.convert(part, spec)))

        return map_ahead(parse, self.batches(path, spec, threads), threads)


def ours(path: Path, spec: InputSpec, threads: int) -> Iterator[ParsedBlock]:
    """The same with our reader."""
    return iter(Stream([path], spec.reader(), threads=threads, skip=True))


def _arrow_types(spec: InputSpec, written: bool) -> dict[str, Any]:
    """The type of each column that is used; with `written`, numbers are left as text."""
    assert spec.columns is not None
    text, number = pyarrow.string(), pyarrow.string() if written else pyarrow.float64()
    return {
        column.name: text
        if column.role in _TEXTS or (column.role == roles.LABEL and spec.label_rule is not None)
        else number
        for column in spec.columns.columns
        if column.role != roles.IGNORE
    }


def _spellings(words: tuple[str, ...]) -> list[str]:
    """The words in all letter cases: our words for a missing number may be in any."""
    found = {""}
    for word in words:
        found |= {"".join(letters) for letters in product(*((c.lower(), c.upper()) for c in word))}
    return sorted(found)


def _names(path: Path, spec: InputSpec) -> list[str]:
    assert spec.dialect is not None
    with open_source(str(path)) as source:
        return list(read_head(source, spec.dialect).names)


def _csv_options(names: list[str], spec: InputSpec, threads: int, written: bool, skip: int) -> dict[str, Any]:
    assert spec.columns is not None
    assert spec.dialect is not None
    types, dialect, csv = _arrow_types(spec, written), spec.dialect, pyarrow.csv
    missing = [] if written else _spellings(spec.columns.missing)
    return {
        "read_options": csv.ReadOptions(
            use_threads=threads > 1, block_size=usual_size(threads), column_names=names, skip_rows=skip
        ),
        "parse_options": csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char='"' if dialect.quoting else False,
            newlines_in_values=dialect.quoting,
            invalid_row_handler=lambda _: "skip",
        ),
        "convert_options": csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=missing, strings_can_be_null=False
        ),
    }


def _csv_streamed(path: Path, spec: InputSpec, threads: int, written: bool = False) -> Iterator[Any]:
    assert spec.dialect is not None
    header = int(spec.dialect.header)
    yield from pyarrow.csv.open_csv(path, **_csv_options(_names(path, spec), spec, threads, written, header))


def _csv_written(path: Path, spec: InputSpec, threads: int) -> Iterator[Any]:
    return _csv_streamed(path, spec, threads, written=True)


def _our_blocks(path: Path, spec: InputSpec, threads: int) -> Iterator[Any]:
    with open_source(str(path)) as source:
        for block in spec.reader().blocks(source, usual_size(threads)):
            if getattr(block, "start", 0) < len(block.text):  # not the header alone
                yield block


def _csv_block(block: Any, spec: InputSpec) -> Any:
    """A block, its numbers as text if one of them is bad: then the other rows can be used."""
    assert spec.columns is not None
    names = list(spec.columns.names)

    def table(written: bool) -> Any:
        text = pyarrow.BufferReader(pyarrow.py_buffer(block.text[block.start :]))
        return pyarrow.csv.read_csv(text, **_csv_options(names, spec, 1, written, 0))

    try:
        return _one_batch(table(written=False))
    except pyarrow.ArrowInvalid:
        return _one_batch(table(written=True))


def _json_block(block: Any, spec: InputSpec) -> Any:
    return _one_batch(
        pyarrow.json.read_json(pyarrow.BufferReader(pyarrow.py_buffer(block.text)), **_json_options(spec, 1))
    )


def _one_batch(table: Any) -> Any:
    return table.combine_chunks().to_batches()[0]


def _csv_polars(path: Path, spec: InputSpec, _threads: int) -> Iterator[Any]:
    """With numbers as text where polars cannot read them: it takes no blanks around a number."""
    import polars

    typed, written = _polars_frame(path, spec, False), _polars_frame(path, spec, True)
    try:
        typed.head(ROWS).collect()  # so that little time is lost where it cannot
        table = typed.collect()
    except polars.exceptions.ComputeError:
        table = written.collect()
    yield from table.to_arrow().to_batches(max_chunksize=ROWS)


def _polars_frame(path: Path, spec: InputSpec, written: bool) -> Any:
    import polars

    assert spec.dialect is not None
    kinds = {pyarrow.string(): polars.String, pyarrow.float64(): polars.Float64}
    types = {name: kinds[kind] for name, kind in _arrow_types(spec, written).items()}
    frame = polars.scan_csv(
        path,
        separator=spec.dialect.separator,
        quote_char='"' if spec.dialect.quoting else None,
        has_header=False,
        skip_rows=int(spec.dialect.header),
        schema={name: types.get(name, polars.String) for name in _names(path, spec)},
        null_values={name: _POLARS_MISSING for name, kind in types.items() if kind == polars.Float64},
    )
    return frame.select(list(types))


def _json_options(spec: InputSpec, threads: int) -> dict[str, Any]:
    schema = pyarrow.schema(list(_arrow_types(spec, False).items()))
    return {
        "read_options": pyarrow.json.ReadOptions(use_threads=threads > 1, block_size=usual_size(threads)),
        "parse_options": pyarrow.json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="ignore"
        ),
    }


def _json_streamed(path: Path, spec: InputSpec, threads: int) -> Iterator[Any]:
    yield from pyarrow.json.open_json(path, **_json_options(spec, threads))


def _json_polars(path: Path, spec: InputSpec, _threads: int) -> Iterator[Any]:
    import polars

    kinds = {pyarrow.string(): polars.String, pyarrow.float64(): polars.Float64}
    schema = {name: kinds[kind] for name, kind in _arrow_types(spec, False).items()}
    yield from polars.read_ndjson(path, schema=schema).to_arrow().to_batches(max_chunksize=ROWS)


def _json_lines(block: Any, spec: InputSpec) -> Any:
    """Line by line into lists, one for each column; lines that are not JSON objects are left out."""
    import orjson

    types = _arrow_types(spec, False)
    objects = []
    for line in block.text.tobytes().splitlines():
        try:
            objects.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
    rows = [found for found in objects if isinstance(found, dict)]
    arrays = [pyarrow.array([row.get(name) for row in rows], kind) for name, kind in types.items()]
    return pyarrow.RecordBatch.from_arrays(arrays, names=list(types))


STREAMED, BLOCKS, WRITTEN = "pyarrow, in batches", "pyarrow, by our blocks", "pyarrow, numbers as text"
POLARS, ORJSON = "polars", "orjson"
_ALL = (
    Library(STREAMED, "csv", _csv_streamed),
    Library(BLOCKS, "csv", _our_blocks, _csv_block),
    Library(WRITTEN, "csv", _csv_written),
    Library(POLARS, "csv", _csv_polars),
    Library(STREAMED, "jsonl", _json_streamed),
    Library(BLOCKS, "jsonl", _our_blocks, _json_block),
    Library(POLARS, "jsonl", _json_polars),
    Library(ORJSON, "jsonl", _our_blocks, _json_lines),
)


def libraries(spec: InputSpec) -> list[Library]:
    """The ways to read a file with what is installed."""
    return [
        each
        for each in _ALL
        if (each.format == "jsonl") == (spec.format == "jsonl")
        and importlib.util.find_spec(each.name.split(",")[0]) is not None
    ]
